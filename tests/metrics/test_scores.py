import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk
from sklearn.metrics import roc_auc_score

from calibrant import Tally, metrics, simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics import brier_skill_score


def test_by_hand():
    assert metrics.brier_score([1, 0], [0.8, 0.4]) == pytest.approx((0.04 + 0.16) / 2)
    assert metrics.log_loss([1, 0], [0.8, 0.4]) == pytest.approx(-(np.log(0.8) + np.log(0.6)) / 2)


def test_log_loss_is_finite_where_the_impossible_happens():
    worst = -np.log(np.finfo(float).eps)
    assert metrics.log_loss([1, 0], [0.0, 1.0]) == pytest.approx(worst, rel=1e-9)
    assert metrics.log_loss([0, 1], [0.0, 1.0]) == pytest.approx(0.0, abs=1e-15)


def test_probabilities_next_to_one_keep_their_losses():
    """Naive Bayes gives thousands of them; a wrong one costs 28 or 35 nats by digits that rounding would take."""
    rng = np.random.default_rng(0)
    logits = rng.normal(0.0, 15.0, 2000)
    p = 1.0 / (1.0 + np.exp(-logits))
    y = rng.random(2000) < 1.0 / (1.0 + np.exp(-logits / 5.0))
    assert metrics.log_loss(y, p) == pytest.approx(sk.log_loss(y, p), rel=1e-9)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.floats(0.001, 0.999), st.integers(0, 1), st.floats(0.1, 5)), min_size=1, max_size=40))
def test_agree_with_scikit_learn(rows):
    p, y, w = (np.array(column) for column in zip(*rows, strict=True))
    assert metrics.brier_score(y, p, sample_weight=w) == pytest.approx(np.average((y - p) ** 2, weights=w))
    expected = sk.log_loss(y, p, sample_weight=w, labels=[0, 1])
    assert metrics.log_loss(y, p, sample_weight=w) == pytest.approx(expected, rel=1e-9)


def test_decomposition_by_hand():
    # Isotonic values 0, .5, .5, 1: their Brier score is .125; the base rate's is .25.
    parts = metrics.corp_decomposition([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.9])
    assert parts.discrimination == pytest.approx(0.125)
    assert parts.uncertainty == pytest.approx(0.25)
    assert parts.miscalibration == pytest.approx(parts.score - 0.125)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.booleans(), st.floats(0.1, 4)), min_size=1, max_size=30),
    st.sampled_from(["brier", "log"]),
)
def test_parts_add_up_and_are_not_negative(rows, loss):
    millionths, y, w = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    parts = metrics.corp_decomposition(y, millionths / 1e6, loss=loss, sample_weight=w)
    assert parts.score == pytest.approx(parts.miscalibration - parts.discrimination + parts.uncertainty)
    assert min(parts.miscalibration, parts.discrimination, parts.uncertainty) >= -1e-9


def test_takes_any_proper_score():
    def spherical(label, p):
        return 1 - np.where(label == 1.0, p, 1 - p) / np.hypot(p, 1 - p)

    parts = metrics.corp_decomposition([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.9], loss=spherical)
    assert parts.miscalibration > 0.0
    assert parts.uncertainty == pytest.approx(1 - np.sqrt(0.5))


def test_refuses_unknown_or_infinite_losses():
    with pytest.raises(InvalidInputError, match="`loss` must be one of brier, log; got 'hinge'"):
        metrics.corp_decomposition([0, 1], [0.2, 0.4], loss="hinge")
    with pytest.raises(InvalidInputError, match="finite"):
        metrics.corp_decomposition([0, 1], [0.2, 0.4], loss=lambda _, p: np.full(len(p), np.inf))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1), st.floats(0.1, 5)), min_size=2, max_size=40))
def test_auc_agrees_with_scikit_learn_on_ties_and_weights(rows):
    p, y, w = (np.array(column) for column in zip(*rows, strict=True))
    if y.min() < y.max():
        expected = roc_auc_score(y, p, sample_weight=w)
        assert metrics.roc_auc(y, p, sample_weight=w) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("y", "word"), [([1, 1], "all"), ([0, 0], "none")])
def test_auc_of_one_class_is_refused(y, word):
    with pytest.raises(InvalidInputError, match=f"both classes; got 1 class, {word}"):
        metrics.roc_auc(y, [0.2, 0.8])


def test_several_classes_are_measured_as_a_whole():
    y, p = [0, 1, 2], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    assert metrics.log_loss(y, p) == pytest.approx(np.log(2.0))
    assert metrics.brier_score(y, p, sample_weight=[1, 2, 0]) == pytest.approx(0.375)


def test_skill_by_hand():
    # Brier (.01 + .04 + .09 + .04) / 4 = .045; always saying 1/4 gives 3/16.
    assert brier_skill_score([0, 0, 0, 1], [0.1, 0.2, 0.3, 0.8]) == pytest.approx(1 - 0.045 / 0.1875)


def test_references_of_every_kind():
    data = simulate.from_truth("D1", 400)
    loss = np.mean((data.labels - data.scores) ** 2)
    assert brier_skill_score(data.tally, reference=0.3) == pytest.approx(1 - loss / np.mean((data.labels - 0.3) ** 2))
    other = data.scores**2
    expected = 1 - loss / np.mean((data.labels - other) ** 2)
    assert brier_skill_score(
        data.labels, data.scores, reference=Tally.from_arrays(other, data.labels)
    ) == pytest.approx(expected)
    assert brier_skill_score(data.labels, data.scores, reference=data.tally) == 0.0


def test_weights_reach_the_reference():
    weights, y = np.array([2, 1, 3]), np.array([0, 1, 1])
    p, other = np.array([0.2, 0.6, 0.7]), np.array([0.5, 0.4, 0.9])
    many_y, many_p, many_other = (np.repeat(column, weights) for column in (y, p, other))
    repeated = brier_skill_score(many_y, many_p, reference=Tally.from_arrays(many_other, many_y))
    assert brier_skill_score(
        y, p, reference=Tally.from_arrays(other, y, weights), sample_weight=weights
    ) == pytest.approx(repeated)


def test_refuses_references_without_error_or_rows():
    with pytest.raises(InvalidInputError, match="make some error"):
        brier_skill_score([1, 1], [0.5, 0.6])
    with pytest.raises(InvalidInputError, match="must be a tally, or a number"):
        brier_skill_score(Tally.from_arrays([0.1, 0.9], [0, 1]), reference=[0.1, 0.9])
    with pytest.raises(InvalidInputError, match=r"number from 0 to 1; got 1\.5"):
        brier_skill_score([0, 1], [0.5, 0.6], reference=1.5)
