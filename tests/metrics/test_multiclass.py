import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import brier_score_loss, log_loss

from calibrant import metrics, simulate
from calibrant.errors import InvalidInputError

P = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]


def test_by_hand():
    assert metrics.top_label_calibration_error([0, 1, 2], P) == pytest.approx((0.2 + 0.2 + 0.4) / 3)
    assert metrics.top_label_calibration_error([1, 1, 2], P, metric=metrics.brier_score) == pytest.approx(0.84 / 3)
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
        assert metric(data.labels, data.probabilities) < 0.5 * metric(data.labels, softmax(data.scores, axis=1))


def test_bad_input_is_refused():
    with pytest.raises(InvalidInputError, match="sum to 1"):
        metrics.top_label_calibration_error([0, 1], [[0.5, 0.4, 0.4], [0.2, 0.2, 0.6]])
    with pytest.raises(InvalidInputError, match="as many rows"):
        metrics.top_label_calibration_error([0, 1], P)
    with pytest.raises(InvalidInputError, match="distinct labels"):
        metrics.top_label_calibration_error(["a", "b", "b"], P)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.3, 0.5, 0.7, 1.0], size=200)
    p[:3] = np.eye(4)[:3]  # exact zeros
    y = np.array([rng.choice(4, p=row) for row in p])
    return y, p, rng.random(200)


def test_scikit_learn_agrees(data):
    y, p, weights = data
    for w in (None, weights):
        assert metrics.log_loss(y, p, sample_weight=w) == pytest.approx(log_loss(y, p, sample_weight=w))


def test_scikit_learn_agrees_about_the_brier_score(data):
    pytest.importorskip("sklearn", minversion="1.7", reason="its Brier score was for two classes before")
    y, p, weights = data
    for w in (None, weights):
        expected = brier_score_loss(y, p, sample_weight=w)
        assert metrics.brier_score(y, p, sample_weight=w) == pytest.approx(expected)


def test_an_impossible_class_costs_much_but_not_infinitely_much():
    assert metrics.log_loss([0, 1, 2], np.roll(np.eye(3), 1, axis=0)) == pytest.approx(36.04, abs=0.01)


def test_a_weight_of_two_is_a_row_twice(data):
    y, p, _ = data
    twice = np.r_[np.arange(200), np.arange(50)]
    weights = np.where(np.arange(200) < 50, 2.0, 1.0)
    for measure in (metrics.log_loss, metrics.brier_score):
        assert measure(y, p, sample_weight=weights) == pytest.approx(measure(y[twice], p[twice]))


def test_rows_must_sum_to_one_and_lengths_agree(data):
    y, p, _ = data
    with pytest.raises(InvalidInputError, match="rows sum to 1"):
        metrics.log_loss(y, 2.0 * p)
    with pytest.raises(InvalidInputError, match="`y_true` must have as many rows"):
        metrics.log_loss(y[:-1], p)
