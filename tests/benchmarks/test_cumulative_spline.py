import numpy as np
import pytest
from scipy.special import expit, logit

from benchmarks.papers.cumulative_spline import CumulativeSpline, cumulative_corrections
from calibrant import simulate


def test_follows_gupta():
    data = simulate.from_truth("underconfident", 20_000, rng=1)
    grid = np.linspace(0.1, 0.9, 9)
    p = CumulativeSpline().fit(data.scores, data.labels).predict(grid)
    np.testing.assert_allclose(p, expit(1.8 * logit(grid) + 0.3), atol=0.05)


def test_one_cell_moves_to_its_share_of_positives():
    added = cumulative_corrections(np.array([0.3]), np.array([2.0]), np.array([4.0]), 6)
    np.testing.assert_allclose(added, [0.2])


def test_calibrated_cells_stay():
    scores = np.linspace(0.1, 0.9, 30)
    added = cumulative_corrections(scores, 10.0 * scores, np.full(30, 10.0), 6)
    np.testing.assert_allclose(added, 0.0, atol=1e-12)


def test_a_linear_correction_is_recovered():
    # h' = 0.2 - 0.4 t, so h is a parabola, which a natural spline (straight at its ends) follows but near them.
    m = 400
    t = (np.arange(m) + 0.5) / m
    scores = t.copy()
    added = cumulative_corrections(scores, 5.0 * (scores + 0.2 - 0.4 * t), np.full(m, 5.0), 12)
    inner = (t > 0.15) & (t < 0.85)
    np.testing.assert_allclose(added[inner], (0.2 - 0.4 * t)[inner], atol=0.01)


def test_weights_are_rows():
    scores, positives = np.array([0.2, 0.5, 0.8]), np.array([1.0, 1.0, 2.0])
    one = cumulative_corrections(scores, positives, np.array([3.0, 2.0, 2.0]), 3)
    ten = cumulative_corrections(scores, 10.0 * positives, np.array([30.0, 20.0, 20.0]), 3)
    assert one == pytest.approx(ten)
