import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import metrics
from calibrant.errors import InvalidInputError


def test_by_hand():
    # Isotonic values 0, .5, .5, 1: their Brier score is .125; the base rate's is .25.
    parts = metrics.corp_decomposition([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.9])
    assert parts.discrimination == pytest.approx(0.125)
    assert parts.uncertainty == pytest.approx(0.25)
    assert parts.miscalibration == pytest.approx(parts.score - 0.125)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.floats(0.1, 4)), min_size=1, max_size=30),
    st.sampled_from(["brier", "log"]),
)
def test_parts_add_up_and_are_not_negative(rows, loss):
    p, y, w = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    parts = metrics.corp_decomposition(y, p, loss=loss, sample_weight=w)
    assert parts.score == pytest.approx(parts.miscalibration - parts.discrimination + parts.uncertainty)
    assert min(parts.miscalibration, parts.discrimination, parts.uncertainty) >= -1e-9


def test_takes_any_proper_score():
    def spherical(label, p):
        return 1 - np.where(label == 1.0, p, 1 - p) / np.hypot(p, 1 - p)

    parts = metrics.corp_decomposition([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.9], loss=spherical)
    assert parts.miscalibration > 0.0
    assert parts.uncertainty == pytest.approx(1 - np.sqrt(0.5))


def test_refuses_unknown_or_infinite_losses():
    with pytest.raises(InvalidInputError, match="brier or log"):
        metrics.corp_decomposition([0, 1], [0.2, 0.4], loss="hinge")
    with pytest.raises(InvalidInputError, match="finite"):
        metrics.corp_decomposition([0, 1], [0.2, 0.4], loss=lambda _, p: np.full(len(p), np.inf))
