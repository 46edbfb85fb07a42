import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.special import expit

from calibrant import ABB, BayesIso, Blend, SplineCalibration, Tally, simulate
from calibrant.calibrators.blend import DESCRIPTIONS, _sentence
from calibrant.errors import InvalidInputError
from calibrant.metrics import Interval, Verdict

sys.path.insert(0, str(Path(__file__).parents[2]))  # benchmarks are not installed

from benchmarks.papers.planes import circular

SCORES = st.just(0.0) | st.floats(1e-200, 1.0)  # closer ones are refused


def excess(p, truth):
    p = np.clip(p, 1e-15, 1 - 1e-15)
    return np.mean(truth * np.log(truth / p) + (1 - truth) * np.log((1 - truth) / (1 - p)))


def test_weights_are_a_distribution_and_the_map_is_the_mixture():
    data = simulate.bayes_iso(1000, rng=0)
    blend = Blend().fit(data.scores, data.labels)
    assert list(blend.weights_) == list(blend.members_) == ["identity", "temperature", "spline", "bayes_iso", "abb"]
    assert sum(blend.weights_.values()) == pytest.approx(1.0)
    at = np.linspace(0, 1, 101)
    mixed = sum(blend.weights_[name] * member.predict(at) for name, member in blend.members_.items())
    away = np.abs(blend.predict(at) - mixed)
    assert (away < 2e-5).mean() > 0.9  # elsewhere the mixture falls, not surely, and was pooled
    assert away.max() < 0.02


def readme_example(seed, n=2000):
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    return scores, rng.random(n) < scores**2


@pytest.mark.parametrize("seed", range(3))
def test_what_uncertainty_does_to_the_mean_near_zero_is_not_taken_for_a_fall(seed):
    blend = Blend().fit(*readme_example(seed))
    grid = np.linspace(0.0, 0.1, 1001)
    mixed = sum(blend.weights_[name] * member.predict(grid) for name, member in blend.members_.items())
    assert np.diff(mixed).min() < -1e-6
    assert np.diff(blend.predict(grid)).min() >= 0.0
    assert blend.falls_ == ()
    assert blend.map_.monotone
    assert "It never falls." in blend.summary()


def test_a_fall_that_the_rows_prove_stays_and_is_told():
    data = simulate.from_truth("hump", 4000, rng=0)
    blend = Blend().fit(data.scores, data.labels)
    for fall in blend.falls_:
        low, high = blend.predict([fall.low, fall.high])
        assert low > high
        assert fall.probability >= 0.95
        assert f"{fall.low:.3g} to {fall.high:.3g}" in blend.summary()
    assert blend.falls_
    assert not blend.map_.monotone
    drawn = blend.sample_maps([blend.falls_[0].low, blend.falls_[0].high], 500)
    assert (drawn[:, 1] < drawn[:, 0]).mean() > 0.9


@pytest.mark.parametrize("space", ["probability", "decision"])
def test_monotone_on_request(space):
    data = simulate.from_truth("hump", 1000, rng=0)
    scores = data.scores if space == "probability" else 8.0 * data.scores - 4.0
    blend = Blend(monotone=True, space=space).fit(scores, data.labels)
    grid = np.linspace(scores.min(), scores.max(), 501)
    assert blend.map_.monotone
    assert np.diff(blend.predict(grid)).min() >= 0.0
    assert np.diff(blend.sample_maps(grid, 20), axis=1).min() >= 0.0
    low, high = blend.predict_interval(grid)
    assert np.diff(low).min() >= -1e-12
    assert np.diff(high).min() >= -1e-12


@pytest.mark.filterwarnings("ignore:High scores go with the negative class")
def test_decision_scores_the_wrong_way_round():
    rng = np.random.default_rng(1)
    margins = 2.0 * rng.standard_normal(300)
    labels = rng.random(300) < expit(-margins)
    falling = Blend(space="decision").fit(margins, labels)
    assert "high scores go with the negative class" in falling.summary()
    assert not falling.map_.monotone
    flat = Blend(space="decision", monotone=True).fit(margins, labels)
    np.testing.assert_allclose(flat.predict([-5.0, 0.0, 5.0]), labels.mean(), atol=0.01)


def test_falls_of_decision_scores_are_told_as_such():
    rng = np.random.default_rng(3)
    margins = rng.uniform(-5.0, 5.0, 4000)
    truth = np.where(margins < 3.0, expit(margins), 0.4)
    (fall,) = Blend(space="decision").fit(margins, rng.random(4000) < truth).falls_
    assert 2.0 < fall.low < 3.2
    assert 2.8 < fall.high <= margins.max()


@pytest.mark.parametrize("n", [1000, 3000])
def test_is_nearly_as_good_as_its_best_member(n):
    test = simulate.bayes_iso(20_000, rng=99)
    losses = []
    for seed in range(6):
        data = simulate.bayes_iso(n, rng=seed)
        blend = Blend().fit(data.scores, data.labels)
        calibrators = [blend, *blend.members_.values()]
        losses.append([excess(calibrator.predict(test.scores), test.probabilities) for calibrator in calibrators])
    own, *members = np.mean(losses, axis=0)
    assert own < 1.25 * min(members)


def test_stays_near_a_score_that_is_calibrated():
    moves, verdicts = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        scores = rng.beta(1, 1, 400)
        blend = Blend().fit(scores, rng.random(400) < scores)
        moves.append(np.abs(blend.predict(scores) - scores).mean())
        verdicts.append("do not show" in blend.summary())
    assert np.mean(moves) < 0.03
    assert np.mean(verdicts) >= 0.6


def test_never_hurts_much_on_a_hundred_calibrated_rows():
    harms = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        scores = rng.beta(0.8, 1.5, 100)
        labels = rng.random(100) < scores
        truth = np.clip(rng.beta(0.8, 1.5, 4000), 1e-6, 1 - 1e-6)
        harms.append(excess(Blend().fit(scores, labels).predict(truth), truth))
    assert np.mean(harms) < 0.01


def test_follows_a_shape_that_is_not_monotone():
    data = circular(4000, rng=0)
    blend = Blend().fit(data.scores, data.labels)
    raw = np.abs(data.scores - data.probabilities).mean()
    assert np.abs(blend.predict(data.scores) - data.probabilities).mean() < 0.25 * raw


def test_decision_scores_become_probabilities_first():
    rng = np.random.default_rng(2)
    margins = 3 * rng.standard_normal(2000)
    truth = expit(0.8 * margins - 0.3)
    blend = Blend(space="decision").fit(margins, rng.random(2000) < truth)
    assert blend.map_.space == "decision"
    assert np.abs(blend.predict(margins) - truth).mean() < 0.03
    assert "Platt" in blend.summary()
    low, high = blend.predict_interval(margins)
    assert ((low <= truth) & (truth <= high)).mean() > 0.7
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\]"):
        Blend().fit(margins, truth > 0.5)
    with pytest.raises(InvalidInputError, match="`space` must be one of"):
        Blend(space="logit").fit([0.1, 0.9], [0, 1])


def test_intervals_cover_the_truth():
    coverage = []
    for seed in range(4):
        data = simulate.bayes_iso(1000, rng=seed)
        low, high = Blend().fit(data.scores, data.labels).predict_interval(data.scores, level=0.9)
        coverage.append(((low <= data.probabilities) & (data.probabilities <= high)).mean())
    assert 0.8 < np.mean(coverage) <= 1.0


def test_intervals_reach_zero_where_no_positive_is():
    data = circular(3000, rng=1)  # a hill: nothing is positive at low and high scores
    blend = Blend().fit(data.scores, data.labels)
    low, high = blend.predict_interval(np.quantile(data.scores, [0.02, 0.98]))
    assert low.max() < 1e-3
    assert high.max() < 0.05


@pytest.mark.parametrize("space", ["probability", "decision"])
@pytest.mark.parametrize("n", [100, 400])
def test_predictions_intervals_and_draws_are_one_posterior(space, n):
    """Draws were 0.6 times as wide as intervals, and their mean was elsewhere."""
    rng = np.random.default_rng(3)
    scores, grid = rng.beta(1.5, 1.5, n), np.linspace(0.1, 0.9, 17)
    blend = Blend(space=space).fit(scores, rng.random(n) < 0.15 + 0.5 * scores)
    draws = blend.sample_maps(grid, n_draws=3000)
    low, high = blend.predict_interval(grid)
    spread = np.subtract(*np.quantile(draws, [0.95, 0.05], axis=0))
    assert draws.shape == (3000, 17)
    assert 0.85 < spread.mean() / (high - low).mean() < 1.05
    assert np.abs(draws.mean(axis=0) - blend.predict(grid)).mean() < 0.03


def test_half_of_the_draws_that_the_score_would_have_are_curves_near_it(monkeypatch):
    monkeypatch.setattr("calibrant._numerics.linear_pool.pool_weights", lambda *_: np.array([0.6, 0.1, 0.1, 0.1, 0.1]))
    rng = np.random.default_rng(3)
    scores, grid = rng.beta(2, 2, 100), np.linspace(0.1, 0.9, 9)
    blend = Blend().fit(scores, rng.random(100) < scores)
    exact = (np.abs(blend.sample_maps(grid, 4000) - grid) < 1e-12).all(axis=1)
    assert exact.mean() == pytest.approx(0.3, abs=0.03)


def test_a_member_that_the_labels_refute_does_not_shift_the_mean_of_many_rows():
    """A score that is off by a third keeps a weight, since some of its probabilities are right."""
    rng = np.random.default_rng(0)
    truth = rng.beta(2, 2, 1000)
    scores = np.where(truth > 0.5, 0.5 + 0.3 * (truth - 0.5), truth)
    labels = rng.random(1000) < truth
    answer = Blend().fit(scores, labels).estimate(scores, sampling_noise=False)
    assert answer.low < labels.mean() < answer.high
    assert answer.width < 2.2 * 1.645 * np.sqrt(labels.var() / 1000)


@pytest.mark.parametrize(("intercept", "slope"), [(-0.85, 0.0), (0.3, 2.0)])
def test_intervals_of_decision_scores_know_that_platts_curve_was_fitted(intercept, slope):
    """With level and slope held fixed, they covered 0.71 to 0.77 of the scores."""
    covered, widths, rng = [], [], np.random.default_rng(11)
    for _ in range(25):
        scores, grid = rng.normal(size=100), rng.normal(size=100)
        blend = Blend(space="decision").fit(scores, rng.random(100) < expit(intercept + slope * scores))
        low, high = blend.predict_interval(grid)
        truth = expit(intercept + slope * grid)
        covered.append(((low <= truth) & (truth <= high)).mean())
        widths.append((high - low).mean())
    assert np.mean(covered) > 0.84
    assert np.mean(widths) < 0.27  # logistic regression: 0.2


def test_intervals_cover_an_edge_with_a_hundred_rows():
    covered, rng = [], np.random.default_rng(12)
    for _ in range(25):
        scores, grid = rng.beta(1.5, 1.5, 100), rng.beta(1.5, 1.5, 100)
        low, high = Blend().fit(scores, rng.random(100) < np.where(scores < 0.5, 0.2, 0.8)).predict_interval(grid)
        truth = np.where(grid < 0.5, 0.2, 0.8)
        covered.append(((low <= truth) & (truth <= high)).mean())
    assert np.mean(covered) > 0.78  # 0.70 without steps among the members


def made(truth, scores_of, n, space, seed):
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n) if space == "decision" else rng.beta(1.5, 1.5, n)
    return Blend(space=space).fit(scores_of(score), rng.random(n) < truth(score))


SITUATIONS = {
    "needed": (np.square, lambda s: s, 3000, "probability"),
    "not needed": (lambda s: s, lambda s: s, 3000, "probability"),
    "few rows": (lambda s: s, lambda s: s, 12, "probability"),
    "undecided": (lambda s: 0.1 + 0.8 * s, lambda s: s, 150, "probability"),
    "Platt suffices": (expit, lambda s: s, 500, "decision"),
    "Platt does not": (lambda s: expit(2.0 * s**3), lambda s: s, 4000, "decision"),
    "noise": (lambda s: np.full_like(s, 0.3), lambda s: s, 200, "decision"),
}


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("seed", range(3))
def test_every_claim_of_a_summary_agrees_with_its_numbers(situation, seed):
    *made_of, space = SITUATIONS[situation]
    blend = made(*made_of, space, seed)
    text, (gain, error) = blend.summary(), blend._gain
    first, shape, width = text.splitlines()[:3]
    improves, harms = gain > 1.645 * error, gain < -1.645 * error
    assert ("lower" in first) == (gain > 0)
    assert ("higher" in first) == (gain <= 0)
    assert f"{abs(gain):.4f}" in first
    if space == "decision":
        assert "not probabilities, so a map is needed" in first
        assert ("than with Platt scaling alone" in first) == improves
        assert ("would have done as well" in first) == (not improves and not harms)
        assert ("would have done better" in first) == harms
    else:
        assert first.startswith("Calibration was needed") == improves
        assert ("not help beyond chance" in first or "do not show" in first) == (not improves)
    words = DESCRIPTIONS | ({"identity": "Platt scaling as it is"} if space == "decision" else {})
    for name, weight in blend.weights_.items():
        assert (words[name] in shape) == (weight >= 0.005)
    low, high = blend.predict_interval(blend.interval_cells.scores)
    assert f"{np.average(high - low, weights=blend.interval_cells.totals):.3f} wide" in width
    assert ("never falls" in text) == blend.map_.monotone


def test_a_summary_says_where_platt_scaling_would_have_been_better():
    verdict = Verdict(100, 0.5, None, gain=Interval(-0.01, -0.015, -0.005, 0.9), probabilities=False)
    said = _sentence(verdict, -0.01, 0.003)
    assert "Platt scaling alone would have done better" in said
    assert "0.0100 higher" in said
    rng = np.random.default_rng(0)
    margins = rng.normal(size=500)
    summary = Blend(space="decision").fit(margins, rng.random(500) < expit(margins)).summary()
    assert "Platt scaling as it is" in summary
    assert "raw score" not in summary


def test_summary_says_what_was_needed_and_how_sure():
    data = simulate.bayes_iso(5000, rng=0)
    text = Blend().fit(data.scores, data.labels).summary()
    assert text.startswith("Calibration was needed: on rows left out, the log-loss is")
    assert "Its 90 % intervals are" in text


@pytest.mark.parametrize("member", [ABB, BayesIso, SplineCalibration])
def test_leaving_a_row_out_equals_fitting_without_it(member):
    data = simulate.bayes_iso(40, rng=5)
    positive, negative = member().fit(data.scores, data.labels).leave_one_out(data.tally)
    ordered = np.argsort(data.scores)
    differences = []
    for place, i in enumerate(ordered):
        rest = np.arange(40) != i
        p = member().fit(data.scores[rest], data.labels[rest]).predict(data.scores[[i]])[0]
        differences.append((positive[place] - p) if data.labels[i] else (negative[place] - (1 - p)))
    assert np.abs(differences).mean() < 0.03


def test_a_hundred_million_rows_without_a_relation_are_fitted_without_a_warning():
    """Warnings are errors here: one about the chains of Bayes-Iso would name options that this method does not have."""
    rng = np.random.default_rng(0)
    tally = Tally(np.sort(rng.random(2000)), rng.binomial(50_000, 0.3, 2000).astype(float), np.full(2000, 5e4))
    np.testing.assert_allclose(Blend().fit_tally(tally).predict([0.1, 0.5, 0.9]), 0.3, atol=2e-3)


def test_decision_scores_that_become_one_probability_have_a_summary():
    scores = np.concatenate((np.full(200, -1.0), np.full(200, 1.0), [100.0, 200.0, 300.0]))
    assert "wide on average" in Blend(space="decision").fit(scores, scores > 0).summary()


def test_intervals_do_not_swell_the_pickle():
    rng = np.random.default_rng(0)
    scores = rng.random(300)
    blend = Blend().fit(scores, rng.random(300) < scores)
    before = len(pickle.dumps(blend))
    low, high = blend.predict_interval([0.4])
    assert len(pickle.dumps(blend)) < 1.1 * before
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(blend)).predict_interval([0.4]), (low, high))


def test_scores_next_to_zero_have_draws_and_intervals():
    """A naive Bayes of pixels says 1e-320 of some rows; between two such scores every slope overflows."""
    tiny = [7.816e-321, 1.84242e-318, 3.707894e-318, *10.0 ** np.linspace(-277, -29, 16), 1.2e-16, 1.5e-16, 8e-12]
    scores = np.array([0.0] * 11 + tiny + [0.016, 0.44, 0.9995] + [1.0] * 14)
    y = np.zeros(len(scores), dtype=int)
    y[[31, 36, 40, 41, 45]] = 1
    blend = Blend().fit(scores, y)
    assert np.isfinite(blend.sample_maps(scores)).all()
    low, high = blend.predict_interval(scores)
    assert ((low >= 0.0) & (low <= high) & (high <= 1.0)).all()


def test_a_few_rows_tied_at_zero_do_not_prove_that_nothing_happens_there():
    rng = np.random.default_rng(0)
    scores = np.concatenate((np.zeros(20), rng.uniform(0.01, 1.0, 80).round(2)))
    blend = Blend().fit(scores, rng.random(100) < scores)
    assert 0.005 < blend.predict([0.0])[0] < 0.05
    assert blend.members_["identity"].predict([0.0])[0] == pytest.approx(1 / 22)


def test_a_score_without_meaning_gets_a_nearly_flat_map():
    spreads = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        blend = Blend().fit(rng.random(100), rng.random(100) < 0.3)
        spreads.append(blend.predict(np.linspace(0.05, 0.95, 19)).std())
    assert np.mean(spreads) < 0.032  # 0.037 with lapses to one half


def test_right_scores_of_a_thousand_rows_leave_weight_to_the_simple_maps():
    weights = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        scores = expit(2.0 * rng.standard_normal(1000))
        blend = Blend().fit(scores, rng.random(1000) < scores)
        weights.append(blend.weights_["identity"] + blend.weights_["temperature"])
    assert np.mean(weights) > 0.15
