import numpy as np
import pytest

from calibrant import IsotonicCalibration, simulate
from calibrant.adjusted import AdjustedCalibrator
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.errors import InvalidInputError
from calibrant.map_functions import Identity, Sigmoid, Step
from calibrant.maps import CalibrationMap

SHIFT = CalibrationMap(Sigmoid(1.0, -1.0, "logit"), "probability", True, "shift")


class Band(BayesianCalibrator):
    """The identity with a posterior spread evenly over ±0.1."""

    def fit_map(self, tally):  # noqa: ARG002 - whatever the data say
        return CalibrationMap(Identity(), "probability", True, "Band")

    def sample_maps(self, scores, n_draws=100, random_state=0):  # noqa: ARG002 - the same draws every time
        return np.clip(np.asarray(scores) + np.linspace(-0.1, 0.1, n_draws)[:, None], 0, 1)

    def predict_interval(self, scores, level=0.9):
        return np.asarray(scores) - 0.1 * level, np.asarray(scores) + 0.1 * level


def test_interval_and_draws_go_through_the_adjustment():
    data = simulate.from_truth("D1", 50)
    adjusted = AdjustedCalibrator(Band().fit(data.scores, data.labels), SHIFT)
    low, high = adjusted.predict_interval([0.3, 0.6], level=0.5)
    np.testing.assert_allclose(low, SHIFT([0.25, 0.55]))
    np.testing.assert_allclose(high, SHIFT([0.35, 0.65]))
    np.testing.assert_allclose(adjusted.predict([0.3]), SHIFT([0.3]))
    draws = adjusted.sample_maps([0.3, 0.6], n_draws=4001)
    assert draws.shape == (4001, 2)
    np.testing.assert_allclose(np.quantile(draws, [0.25, 0.75], axis=0), [low, high], atol=1e-4)
    assert adjusted.map_([0.3])[0] == pytest.approx(SHIFT([0.3])[0])


def test_refuses_calibrators_without_a_posterior_and_maps_that_fall():
    data = simulate.from_truth("D1", 50)
    with pytest.raises(InvalidInputError, match="Bayesian"):
        AdjustedCalibrator(IsotonicCalibration().fit(data.scores, data.labels), SHIFT)
    with pytest.raises(InvalidInputError, match="fitted"):
        AdjustedCalibrator(Band(), SHIFT)
    falling = CalibrationMap(Step([0.5], [0.8, 0.2]), "probability", False)
    with pytest.raises(InvalidInputError, match="never decrease"):
        AdjustedCalibrator(Band().fit(data.scores, data.labels), falling)
