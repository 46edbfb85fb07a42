import numpy as np
import pytest
from scipy.special import softmax

from calibrant import metrics, simulate
from calibrant.errors import InvalidInputError

P = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]


def test_by_hand():
    assert metrics.top_label_calibration_error([0, 1, 2], P) == pytest.approx((0.2 + 0.2 + 0.4) / 3)
    assert metrics.top_label_calibration_error([1, 1, 2], P, metric=metrics.accuracy) == pytest.approx(2 / 3)
    brier = metrics.class_wise_calibration_error([0, 1, 2], P, metric=metrics.brier_score)
    assert brier == pytest.approx(np.mean((np.eye(3) - P) ** 2))


def test_names_of_classes_are_sorted_and_options_passed_on():
    words = metrics.class_wise_calibration_error(["a", "b", "c"], P, n_bins=3, strategy="quantile")
    assert words == metrics.class_wise_calibration_error([0, 1, 2], P, n_bins=3, strategy="quantile")
    weighted = metrics.top_label_calibration_error([0, 1, 2], P, sample_weight=[1, 1, 2])
    assert weighted == pytest.approx((0.2 + 0.2 + 0.8) / 4)


def test_the_true_temperature_has_the_smaller_error():
    data = simulate.temperature_logits(5000, temperature=2.0, rng=0)
    for metric in (metrics.top_label_calibration_error, metrics.class_wise_calibration_error):
        assert metric(data.labels, data.probabilities) < 0.5 * metric(data.labels, softmax(data.logits, axis=1))


def test_bad_input_is_refused():
    with pytest.raises(InvalidInputError, match="sum to 1"):
        metrics.top_label_calibration_error([0, 1], [[0.5, 0.4, 0.4], [0.2, 0.2, 0.6]])
    with pytest.raises(InvalidInputError, match="as many rows"):
        metrics.top_label_calibration_error([0, 1], P)
    with pytest.raises(InvalidInputError, match="distinct labels"):
        metrics.top_label_calibration_error(["a", "b", "b"], P)
