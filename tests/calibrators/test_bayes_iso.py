import numpy as np
import pytest

from calibrant import BayesIso, Tally, simulate
from calibrant.calibrators.published.sampled_bayes_iso import SampledBayesIso


def tally_of(n):
    return Tally(np.linspace(0, 1, n), (np.arange(n) % 3 == 0).astype(float), np.ones(n))


def excess_log_loss(truth, p):
    return float(np.mean(truth * np.log(truth / p) + (1 - truth) * np.log((1 - truth) / (1 - p))))


def test_one_score_is_laplaces_rule():
    # One cell has a uniform prior: 3 of 4 positive gives Beta(4, 2), mean 4/6.
    calibrator = BayesIso().fit([0.5] * 4, [1, 1, 1, 0])
    assert calibrator.predict([0.1, 0.5, 0.9]) == pytest.approx([2 / 3] * 3, abs=0.001)
    low, high = calibrator.predict_interval([0.5])
    assert (low[0], high[0]) == pytest.approx((0.343, 0.924), abs=0.005)  # quantiles of Beta(4, 2)


def test_two_rows_by_hand():
    # Either cell is the root: c1 = u, c2 = u + v (1 − u), or c2 = u, c1 = u v, each weighted by c2 (1 − c1).
    u, v = np.meshgrid((np.arange(400) + 0.5) / 400, (np.arange(400) + 0.5) / 400)
    pairs = [(u, u + v * (1 - u)), (u * v, u)]
    mass = sum((b * (1 - a)).sum() for a, b in pairs)
    exact = [sum((c[k] * c[1] * (1 - c[0])).sum() for c in pairs) / mass for k in (0, 1)]
    for method, atol in ((BayesIso(), 0.001), (SampledBayesIso(n_draws=20_000, bounds=None), 0.015)):
        assert method.fit([1, 2], [0, 1]).predict([1, 2]) == pytest.approx(exact, abs=atol)


@pytest.mark.parametrize(("n", "limit"), [(100, 0.040), (1000, 0.005), (30_000, 0.0006)])
def test_recovery_on_the_papers_task(n, limit):
    test = simulate.bayes_iso(20_000, rng=99)
    losses = []
    for seed in range(5):
        data = simulate.bayes_iso(n, rng=1000 + seed)
        p = BayesIso().fit(data.scores, data.labels).predict(test.scores)
        losses.append(excess_log_loss(test.probabilities, p))
    assert np.mean(losses) < limit


TRUTHS = {"straight": lambda s: s, "curved": lambda s: s**2, "flat": lambda s: 0.2 + 0.15 * s}


@pytest.mark.parametrize("n", [300, 3000])
def test_intervals_cover_monotone_truths(n):
    at = np.linspace(0.02, 0.98, 97)
    covered = []
    for truth in TRUTHS.values():
        for seed in range(6):
            rng = np.random.default_rng(seed)
            scores = rng.random(n)
            calibrator = BayesIso().fit(scores, rng.random(n) < truth(scores))
            low, high = calibrator.predict_interval(at, level=0.9)
            covered.append(((low <= truth(at)) & (truth(at) <= high)).mean())
    assert 0.82 < np.mean(covered) < 0.98


def test_diagnostics_of_the_sums():
    data = simulate.bayes_iso(2000, rng=0)
    found = BayesIso().fit(data.scores, data.labels).diagnostics_
    assert found["n_cells"] == 47  # ten times the fifth root of 2000, made odd
    assert 16 < found["n_levels"] < 100
    assert 0.0 <= found["edge"] < 0.01


def test_cells_and_their_number():
    data = simulate.bayes_iso(5000, rng=0)
    few = BayesIso(max_cells=20).fit(data.scores, data.labels)
    assert len(few.map_.function.x) == few.diagnostics_["n_cells"] == 20


def test_default_cells_grow_slowly():
    counts = [BayesIso().fit_tally(tally_of(n)).diagnostics_["n_cells"] for n in (30, 100, 1000, 30_000)]
    assert counts == [17, 27, 41, 55]


def test_draws_have_the_mean_of_the_map():
    data = simulate.bayes_iso(200, rng=0)
    calibrator = BayesIso().fit(data.scores, data.labels)
    at = calibrator.map_.function.x[[0, 6, 12, 18]]  # cells: between them, quantiles are those of their ends
    draws = calibrator.sample_maps(at, n_draws=5000)
    assert draws.shape == (5000, 4)
    assert len(np.unique(draws[:, 2])) == 5000
    np.testing.assert_allclose(draws.mean(axis=0), calibrator.predict(at), atol=0.005)
    np.testing.assert_array_equal(draws[:7], calibrator.sample_maps(at, n_draws=5000)[:7])
    low, high = calibrator.predict_interval(at, level=0.8)
    np.testing.assert_allclose(np.quantile(draws, 0.1, axis=0), low, atol=0.015)
    np.testing.assert_allclose(np.quantile(draws, 0.9, axis=0), high, atol=0.015)


def test_leaving_a_row_out_is_a_refit_without_it():
    scores, labels = np.arange(12.0), np.array([0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1])
    positive, negative = BayesIso(max_cells=100).fit(scores, labels).leave_one_out(Tally.from_arrays(scores, labels))
    # A row of hardly any weight keeps its cell in the prior.
    for row in range(12):
        weights = np.where(np.arange(12) == row, 1e-9, 1.0)
        p = BayesIso(max_cells=100).fit(scores, labels, weights).predict(scores[row : row + 1])
        expected = positive[row] if labels[row] else 1.0 - negative[row]
        assert p == pytest.approx([expected], abs=0.004)


def test_never_zero_or_one():
    p = BayesIso().fit(np.arange(50), np.arange(50) >= 25).predict(np.arange(50))
    assert 0.0 < p.min() < 0.1
    assert 0.9 < p.max() < 1.0


def test_millions_of_rows_need_no_more_cells():
    truth = np.linspace(0.02, 0.97, 5000)
    totals = np.full(5000, 2000.0)
    tally = Tally(np.linspace(0, 1, 5000), np.random.default_rng(0).binomial(2000, truth).astype(float), totals)
    calibrator = BayesIso().fit_tally(tally)
    assert calibrator.diagnostics_["n_cells"] == 55
    assert np.abs(calibrator.predict(tally.scores) - truth).max() < 0.02
