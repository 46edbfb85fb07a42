import numpy as np
import pytest

from calibrant import metrics, simulate
from calibrant._limits import SWEEP_BINS


def brute_force(y, p):
    """Algorithm 1 of Roelofs et al. on distinct sorted scores."""
    order = np.argsort(p)
    y, p = y[order], p[order]
    chosen = [np.arange(len(y))]
    for b in range(2, len(y) + 1):
        groups = np.minimum(((np.arange(len(y)) + 0.5) / len(y) * b).astype(int), b - 1)
        parts = [np.flatnonzero(groups == g) for g in np.unique(groups)]
        if (np.diff([y[part].mean() for part in parts]) < 0).any():
            break
        chosen = parts
    return sum(len(part) / len(y) * abs(y[part].mean() - p[part].mean()) for part in chosen)


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_the_published_algorithm(seed):
    data = simulate.from_truth("underconfident", 90 + 13 * seed, rng=seed)
    ours = metrics.sweep_calibration_error(data.labels, data.scores)
    assert ours == pytest.approx(brute_force(data.labels, data.scores), abs=1e-12)


def test_separated_classes_use_every_score():
    p = np.linspace(0.01, 0.99, SWEEP_BINS + 50)
    y = p > 0.4
    assert metrics.sweep_calibration_error(y, p) == pytest.approx(np.abs(p - y).mean())


def test_nearly_separated_classes_end_in_time():
    p = np.linspace(0.01, 0.99, 20_000)
    y = p > 0.4
    y[[100, 101]] = True, False
    assert 0.0 < metrics.sweep_calibration_error(y, p) < 0.5


def test_finds_the_true_error_in_many_rows():
    data = simulate.from_truth("D1", 100_000, rng=3)
    found = metrics.sweep_calibration_error(data.tally)
    assert found == pytest.approx(simulate.TRUTHS["D1"].calibration_error(), abs=0.006)
