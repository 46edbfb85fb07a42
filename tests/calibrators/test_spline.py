import numpy as np
import pytest
from scipy.special import expit, logit, xlogy

from calibrant import SplineCalibration, Tally, simulate
from calibrant.maps.functions import LogitLinear

GRID = np.linspace(0.0, 1.0, 501)


def divergence(truth, p):
    return float(np.mean(xlogy(truth, truth / p) + xlogy(1.0 - truth, (1.0 - truth) / (1.0 - p))))


def fitted(name, n, **parameters):
    data = simulate.from_truth(name, n, rng=1)
    return SplineCalibration(**parameters).fit(data.scores, data.labels)


@pytest.mark.parametrize("name", simulate.TRUTHS)
def test_recovers_every_smooth_truth_rising_or_not(name):
    new = simulate.from_truth(name, 4000, rng=2)
    p = fitted(name, 30_000).predict(new.scores)
    assert np.abs(p - new.probabilities).mean() < 0.01


@pytest.mark.parametrize(("n", "limit"), [(100, 0.030), (1000, 0.0048), (3000, 0.0022)])
def test_the_bayes_iso_task(n, limit):
    test = simulate.bayes_iso(20_000, rng=999_999)
    found = []
    for seed in range(20):
        data = simulate.bayes_iso(n, rng=seed)
        found.append(
            divergence(test.probabilities, SplineCalibration().fit(data.scores, data.labels).predict(test.scores))
        )
    assert np.mean(found) < 1.05 * limit  # a smaller test set than the benchmark's


def test_few_rows_leave_the_score_nearly_as_it_is():
    p = SplineCalibration().fit([0.2, 0.6, 0.9], [0, 1, 1]).predict(GRID[50:-50])
    assert np.abs(p - GRID[50:-50]).max() < 0.12


def test_the_map_is_within_1e_6_of_the_posterior_mean():
    for seed, n in enumerate((50, 1000, 30_000)):
        data = simulate.bayes_iso(n, rng=seed)
        calibrator = SplineCalibration().fit(data.scores, data.labels)
        at = np.concatenate((np.random.default_rng(seed).random(3000), expit(np.linspace(-35.0, 35.0, 2001))))
        exact = expit(calibrator.posterior_.mean(logit(at)))
        assert isinstance(calibrator.map_.function, LogitLinear)
        assert np.abs(calibrator.predict(at) - exact).max() < 1e-6


@pytest.mark.parametrize("n", [300, 3000, 30_000])
def test_intervals_cover_smooth_truths(n):
    shares = []
    for truth in simulate.TRUTHS.values():
        for seed in range(4):
            data, new = truth.sample(n, rng=seed), truth.sample(500, rng=50 + seed)
            low, high = SplineCalibration().fit(data.scores, data.labels).predict_interval(new.scores)
            shares.append(np.mean((low <= new.probabilities) & (new.probabilities <= high)))
    assert 0.85 <= np.mean(shares) <= 0.96


@pytest.mark.parametrize("monotone", [False, True])
def test_draws_agree_with_the_mean_and_the_interval(monotone):
    calibrator = fitted("D1", 2000, monotone=monotone)
    at = np.array([0.05, 0.3, 0.6, 0.9, 0.99])
    draws = calibrator.sample_maps(at, n_draws=4000)
    assert draws.shape == (4000, 5)
    np.testing.assert_allclose(draws.mean(axis=0), calibrator.predict(at), atol=0.01)
    low, high = calibrator.predict_interval(at, level=0.8)
    np.testing.assert_allclose(np.quantile(draws, [0.1, 0.9], axis=0), [low, high], atol=0.015)
    np.testing.assert_array_equal(draws, calibrator.sample_maps(at, n_draws=4000, random_state=0))
    assert not np.array_equal(draws, calibrator.sample_maps(at, n_draws=4000, random_state=1))


def test_monotone_maps_draws_and_intervals_never_fall():
    calibrator = fitted("wave", 3000, monotone=True)
    assert calibrator.map_.monotone
    curves = [calibrator.predict(GRID), *calibrator.predict_interval(GRID), *calibrator.sample_maps(GRID, 20)]
    assert min(np.diff(curve).min() for curve in curves) >= -1e-15
    assert np.diff(fitted("wave", 3000).predict(GRID)).min() < 0.0


def test_monotone_changes_nothing_where_the_curve_rises():
    plain, rising = fitted("underconfident", 3000), fitted("underconfident", 3000, monotone=True)
    inside = GRID[GRID < 0.96]  # at the end of the data, where a bend may sit, the curve dips by 1e-4
    np.testing.assert_allclose(plain.predict(inside), rising.predict(inside), atol=1e-9)


def test_votes_of_a_forest_are_not_believed_to_be_certain():
    # Half of the scores are exactly 0 or 1, and wrong in one of ten rows.
    rng = np.random.default_rng(0)
    scores = rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], 2000)
    y = rng.random(2000) < 0.1 + 0.8 * scores
    p = SplineCalibration().fit(scores, y).predict([0.0, 0.5, 1.0])
    np.testing.assert_allclose(p, [0.1, 0.5, 0.9], atol=0.04)


def test_scores_of_rare_events_are_believed():
    # Clicks: all scores are under 1e-4 and right.
    rng = np.random.default_rng(0)
    scores = np.exp(rng.uniform(np.log(1e-6), np.log(1e-4), 400))
    tally = Tally(np.sort(scores), 1e6 * np.sort(scores), np.full(400, 1e6))
    p = SplineCalibration().fit_tally(tally).predict([3e-6, 3e-5])
    np.testing.assert_allclose(p, [3e-6, 3e-5], rtol=0.05)


def test_unseen_extreme_scores_keep_a_reserve():
    scores = np.linspace(0.2, 0.8, 50)
    p = SplineCalibration().fit(scores, scores > 0.5).predict([0.0, 1.0])
    assert 1e-7 < p[0] < 0.1
    assert 1e-7 < 1.0 - p[1] < 0.1


@pytest.mark.parametrize("y", [[0] * 30, [1] * 30])
def test_one_class_and_one_score(y):
    p = SplineCalibration().fit(np.full(30, 0.5), y).predict([0.5])[0]
    assert 0.01 < abs(p - (1 - y[0])) < 1.0
    assert (p > 0.5) == bool(y[0])


@pytest.mark.parametrize("width", [1e-2, 4e-3, 1e-3, 5e-4, 2.5e-4, 1e-5, 1e-9])
@pytest.mark.parametrize("n", [2, 4, 10, 1000])
def test_scores_that_are_nearly_equal_are_nearly_one_score(width, n):
    scores = 0.5 + width * np.linspace(-0.5, 0.5, n)
    predicted = SplineCalibration().fit(scores, np.arange(n) % 2).predict(scores)
    np.testing.assert_allclose(predicted, 0.5, atol=0.1 + width)


@pytest.mark.parametrize(("n", "label"), [(50, 0), (500, 0), (500, 1)])
def test_an_outcome_that_never_happened_is_as_rare_as_the_rows_say(n, label):
    scores = np.random.default_rng(0).uniform(0.001, 0.01, n)
    scores = 1.0 - scores if label else scores
    calibrator = SplineCalibration().fit(scores, np.full(n, label))
    missing = np.abs(label - calibrator.predict(scores))
    assert 0.5 / n < missing.mean() < 2.0 / n  # the rule of succession says 1 / (n + 2)
    low, high = calibrator.predict_interval([np.median(scores)])
    assert (high - low)[0] < 6.0 / n
