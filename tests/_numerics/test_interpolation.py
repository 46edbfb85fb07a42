import numpy as np

from calibrant._numerics.interpolation import interpolate

TINY = 5e-324  # the smallest double above 0


def test_lines_by_hand():
    got = interpolate(np.array([-1.0, 0.25, 1.0, 9.0]), np.array([0.0, 1.0]), np.array([2.0, 4.0]))
    np.testing.assert_array_equal(got, [2.0, 2.5, 4.0, 4.0])


def test_a_slope_that_overflows_leaves_the_nearest_point():
    x, y = np.array([0.0, 2 * TINY, 4 * TINY, 0.5]), np.array([1.0, 3.0, 2.0, 8.0])
    got = interpolate(np.array([TINY, 2 * TINY, 3 * TINY, 0.25]), x, y)
    assert not np.isfinite(np.interp(3 * TINY, x, y))
    np.testing.assert_allclose(got, [1.0, 3.0, 3.0, 5.0])
