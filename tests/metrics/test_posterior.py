from functools import partial

import numpy as np
import pytest

from calibrant import IsotonicCalibration, Tally, metrics, simulate
from calibrant.errors import InvalidInputError


class Draws:
    """A posterior of lines s + shift."""

    def predict(self, scores):
        return np.clip(scores + 0.1, 0, 1)

    def sample_maps(self, scores, n_draws=100, random_state=0):
        shifts = np.random.default_rng(random_state).normal(0.1, 0.01, n_draws)
        return np.clip(scores + shifts[:, None], 0, 1)


def test_the_default_is_the_mean_distance_to_each_map():
    tally = Tally.from_arrays([0.2, 0.4, 0.4, 0.6], [0, 1, 0, 1])
    shifts = np.random.default_rng(3).normal(0.1, 0.01, 500)
    found = metrics.metric_posterior(Draws(), tally, n_draws=500, rng=3)
    assert found.value == pytest.approx(np.abs(shifts).mean(), abs=1e-12)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(shifts, [0.05, 0.95])), abs=1e-12)


def test_takes_any_metric():
    tally = Tally.from_arrays([0.2, 0.6], [0, 1])
    brier = metrics.metric_posterior(Draws(), tally, metrics.brier_score, n_draws=5)
    assert brier.low > 0.19
    ece = metrics.metric_posterior(Draws(), tally, partial(metrics.expected_calibration_error, n_bins=2), n_draws=5)
    assert ece.value == pytest.approx(metrics.metric_posterior(Draws(), tally, n_draws=5).value)


def test_many_scores_are_coarsened():
    found = metrics.metric_posterior(Draws(), simulate.from_truth("asymmetric", 50_000).tally, n_draws=20)
    assert found.value == pytest.approx(0.1, abs=0.02)


def test_refuses_calibrators_without_a_posterior():
    with pytest.raises(InvalidInputError, match="IsotonicCalibration has none"):
        metrics.metric_posterior(IsotonicCalibration(), Tally.from_arrays([0.2, 0.6], [0, 1]))
