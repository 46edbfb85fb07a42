import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calibrant._numerics import doubles


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_order_is_kept(a, b):
    x, y = doubles.ordinal(np.array([a + 0.0, b + 0.0]))
    assert (x < y) == (a < b)
    assert (x == y) == (a == b)


@given(st.floats(allow_nan=False))
def test_round_trip(a):
    assert doubles.from_ordinal(doubles.ordinal(np.array([a]))).tolist() == [a]


def test_neighbours_differ_by_one():
    x = np.array([1.5, -2.25, 0.0])
    assert (doubles.ordinal(np.nextafter(x, np.inf)) - doubles.ordinal(x)).tolist() == [1, 1, 1]
