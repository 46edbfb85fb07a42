"""The exact posterior mean of ABB against all binnings listed one by one, and its table against the exact mean."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import beta as beta_distribution

from calibrant import ABB, Tally, simulate
from calibrant.calibrators.abb import PosteriorMean, average_binnings

SCORES = np.array([0.05, 0.2, 0.25, 0.5, 0.8, 0.9])
POSITIVES = np.array([0.0, 1.0, 0.0, 3.0, 2.0, 1.0])
TOTALS = np.array([1.0, 1.0, 2.0, 3.0, 2.0, 3.0])
CELLS = Tally(SCORES, POSITIVES, TOTALS)


def brute_force(scores, k, n, lam, alpha=1.0, beta=1.0):
    """Posterior mean and second moment of the map at each score; scores with n = 0 are where it is asked for only."""
    scores, k, n = (np.asarray(v, dtype=float) for v in (scores, k, n))
    seen = scores[n > 0]
    log_stay = -lam * np.diff(scores) / (seen[-1] - seen[0])
    log_cut = np.log(-np.expm1(log_stay))
    total, mean, square = 0.0, np.zeros(len(scores)), np.zeros(len(scores))
    for cut in product((False, True), repeat=len(scores) - 1):
        edges = [0, *(np.flatnonzero(cut) + 1), len(scores)]
        log_score = np.where(cut, log_cut, log_stay).sum()
        first, second = np.empty(len(scores)), np.empty(len(scores))
        for start, end in pairwise(edges):
            a, b = k[start:end].sum() + alpha, (n - k)[start:end].sum() + beta
            log_score += betaln(a, b) - betaln(alpha, beta)
            first[start:end] = a / (a + b)
            second[start:end] = beta_distribution.moment(2, a, b)
        total += np.exp(log_score)
        mean += np.exp(log_score) * first
        square += np.exp(log_score) * second
    return mean / total, square / total, np.log(total)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 30.0, 1e4])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 3.0)])
def test_cells_and_gaps_equal_brute_force(lam, alpha, beta):
    calibrator = ABB(lam=lam, alpha=alpha, beta=beta).fit_tally(CELLS)
    exact, _ = average_binnings(calibrator._posterior)
    for extra in (0.1, 0.22, 0.3, 0.49, 0.6, 0.8999):
        everything = np.append(SCORES, extra)
        order = np.argsort(everything)
        k, n = np.append(POSITIVES, 0.0)[order], np.append(TOTALS, 0.0)[order]
        mean, _, evidence = brute_force(everything[order], k, n, lam, alpha, beta)
        np.testing.assert_allclose(exact(everything[order]), mean, rtol=0, atol=1e-12)
        np.testing.assert_allclose(calibrator.predict(everything[order]), mean, rtol=0, atol=1e-5)
        assert calibrator.evidence_ == pytest.approx(evidence, abs=1e-11)
    np.testing.assert_array_equal(calibrator.predict([-5.0, 0.05]), calibrator.predict([0.05, 0.05]))
    np.testing.assert_array_equal(calibrator.predict([0.9, 7.0]), calibrator.predict([0.9, 0.9]))


@pytest.mark.parametrize("lam", [0.5, 20.0])
def test_draws_have_the_exact_mean_and_variance(lam):
    at = np.sort(np.append(SCORES, [0.12, 0.4, 0.65]))
    k, n = np.zeros(len(at)), np.zeros(len(at))
    k[np.searchsorted(at, SCORES)], n[np.searchsorted(at, SCORES)] = POSITIVES, TOTALS
    mean, square, _ = brute_force(at, k, n, lam)
    draws = ABB(lam=lam).fit_tally(CELLS).sample_maps(at, n_draws=20_000, random_state=1)
    deviation = np.sqrt(square - mean**2)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=4.5 * deviation.max() / np.sqrt(20_000))
    np.testing.assert_allclose(draws.std(axis=0), deviation, rtol=0.03)


def test_steps_in_one_gap_by_hand():
    # One gap of width 1 and rate 1: at ½ the part from the right is (e^-½ − e^-1) / (1 − e^-1).
    mean = PosteriorMean(*(np.array(v) for v in ([0.0, 1.0], [1.0], [0.2], [[0.0]], [[0.6]])))
    half = (np.exp(-0.5) - np.exp(-1.0)) / (1.0 - np.exp(-1.0))
    np.testing.assert_allclose(mean(np.array([-1.0, 0.0, 0.5, 1.0])), [0.2, 0.2, 0.2 + 0.6 * half, 0.8], atol=1e-15)


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6], ids=str)
@pytest.mark.parametrize("rows", [5, 60, 900, 6000])
def test_the_table_keeps_its_distance_whatever_the_scale_of_the_scores(rows, scale):
    data = simulate.from_truth("hump", rows, rng=rows)
    calibrator = ABB().fit(scale * (data.scores - 0.3), data.labels)
    exact, _ = average_binnings(calibrator._posterior)
    cells = calibrator.cells_.scores
    shares = np.linspace(0.0, 1.0, 33)
    inside = (cells[:-1, None] + np.diff(cells)[:, None] * shares).ravel()
    assert np.abs(calibrator.predict(inside) - exact(inside)).max() < 1e-5
    assert len(calibrator.map_.function.x) < 2000


def test_a_gap_between_opposite_cells_is_not_taken_for_straight():
    # Low, the prior mean in the middle, high: the middle of the gap lies on the line between its ends.
    calibrator = ABB(lam=200.0).fit(np.repeat([0.0, 1.0], 50), np.repeat([0, 1], 50))
    exact, _ = average_binnings(calibrator._posterior)
    x = np.linspace(0.0, 1.0, 5001)
    assert abs(exact(np.array([0.25]))[0] - 0.5) < 0.01
    assert np.abs(calibrator.predict(x) - exact(x)).max() < 1e-5


def test_knots_include_the_turning_points_in_gaps():
    # Two distant groups of positives: between them the map sinks to the prior mean and rises again.
    calibrator = ABB(lam=30.0).fit([0.0, 0.01, 0.02, 0.98, 0.99, 1.0], [1, 1, 1, 1, 1, 1])
    knots = calibrator.map_.function.knots()
    x = np.linspace(0.02, 0.98, 2001)
    lowest = x[calibrator.predict(x).argmin()]
    assert np.abs(knots - lowest).min() < 1e-3
    assert calibrator.predict([lowest])[0] < 0.51
