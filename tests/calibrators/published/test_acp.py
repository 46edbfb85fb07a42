import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import ACP, simulate
from calibrant.calibrators.published.acp import _own_intervals
from calibrant.errors import InvalidInputError


def test_by_hand():
    scores, y = [0.1, 0.2, 0.3, 0.5, 0.8], [0, 0, 1, 1, 1]
    at = np.array([0.12, 0.25, 0.45, 0.65, 1.0])
    # 0.25 ± 0.1 holds 0.2 and 0.3; 0.45 ± 0.1 holds 0.5 alone; 0.65 ± 0.1 holds nothing and takes 0.5 and 0.8.
    np.testing.assert_allclose(ACP().fit(scores, y).predict_between(at, at - 0.1, at + 0.1), [0.0, 0.5, 1.0, 1.0, 1.0])


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(1, 63), st.booleans()), min_size=1, max_size=20),
    st.floats(0.01, 0.4),
)
def test_values_and_map_equal_their_definition(rows, half):
    scores = np.array([k for k, _ in rows]) / 64.0
    y = np.array([hit for _, hit in rows])
    calibrator = ACP(level=1.0 - half).fit(scores, y)
    at = np.random.default_rng(0).random(50)
    for p, value in zip(at, calibrator.predict_between(at, at - half, at + half), strict=True):
        inside = np.abs(scores - p) <= half
        if inside.any():
            assert value == pytest.approx(y[inside].mean())
    x, *ends = _own_intervals(calibrator.cells_, 1.0 - half)
    lower, upper = (np.interp(at, x, end) for end in ends)
    np.testing.assert_allclose(calibrator.predict(at), calibrator.predict_between(at, lower, upper))


def test_an_interval_for_each_row():
    with pytest.raises(InvalidInputError, match="`upper` must have as many rows"):
        ACP().fit([0.1, 0.9], [0, 1]).predict_between([0.5], [0.4], [0.6, 0.7])


def test_recovers_a_smooth_truth_by_default():
    data = simulate.from_truth("underconfident", 20_000)
    at = np.linspace(0.1, 0.9, 17)
    found = ACP().fit(data.scores, data.labels).predict(at)
    assert np.abs(found - simulate.TRUTHS["underconfident"](at)).mean() < 0.04


def test_higher_levels_mean_wider_bins():
    data = simulate.from_truth("underconfident", 500)
    narrow, wide = (ACP(level=level).fit(data.scores, data.labels).map_.function for level in (0.5, 0.9999))
    assert np.abs(np.diff(wide.values)).mean() < np.abs(np.diff(narrow.values)).mean()
