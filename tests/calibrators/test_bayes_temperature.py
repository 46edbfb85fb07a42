import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.special import expit, logit

from calibrant import BayesianTemperature, Tally
from calibrant.calibrators import bayes_temperature


def overconfident(n, slope, lapse, seed=0):
    rng = np.random.default_rng(seed)
    scores = expit(3 * rng.standard_normal(n))
    truth = (1 - lapse) * expit(slope * logit(scores)) + lapse / 2
    return scores, rng.random(n) < truth, truth


def test_recovers_temperature_and_lapses():
    scores, labels, truth = overconfident(100_000, 0.5, 0.1)
    calibrator = BayesianTemperature().fit(scores, labels)
    assert calibrator.temperature_ == pytest.approx(2.0, rel=0.03)
    assert calibrator.lapse_ == pytest.approx(0.1, abs=0.01)
    assert np.abs(calibrator.predict(scores) - truth).mean() < 0.004


def test_a_handful_of_rows_changes_little():
    calibrator = BayesianTemperature().fit([0.2, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    assert calibrator.predict([0.2, 0.5, 0.9]) == pytest.approx([0.2, 0.5, 0.9], abs=0.1)


def test_a_score_of_one_is_not_taken_at_its_word():
    scores = np.repeat([0.0, 1.0], 50)
    labels = np.r_[np.zeros(45), np.ones(5), np.zeros(5), np.ones(45)]
    p = BayesianTemperature().fit(scores, labels).predict([0.0, 1.0])
    assert p == pytest.approx([0.1, 0.9], abs=0.03)


def test_intervals_cover_and_shrink():
    covered, widths = [], []
    for n in (300, 10_000):
        scores, labels, truth = overconfident(n, 0.6, 0.0, seed=n)
        low, high = BayesianTemperature().fit(scores, labels).predict_interval(scores)
        covered.append(((low <= truth) & (truth <= high)).mean())
        widths.append((high - low).mean())
    assert min(covered) > 0.5
    assert widths[1] < widths[0] / 3


def test_draws_have_the_mean_of_the_map():
    scores, labels, _ = overconfident(300, 0.5, 0.1)
    calibrator = BayesianTemperature().fit(scores, labels)
    at = np.linspace(0.01, 0.99, 25)
    draws = calibrator.sample_maps(at, n_draws=4000, random_state=1)
    assert draws.mean(axis=0) == pytest.approx(calibrator.predict(at), abs=0.005)


def test_leaving_a_row_out_equals_fitting_without_it():
    scores = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 0.95])
    labels = np.array([0, 0, 1, 0, 1, 1])
    positive, negative = BayesianTemperature().fit(scores, labels).leave_one_out(Tally.from_arrays(scores, labels))
    for i, label in enumerate(labels):
        rest = np.arange(len(labels)) != i
        p = BayesianTemperature().fit(scores[rest], labels[rest]).predict(scores[[i]])[0]
        assert (positive[i] if label else negative[i]) == pytest.approx(p if label else 1 - p, abs=4e-3)


def test_mean_slope_agrees_with_quadrature():
    z = np.array([-2.0, -0.5, 1.0, 3.0])
    positives, totals = np.array([1.0, 2.0, 3.0, 4.0]), np.array([4.0, 5.0, 5.0, 5.0])

    def density(log_rate, tau, lapse):
        rate = np.exp(log_rate) if lapse else 0.0
        p = (1 - rate) * expit(np.exp(tau) * z) + rate / 2
        like = np.exp(positives @ np.log(p) + (totals - positives) @ np.log(np.maximum(1 - p, 1e-300)))
        return like / (1 + (tau / bayes_temperature.SLOPE_SCALE) ** 2)

    low, high = np.log(bayes_temperature.LAPSES)
    taus = bayes_temperature.SLOPES

    def total(weight):
        with_lapse = dblquad(lambda r, t: weight(t) * density(r, t, True), *taus, low, high, epsabs=1e-12)[0]
        without = dblquad(lambda _, t: weight(t) * density(0.0, t, False), *taus, 0.0, 1.0, epsabs=1e-12)[0]
        only = quad(lambda t: weight(t) * density(0.0, t, True), *taus, epsabs=1e-12)[0]
        some = 1.0 - bayes_temperature.NO_LAPSE - bayes_temperature.ONLY_LAPSES
        return some * with_lapse / (high - low) + 0.5 * without + bayes_temperature.ONLY_LAPSES * only

    grid = bayes_temperature.grid_posterior(z, positives, totals)
    expected = total(lambda t: t) / total(lambda _: 1.0)
    assert grid.weights.sum() == pytest.approx(1.0)
    assert grid.weights @ np.log(grid.slopes) == pytest.approx(expected, abs=2e-3)


def test_the_grid_is_finer_than_the_posterior_of_many_rows():
    z = np.linspace(-3, 3, 50)
    totals = np.full(50, 1e6)
    positives = totals * (0.9 * expit(0.7 * z) + 0.05)
    grid = bayes_temperature.grid_posterior(z, positives, totals)
    mean = grid.weights @ grid.slopes
    assert mean == pytest.approx(0.7, abs=2e-3)
    assert grid.weights @ grid.lapses == pytest.approx(0.1, abs=2e-3)
    assert grid.weights.max() < 0.5


def test_a_score_that_says_nothing_becomes_the_share_of_positives_with_an_interval():
    rng = np.random.default_rng(5)
    scores, labels = rng.random(200), rng.random(200) < 0.15
    calibrator = BayesianTemperature().fit(scores, labels)
    assert calibrator.predict([0.1, 0.9]) == pytest.approx([labels.mean()] * 2, abs=0.04)
    low, high = calibrator.predict_interval([0.1, 0.9])
    assert (high - low > 0.04).all()  # of 200 rows the share itself is uncertain
    assert np.all((low < 0.15) & (high > 0.15))


def test_rows_on_which_the_score_lapses_are_like_all_rows():
    rng = np.random.default_rng(6)
    scores = rng.beta(0.3, 2.7, 20_000)
    labels = rng.random(20_000) < np.where(rng.random(20_000) < 0.3, scores.mean(), scores)
    expected = 0.7 * np.array([0.01, 0.99]) + 0.3 * labels.mean()
    assert BayesianTemperature().fit(scores, labels).predict([0.01, 0.99]) == pytest.approx(expected, abs=0.02)


def test_scores_crowded_around_one_half_are_spread():
    rng = np.random.default_rng(7)
    z = 2.0 * rng.standard_normal(2000)
    calibrator = BayesianTemperature().fit(expit(0.1 * z), rng.random(2000) < expit(z))  # as boosted stumps vote
    assert calibrator.temperature_ == pytest.approx(0.1, rel=0.15)
    assert calibrator.predict([expit(0.2)]) == pytest.approx([expit(2.0)], abs=0.02)
