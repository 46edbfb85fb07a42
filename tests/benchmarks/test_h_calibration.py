"""The loss of h-calibration by hand, its gradient, and what its map finds."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # benchmarks are not installed

from benchmarks.arena.h_calibration import EventLoss, HCalibration
from calibrant._numerics.links import softmax

P = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]])
Y = np.array([0, 1])


def test_each_probability_by_itself():
    """Without class 0 the second row is left, without class 1 the first, without class 2 both."""
    without_0, without_1 = (0.2 + 0.3 + 0.1) / 3, (0.4 + 0.3 + 0.1) / 3
    without_2 = (0.6 + 0.8) / 6
    loss, _ = EventLoss(window=0, clusters=1)(P, Y)
    assert loss == pytest.approx((without_0 + without_1 + without_2) / 3)


def test_windows_and_clusters_by_hand():
    """Gaps of p less outcome in the order of p, summed over three neighbours; the largest p is a cluster of its own."""
    without_0 = (abs(0.1 + 0.2) + abs(0.1 + 0.2 - 0.3)) / 3 / 2 + abs(0.2 - 0.3) / 3
    without_1 = (abs(0.1 + 0.3) + abs(0.1 + 0.3 - 0.4)) / 3 / 2 + abs(0.3 - 0.4) / 3
    low = [0.1 + 0.1, 0.1 + 0.1 + 0.2, 0.1 + 0.2 + 0.3, 0.2 + 0.3 - 0.4]
    high = [0.3 - 0.4 - 0.3, -0.4 - 0.3]
    without_2 = np.abs(low).mean() / 3 + np.abs(high).mean() / 3
    loss, _ = EventLoss(window=2, clusters=2)(P, Y)
    assert loss == pytest.approx((without_0 + without_1 + without_2) / 2 / 3)


def test_gradient_is_the_slope_of_the_loss():
    rng = np.random.default_rng(0)
    p, y = softmax(rng.normal(size=(20, 4))), rng.integers(0, 4, 20)
    change = rng.normal(size=p.shape)
    change -= change.mean(axis=1, keepdims=True)
    _, gradient = EventLoss(window=6, clusters=3)(p, y)
    step = 1e-7
    losses = [EventLoss(window=6, clusters=3)(p + sign * step * change, y)[0] for sign in (1, -1)]
    assert (losses[0] - losses[1]) / (2 * step) == pytest.approx((gradient * change).sum(), rel=1e-5)


def test_finds_the_temperature_of_overconfident_rows():
    rng = np.random.default_rng(1)
    logits = 1.5 * rng.normal(size=(1000, 3))
    truth, stated = softmax(logits), softmax(2.5 * logits)
    labels = (rng.random((1000, 1)) > truth.cumsum(axis=1)).sum(axis=1)
    found = HCalibration().fit(stated, labels).predict_proba(stated)
    assert np.abs(found - truth).mean() < 0.2 * np.abs(stated - truth).mean()
    assert np.array_equal(found.argmax(axis=1), stated.argmax(axis=1))
