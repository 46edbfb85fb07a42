import numpy as np
import pytest
from scipy.special import gammaln

from calibrant import BBQ, Tally, simulate
from calibrant.calibrators.published.bbq import bin_ends


def plain(scores, y, n_bins):
    """One histogram as the authors' description reads, row by row: edges, probabilities, score."""
    n, size = len(scores), len(scores) // n_bins
    edges, values, score, start, lower = [], [], 0.0, 0, 0.0
    while start < n:
        end = n if len(values) == n_bins - 1 else min(start + size, n)
        while end < n and scores[end] == scores[end - 1]:
            end += 1
        upper = 1.0 if end == n else 0.5 * (scores[end - 1] + scores[end])
        rows, hits, middle = end - start, y[start:end].sum(), 0.5 * (lower + upper)
        a = 2.0 * min(max(middle, 0.005), 0.995)
        b = 2.0 - a
        score += gammaln(2.0) - gammaln(rows + 2.0)
        score += gammaln(hits + a) - gammaln(a) + gammaln(rows - hits + b) - gammaln(b)
        prior = ((scores * y)[start:end].sum() + middle) / (hits + 1.0)
        edges.append(upper)
        values.append((hits + prior) / (rows + 1.0))
        start, lower = end, upper
    return np.array(edges[:-1]), np.array(values), score


@pytest.mark.parametrize("decimals", [1, 2, 12])
def test_equals_a_plain_reading_of_the_method(decimals):
    data = simulate.bayes_iso(400, rng=1)
    order = np.argsort(np.round(data.scores, decimals), kind="stable")
    scores, y = np.round(data.scores, decimals)[order], data.labels[order].astype(float)
    models = [plain(scores, y, b) for b in range(1, min(80, 74) + 1)]  # 400/5 = 80, 10·400^(1/3) = 73.7
    relative = np.exp([m[2] for m in models] - max(m[2] for m in models))
    order = np.argsort(-relative, kind="stable")
    kept = 0
    while kept < len(order) - 1 and relative[order[kept]] - relative[order[kept + 1]] > 1e-3 * relative.var():
        kept += 1
    chosen = order[: max(1, kept)]
    x = np.linspace(0.0, 1.0, 500)
    each = [relative[i] * models[i][1][np.searchsorted(models[i][0], x)] for i in chosen]
    calibrator = BBQ().fit(scores, y.astype(int))
    np.testing.assert_array_equal(calibrator.n_bins_, chosen + 1)
    np.testing.assert_allclose(calibrator.predict(x), sum(each) / relative[chosen].sum(), rtol=1e-10)
    assert calibrator.weights_.sum() == pytest.approx(1.0)


def test_four_rows_by_hand():
    # One model with one bin: middle 1/2, p0 = (0.6 + 0.9 + 0.5) / 3 = 2/3, so (2 + 2/3) / 5.
    calibrator = BBQ().fit([0.1, 0.3, 0.6, 0.9], [0, 0, 1, 1])
    np.testing.assert_allclose(calibrator.predict([0.0, 1.0]), 8.0 / 15.0)


def test_recorded_synthetic_case():
    rng = np.random.default_rng(7)
    scores = np.round(rng.beta(1.0, 2.0, 500), 3)
    y = (rng.random(500) < scores**2).astype(int)
    calibrator = BBQ().fit(scores, y)
    expected = [0.00077, 0.08486, 0.1885, 0.34757, 0.63696, 0.63701]
    np.testing.assert_allclose(calibrator.predict([0.05, 0.2, 0.4, 0.6, 0.8, 0.95]), expected, atol=5e-5)


def test_recovers_the_truth_roughly():
    data = simulate.bayes_iso(20_000, rng=0)
    assert np.abs(BBQ().fit(data.scores, data.labels).predict(data.scores) - data.probabilities).mean() < 0.02


def test_the_number_of_models_does_not_grow_with_the_weight():
    rng = np.random.default_rng(0)
    scores = rng.random(200)
    y = rng.random(200) < scores
    calibrator = BBQ().fit(scores, y, np.full(200, 1e12))
    assert len(calibrator.n_bins_) <= 2200
    # So much weight leaves nothing to the prior: every model that separates the scores is the data themselves.
    assert np.abs(calibrator.predict(scores) - y).max() < 1e-6


def test_up_to_ten_million_rows_every_number_of_bins_is_tried():
    tally = Tally(np.linspace(0.01, 0.99, 50), np.linspace(1e4, 19e4, 50), np.full(50, 2e5))
    calibrator = BBQ(elbow=0.0).fit_tally(tally)
    assert calibrator.n_bins_.max() <= 2155


@pytest.mark.parametrize(
    ("totals", "n_bins", "ends"),
    [
        (np.ones(10), 3, [3, 6, 10]),
        (np.ones(10), 1, [10]),
        (np.ones(4), 4, [1, 2, 3, 4]),
        ([1.0, 5.0, 1.0, 1.0, 2.0], 5, [2, 4, 5]),
        ([9.0, 1.0], 5, [1, 2]),
        ([10.0], 5, [1]),
    ],
)
def test_bins_by_hand(totals, n_bins, ends):
    assert bin_ends(np.cumsum(totals).tolist(), n_bins).tolist() == ends
