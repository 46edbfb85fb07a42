import numpy as np
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

from calibrant.errors import InvalidInputError
from calibrant.metrics import matrix_measures as measures
from calibrant.metrics import scores


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
        assert measures.matrix_log_loss(y, p, sample_weight=w) == pytest.approx(log_loss(y, p, sample_weight=w))
        expected = accuracy_score(y, p.argmax(axis=1), sample_weight=w)
        assert measures.matrix_accuracy(y, p, sample_weight=w) == pytest.approx(expected)


def test_scikit_learn_agrees_about_the_brier_score(data):
    pytest.importorskip("sklearn", minversion="1.7", reason="its Brier score was for two classes before")
    y, p, weights = data
    for w in (None, weights):
        expected = brier_score_loss(y, p, sample_weight=w)
        assert measures.matrix_brier_score(y, p, sample_weight=w) == pytest.approx(expected)


def test_two_classes_agree_with_the_binary_scores():
    y, p = np.array([0, 1, 1, 0]), np.array([0.2, 0.9, 0.4, 0.5])
    matrix = np.column_stack((1.0 - p, p))
    assert measures.matrix_log_loss(y, matrix) == pytest.approx(scores.log_loss(y, p))
    assert measures.matrix_brier_score(y, matrix) == pytest.approx(2.0 * scores.brier_score(y, p))


def test_an_impossible_class_costs_much_but_not_infinitely_much():
    assert measures.matrix_log_loss([0, 1, 2], np.roll(np.eye(3), 1, axis=0)) == pytest.approx(36.04, abs=0.01)


def test_a_weight_of_two_is_a_row_twice(data):
    y, p, _ = data
    twice = np.r_[np.arange(200), np.arange(50)]
    weights = np.where(np.arange(200) < 50, 2.0, 1.0)
    for measure in (measures.matrix_log_loss, measures.matrix_brier_score, measures.matrix_accuracy):
        assert measure(y, p, sample_weight=weights) == pytest.approx(measure(y[twice], p[twice]))


@pytest.mark.parametrize("loss", ["log", "brier"])
def test_the_parts_add_up_and_the_identity_has_no_miscalibration(data, loss):
    y, p, weights = data
    better = 0.9 * p + 0.025
    parts = measures.matrix_decomposition(y, p, better, loss=loss, sample_weight=weights)
    assert parts.score == pytest.approx(parts.miscalibration - parts.discrimination + parts.uncertainty)
    assert measures.matrix_decomposition(y, p, p, loss=loss).miscalibration == 0.0


def test_uncertainty_by_hand():
    """Class shares ½, ¼, ¼: entropy 1.5 ln 2 in nats, and 1 − Σ shares² for Brier."""
    y, p = [0, 0, 1, 2], np.full((4, 3), 1 / 3)
    assert measures.matrix_decomposition(y, p, p).uncertainty == pytest.approx(1.5 * np.log(2.0))
    assert measures.matrix_decomposition(y, p, p, loss="brier").uncertainty == pytest.approx(1 - 3 / 8)


def test_rows_must_sum_to_one_and_lengths_agree(data):
    y, p, _ = data
    with pytest.raises(InvalidInputError, match="rows sum to 1"):
        measures.matrix_log_loss(y, 2.0 * p)
    with pytest.raises(InvalidInputError, match="`y_true` must have as many rows"):
        measures.matrix_log_loss(y[:-1], p)
    with pytest.raises(InvalidInputError, match="`loss` must be one of log, brier"):
        measures.matrix_decomposition(y, p, p, loss="hinge")
