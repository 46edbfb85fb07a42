import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant._compiled.polyline import simplify


def test_a_line_needs_its_ends_and_a_corner_itself():
    x = np.arange(9.0)
    assert simplify(x, 2.0 * x, np.full(9, 1e-9)).tolist() == [0, 8]
    assert simplify(x, np.abs(x - 3.0), np.full(9, 1e-9)).tolist() == [0, 3, 8]


def test_a_parabola_gets_pieces_of_the_length_that_its_curvature_allows():
    # A chord of length h differs from x² by h²/4; with 0.01 allowed, h is at most 0.2.
    x = np.linspace(0.0, 1.0, 1001)
    kept = simplify(x, x**2, np.full(1001, 0.01 + 1e-9))
    assert len(kept) == 6
    assert np.diff(x[kept]).max() <= 0.2 + 1e-9


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=40), st.floats(1e-3, 2.0))
def test_no_point_is_missed_by_more_than_the_tolerance(y, tolerance):
    x = np.cumsum(np.linspace(0.5, 1.5, len(y)))
    kept = simplify(x, np.array(y), np.full(len(y), tolerance))
    assert kept[0] == 0
    assert kept[-1] == len(y) - 1
    assert np.abs(np.interp(x, x[kept], np.array(y)[kept]) - y).max() <= tolerance + 1e-9
