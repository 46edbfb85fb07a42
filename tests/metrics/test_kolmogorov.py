import numpy as np
import pytest

from calibrant import metrics, simulate


def test_by_hand():
    # Running sums of p − y: .3, −.1, −.2.
    assert metrics.ks_calibration_error([0, 1, 1], [0.3, 0.6, 0.9]) == pytest.approx(0.1)


def test_agrees_with_running_sums_over_rows():
    data = simulate.from_truth("wave", 500, rng=0)
    order = np.argsort(data.scores)
    sums = np.cumsum((data.scores - data.labels)[order]) / 500
    assert metrics.ks_calibration_error(data.labels, data.scores) == pytest.approx(np.abs(sums).max())


def test_equals_the_mean_gap_when_all_scores_are_too_high():
    p = np.linspace(0.5, 0.9, 50)
    assert metrics.ks_calibration_error(np.zeros(50), p) == pytest.approx(p.mean())
