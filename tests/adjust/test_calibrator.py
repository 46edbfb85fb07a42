import numpy as np
import pytest

from calibrant import BayesIso, IsotonicCalibration, metrics, simulate
from calibrant.adjust import AdjustedCalibrator, adjust_prior, adjust_sampling, anchor
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.decisions import posterior_decision_curve
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Identity, Sigmoid, Step
from calibrant.maps.score import CalibrationMap

SHIFT = CalibrationMap(Sigmoid(1.0, -1.0, "logit"), "probability", True, "shift")


class Band(BayesianCalibrator):
    """The identity with a posterior spread evenly over ±0.1."""

    def fit_map(self, tally):  # noqa: ARG002 - whatever the data say
        return CalibrationMap(Identity(), "probability", True, "Band")

    def sample_maps(self, scores, n_draws=100, random_state=0):  # noqa: ARG002 - the same draws every time
        return np.clip(np.asarray(scores) + np.linspace(-0.1, 0.1, n_draws)[:, None], 0, 1)

    def interval_ends(self, scores, level):
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


def adjust_in_every_way(calibrator, scores):
    return {
        "prior": adjust_prior(calibrator, 0.5, 0.1),
        "sampling": adjust_sampling(calibrator, negatives_kept=0.2),
        "anchor": anchor(calibrator, scores, 0.3),
        "twice": anchor(adjust_prior(calibrator, 0.5, 0.1), scores, 0.3),
    }


@pytest.mark.parametrize("way", ["prior", "sampling", "anchor", "twice"])
def test_every_adjustment_of_a_calibrator_keeps_its_posterior(way):
    data = simulate.from_truth("D1", 200)
    calibrator = BayesIso().fit(data.scores, data.labels)
    adjusted = adjust_in_every_way(calibrator, data.scores)[way]
    plain = adjust_in_every_way(calibrator.map_, data.scores)[way]
    np.testing.assert_allclose(adjusted.predict(data.scores), plain(data.scores))
    grid = np.linspace(0.1, 0.9, 5)
    low, high = adjusted.predict_interval(grid)
    assert (low < high).all()
    assert adjusted.sample_maps(grid, n_draws=9).shape == (9, 5)


def test_an_adjusted_posterior_serves_where_a_posterior_is_asked_for():
    data = simulate.from_truth("D1", 200)
    adjusted = adjust_prior(BayesIso().fit(data.scores, data.labels), data.tally.base_rate, 0.2)
    curve = posterior_decision_curve(adjusted, data.tally, thresholds=[0.1, 0.3])
    assert curve.base_rate == pytest.approx(adjusted.predict(data.scores).mean(), abs=0.03)
    assert metrics.metric_posterior(adjusted, data.tally, n_draws=20).mean > 0.1


@pytest.mark.parametrize("change", [lambda c: adjust_prior(c, 0.5, 0.1), lambda c: anchor(c, [0.2, 0.7], 0.3)])
def test_adjustments_refuse_calibrators_without_a_posterior(change):
    data = simulate.from_truth("D1", 50)
    with pytest.raises(InvalidInputError, match=r"calibrator.map_"):
        change(IsotonicCalibration().fit(data.scores, data.labels))
