import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from calibrant import metrics


def test_by_hand():
    assert metrics.brier_score([1, 0], [0.8, 0.4]) == pytest.approx((0.04 + 0.16) / 2)
    assert metrics.root_mean_squared_error([1, 0], [0.8, 0.4]) == pytest.approx(np.sqrt(0.1))
    assert metrics.log_loss([1, 0], [0.8, 0.4]) == pytest.approx(-(np.log(0.8) + np.log(0.6)) / 2)


def test_log_loss_is_finite_where_the_impossible_happens():
    worst = -np.log(np.finfo(float).eps)
    assert metrics.log_loss([1, 0], [0.0, 1.0]) == pytest.approx(worst, rel=1e-9)
    assert metrics.log_loss([0, 1], [0.0, 1.0]) == pytest.approx(0.0, abs=1e-15)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.floats(0.001, 0.999), st.integers(0, 1), st.floats(0.1, 5)), min_size=1, max_size=40))
def test_agree_with_scikit_learn(rows):
    p, y, w = (np.array(column) for column in zip(*rows, strict=True))
    assert metrics.brier_score(y, p, sample_weight=w) == pytest.approx(np.average((y - p) ** 2, weights=w))
    expected = sk.log_loss(y, p, sample_weight=w, labels=[0, 1])
    assert metrics.log_loss(y, p, sample_weight=w) == pytest.approx(expected, rel=1e-9)
