import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from calibrant import metrics
from calibrant.errors import InvalidInputError


def test_accuracy_counts_scores_above_the_threshold_as_positive():
    assert metrics.accuracy([0, 1, 1], [0.5, 0.6, 0.4]) == pytest.approx(2 / 3)
    assert metrics.accuracy([0, 1], [-2.0, 3.0], threshold=0.0) == 1.0


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
