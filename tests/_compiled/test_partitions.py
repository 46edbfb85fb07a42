"""The sweeps against brute force over all 2^(m−1) binnings, and against themselves where brute force ends."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from calibrant._compiled import partitions

LAMS = np.array([1e-3, 0.5, 10.0, 256.0, 1e6])


def log_marginal(hits, misses, alpha, beta):
    def log_beta(a, b):
        return gammaln(a) + gammaln(b) - gammaln(a + b)

    return log_beta(hits + alpha, misses + beta) - log_beta(alpha, beta)


def enumerate_binnings(x, k, n, lam, alpha, beta):
    """Every binning: its log score (eq. 2.7), its map at the cells, its boundaries."""
    log_stay = -lam * np.diff(x)
    log_cut = np.log(-np.expm1(log_stay))
    scores, maps, cuts = [], [], []
    for cut in product((False, True), repeat=len(x) - 1):
        score = np.where(cut, log_cut, log_stay).sum()
        edges = [0, *(np.flatnonzero(cut) + 1), len(x)]
        values = np.empty(len(x))
        for first, end in pairwise(edges):
            hits, total = k[first:end].sum(), n[first:end].sum()
            score += log_marginal(hits, total - hits, alpha, beta)
            values[first:end] = (hits + alpha) / (total + alpha + beta)
        scores.append(score)
        maps.append(values)
        cuts.append(cut)
    return np.array(scores), np.array(maps), np.array(cuts, dtype=float).reshape(len(scores), -1)


def posterior(x, k, n, lam, alpha, beta):
    """Mean at the cells, boundary probabilities, log evidence for each λ, from the kernels."""
    log_f, _ = partitions.forward(x, k, n, lam, alpha, beta, False)
    log_r, starts, ends = partitions.backward(x, k, n, lam, alpha, beta, log_f, False)
    mean = np.cumsum(starts, axis=1) - np.cumsum(ends, axis=1) + ends
    log_cut = np.log(-np.expm1(-lam[:, None] * np.diff(x)))
    boundary = np.exp(log_f[:, 1:-1] + log_r[:, 1:-1] - log_cut - log_f[:, -1:])
    return mean, boundary, log_f[:, -1], log_r[:, 0]


def random_cells(rng, m, kind):
    x = np.sort(rng.random(m))
    x = (x - x[0]) / (x[-1] - x[0])
    if kind == "rows":
        n = np.ones(m)
    elif kind == "ties":
        n = rng.integers(1, 7, m).astype(float)
    else:
        n = rng.exponential(3.0, m)
    k = n * rng.random(m) if kind == "weights" else np.floor(rng.random(m) * (n + 1.0))
    return x, k, n


@pytest.mark.parametrize("kind", ["rows", "ties", "weights"])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.3, 2.5)])
def test_equals_brute_force_over_all_binnings(kind, alpha, beta):
    rng = np.random.default_rng(3)
    for m in (2, 3, 5, 8, 8, 8, 10):
        x, k, n = random_cells(rng, m, kind)
        mean, boundary, evidence, backward_evidence = posterior(x, k, n, LAMS, alpha, beta)
        log_v, came = partitions.forward(x, k, n, LAMS, alpha, beta, True)
        for g, lam in enumerate(LAMS):
            scores, maps, cuts = enumerate_binnings(x, k, n, lam, alpha, beta)
            weights = np.exp(scores - scores.max())
            total = weights.sum()
            np.testing.assert_allclose(mean[g], weights @ maps / total, rtol=0, atol=1e-12)
            np.testing.assert_allclose(boundary[g], weights @ cuts / total, rtol=0, atol=1e-12)
            expected = scores.max() + np.log(total)
            np.testing.assert_allclose([evidence[g], backward_evidence[g]], expected, rtol=1e-13, atol=1e-12)
            np.testing.assert_allclose(log_v[g, -1], scores.max(), rtol=1e-13, atol=1e-12)
            starts = partitions.trace(came[g])
            found = np.zeros(m - 1)
            found[starts[1:] - 1] = 1.0
            own = scores[(cuts == found).all(axis=1)][0]
            np.testing.assert_allclose(own, scores.max(), rtol=1e-13, atol=1e-12)


def test_the_printed_formula_with_maxima():
    rng = np.random.default_rng(5)
    x, k, n = random_cells(rng, 6, "ties")
    lam = np.array([4.0])
    log_stay = -4.0 * np.diff(x)
    prior = np.append(-np.expm1(log_stay), 1.0)

    def score(first, last):
        hits, total = k[first : last + 1].sum(), n[first : last + 1].sum()
        return prior[last] * np.exp(log_stay[first:last].sum() + log_marginal(hits, total - hits, 1.0, 1.0))

    ahead = [1.0]
    for u in range(6):
        ahead.append(max(ahead[start] * score(start, u) for start in range(u + 1)))
    behind = [1.0] * 7
    for first in range(5, -1, -1):
        behind[first] = max(score(first, u) * behind[u + 1] for u in range(first, 6))
    expected = []
    for j in range(6):
        pairs = [(first, u) for first in range(j + 1) for u in range(j, 6)]
        weight = np.array([ahead[first] * score(first, u) * behind[u + 1] for first, u in pairs])
        value = np.array([(k[first : u + 1].sum() + 1) / (n[first : u + 1].sum() + 2) for first, u in pairs])
        expected.append(weight @ value / weight.sum())
    log_v, _ = partitions.forward(x, k, n, lam, 1.0, 1.0, True)
    sums = []
    for what in (partitions.MEAN, partitions.ONE):
        _, starts, ends = partitions.backward(x, k, n, lam, 1.0, 1.0, log_v, True, what)
        sums.append((np.cumsum(starts, axis=1) - np.cumsum(ends, axis=1) + ends)[0])
    np.testing.assert_allclose(sums[0] / sums[1], expected, rtol=1e-12)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 2.0)])
def test_mean_inverses_against_all_binnings(alpha, beta):
    rng = np.random.default_rng(0)
    x, n = np.linspace(0.0, 1.0, 7), rng.integers(1, 5, 7).astype(float)
    k, lam = np.floor(rng.random(7) * (n + 1.0)), np.array([4.0])
    scores, _, cuts = enumerate_binnings(x, k, n, lam[0], alpha, beta)
    weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    log_f, _ = partitions.forward(x, k, n, lam, alpha, beta, False)
    for what, own, prior in ((partitions.PER_POSITIVE, k, alpha), (partitions.PER_NEGATIVE, n - k, beta)):
        expected = np.zeros(7)
        for weight, cut in zip(weights, cuts, strict=True):
            for first, end in pairwise([0, *(np.flatnonzero(cut) + 1), 7]):
                rows = max(own[first:end].sum(), 1.0)
                expected[first:end] += weight * (n[first:end].sum() + alpha + beta - 1.0) / (rows + prior - 1.0)
        _, starts, ends = partitions.backward(x, k, n, lam, alpha, beta, log_f, False, what)
        found = (np.cumsum(starts, axis=1) - np.cumsum(ends, axis=1) + ends)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def plain_forward(x, k, n, lam, alpha, beta):
    """The recursion in logarithms, no starts dropped."""
    hits, misses = np.append(0.0, np.cumsum(k)), np.append(0.0, np.cumsum(n - k))
    log_f = np.zeros(len(x) + 1)
    for u in range(len(x)):
        log_m = log_marginal(hits[u + 1] - hits[: u + 1], misses[u + 1] - misses[: u + 1], alpha, beta)
        terms = log_f[: u + 1] + log_m - lam * (x[u] - x[: u + 1])
        log_cut = np.log(-np.expm1(-lam * (x[u + 1] - x[u]))) if u < len(x) - 1 else 0.0
        log_f[u + 1] = log_cut + np.logaddexp.reduce(terms)
    return log_f


@pytest.mark.compiled
@pytest.mark.parametrize("rows_per_cell", [1, 3, 400])
def test_dropping_starts_changes_nothing(rows_per_cell):
    rng = np.random.default_rng(6)
    m = 900
    x = np.sort(rng.random(m))
    x = (x - x[0]) / (x[-1] - x[0])
    n = np.full(m, float(rows_per_cell))
    k = rng.binomial(rows_per_cell, 0.5 + 0.45 * np.sin(9.0 * x)).astype(float)
    lam = np.array([1.0, 32.0])
    log_f, _ = partitions.forward(x, k, n, lam, 1.0, 1.0, False)
    for g in range(2):
        expected = plain_forward(x, k, n, lam[g], 1.0, 1.0)
        # The logarithms of the likelihood of all rows are what limits both to this.
        np.testing.assert_allclose(log_f[g], expected, rtol=1e-13, atol=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_reversing_the_cells_reverses_the_answer(data):
    m = data.draw(st.integers(2, 9))
    n = np.array(data.draw(st.lists(st.integers(1, 40), min_size=m, max_size=m)), dtype=float)
    k = np.array([float(data.draw(st.integers(0, int(total)))) for total in n])
    gaps = np.array(data.draw(st.lists(st.floats(0.01, 1.0), min_size=m - 1, max_size=m - 1)))
    x = np.append(0.0, np.cumsum(gaps)) / gaps.sum()
    lam = np.array([data.draw(st.floats(0.01, 1e4))])
    mean, boundary, evidence, _ = posterior(x, k, n, lam, 1.0, 1.0)
    mean_back, boundary_back, evidence_back, _ = posterior(1.0 - x[::-1], k[::-1].copy(), n[::-1].copy(), lam, 1.0, 1.0)
    np.testing.assert_allclose(mean_back[:, ::-1], mean, rtol=1e-9)
    np.testing.assert_allclose(boundary_back[:, ::-1], boundary, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(evidence_back, evidence, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e6])
def test_jumps_that_underflow_are_recovered(lam):
    # Ten blocks of 2000 rows, all alike inside: at each border every running bin falls by e^-1000 and more at once.
    k = np.repeat([0.0, 1.0] * 5, 20) * 2000.0
    n = np.full(200, 2000.0)
    x = np.linspace(0.0, 1.0, 200)
    lam = np.array([lam])
    mean, boundary, evidence, backward_evidence = posterior(x, k, n, lam, 1.0, 1.0)
    assert np.isfinite(evidence).all()
    np.testing.assert_allclose(backward_evidence, evidence, rtol=1e-12)
    np.testing.assert_allclose(evidence[0], plain_forward(x, k, n, lam[0], 1.0, 1.0)[-1], rtol=1e-11)
    np.testing.assert_allclose(boundary[0, 19::20], 1.0, rtol=1e-10)
    np.testing.assert_allclose(mean[0], k / n, atol=1e-3)
