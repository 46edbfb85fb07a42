import numpy as np
import pytest

from calibrant import IsotonicCalibration, PlattScaling, simulate
from calibrant._numerics import links
from calibrant.adjust import adjust_prior, attributions
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Sigmoid
from calibrant.maps.score import CalibrationMap

AFFINE = CalibrationMap(Sigmoid(0.6, -0.8, "logit"), "probability", True, "affine")


def explained(seed=0, n=50):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)), 0.3


def test_exact_where_the_map_is_affine_on_the_logit_scale():
    values, base = explained()
    rescaled, new_base = attributions(values, base, AFFINE)
    np.testing.assert_allclose(rescaled, 0.6 * values, atol=1e-9)
    np.testing.assert_allclose(new_base, 0.6 * 0.3 - 0.8, atol=1e-9)


def test_exact_for_a_linear_model_and_its_calibration():
    """The attributions of a linear model are those of its calibrated logits, computed from features."""
    rng = np.random.default_rng(0)
    features, weights = rng.normal(size=(200, 3)), np.array([1.0, -2.0, 0.5])
    logits = features @ weights
    y = rng.random(200) < links.expit(0.7 * logits - 0.4)
    map_ = adjust_prior(PlattScaling().fit(links.expit(logits), y).map_, 0.4, 0.1)
    mean = features.mean(axis=0)
    rescaled, base = attributions((features - mean) * weights, mean @ weights, map_)
    calibrated = links.logit(map_(links.expit(logits)))
    slope = np.polyfit(logits, calibrated, 1)[0]
    np.testing.assert_allclose(rescaled, slope * (features - mean) * weights, atol=1e-7)
    np.testing.assert_allclose(base + rescaled.sum(axis=1), calibrated, atol=1e-7)


@pytest.mark.parametrize("space", ["logit", "probability"])
def test_sums_are_the_calibrated_output_for_any_map(space):
    data = simulate.from_truth("D1", 500)
    map_ = IsotonicCalibration().fit(data.scores, data.labels).map_
    values, _ = explained()
    values = values if space == "logit" else 0.1 * values
    base = 0.0 if space == "logit" else 0.5
    rescaled, new_base = attributions(values, base, map_, space=space)
    output = base + values.sum(axis=1)
    expected = links.logit(map_(links.expit(output))) if space == "logit" else map_(output)
    np.testing.assert_allclose(new_base + rescaled.sum(axis=1), expected, atol=1e-9)
    factors = rescaled / values
    assert np.ptp(factors, axis=1) == pytest.approx(0, abs=1e-9)
    assert (factors > -1e-9).all()  # a map that rises keeps the signs


def test_attributions_that_cancel_get_the_slope_at_the_base():
    rescaled, base = attributions([[1.0, -1.0]], 0.3, AFFINE)
    np.testing.assert_allclose(rescaled, [[0.6, -0.6]], atol=1e-9)
    assert base.shape == (1,)
    rescaled, _ = attributions(
        [[0.1, -0.1]], 1.0, CalibrationMap(Sigmoid(1.0, 0.0, "logit"), "probability", True), space="probability"
    )
    np.testing.assert_allclose(rescaled, [[0.1, -0.1]], atol=1e-3)


def test_a_base_for_each_row():
    values, _ = explained(n=3)
    _, base = attributions(values, [0.0, 1.0, 2.0], AFFINE)
    np.testing.assert_allclose(base, [-0.8, -0.2, 0.4], atol=1e-9)


@pytest.mark.parametrize(
    ("values", "base", "options"),
    [
        ([1.0], 0.0, {}),
        ([[3.0]], 0.5, {"space": "probability"}),
        ([[1.0]], [0.0, 1.0], {}),
        ([[np.nan]], 0.0, {}),
        ([[1.0]], 0.0, {"space": "odds"}),
    ],
)
def test_refuses_what_is_no_explanation(values, base, options):
    with pytest.raises(InvalidInputError):
        attributions(values, base, AFFINE, **options)
