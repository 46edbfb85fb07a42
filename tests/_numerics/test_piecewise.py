import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from calibrant._numerics.piecewise import interpolate, nearest_monotone, straight_pieces

TINY = 5e-324  # the smallest double above 0


def test_lines_by_hand():
    got = interpolate(np.array([-1.0, 0.25, 1.0, 9.0]), np.array([0.0, 1.0]), np.array([2.0, 4.0]))
    np.testing.assert_array_equal(got, [2.0, 2.5, 4.0, 4.0])


def test_a_slope_that_overflows_leaves_the_nearest_point():
    x, y = np.array([0.0, 2 * TINY, 4 * TINY, 0.5]), np.array([1.0, 3.0, 2.0, 8.0])
    got = interpolate(np.array([TINY, 2 * TINY, 3 * TINY, 0.25]), x, y)
    assert not np.isfinite(np.interp(3 * TINY, x, y))
    np.testing.assert_allclose(got, [1.0, 3.0, 3.0, 5.0])


def test_nearest_monotone_by_hand():
    np.testing.assert_array_equal(nearest_monotone(np.array([1.0, 3.0, 2.0, 4.0])), [1.0, 2.5, 2.5, 4.0])


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=20), st.lists(st.floats(-10, 10), min_size=20, max_size=20))
def test_nearest_monotone_rises_and_no_rising_truth_gets_farther_away(values, truth):
    y = np.array(values)
    risen = nearest_monotone(y)
    assert (np.diff(risen) >= 0.0).all()
    np.testing.assert_array_equal(nearest_monotone(risen), risen)
    rising = np.sort(truth[: len(y)])
    assert np.abs(risen - rising).max() <= np.abs(y - rising).max() + 1e-12


@pytest.mark.parametrize("curve", [np.sin, lambda z: 0.05 * z**3, lambda z: z, lambda z: 3.0 * np.tanh(4.0 * z)])
def test_straight_pieces_keep_the_promised_error(curve):
    x = np.linspace(-6.0, 6.0, 1201)
    px, py = straight_pieces(x, curve(x), np.array([-6.0, 0.0, 6.0]))
    assert (px[0], px[-1]) == (-6.0, 6.0)
    assert (np.diff(px) > 0.0).all()
    fine = np.linspace(-6.0, 6.0, 30_001)
    followed, exact = np.interp(fine, px, py), curve(fine)
    assert np.abs(expit(followed) - expit(exact)).max() < 2e-6  # the nodes' cubic spline has an error of its own
    assert np.abs(followed - exact).max() < 2e-3


def test_nodes_that_nearly_coincide_do_no_harm():
    # As where two sets of knots share a point but for rounding; a spline through both would swing.
    x = np.linspace(-3.0, 3.0, 301)
    x = np.sort(np.concatenate((x, np.nextafter(x[5:-5:7], 9.0), [np.nextafter(3.0, 0.0)])))
    px, py = straight_pieces(x, np.sin(x) + np.tile([0.0, 1e-13], len(x))[: len(x)], np.array([-3.0, 3.0]))
    fine = np.linspace(-3.0, 3.0, 9001)
    assert np.abs(np.interp(fine, px, py) - np.sin(fine)).max() < 1e-5
    assert (px[0], px[-1]) == (-3.0, 3.0)


def test_a_straight_line_needs_no_points_between_breaks():
    x = np.linspace(0.0, 1.0, 9)
    px, _ = straight_pieces(x, 2.0 * x, np.array([0.0, 1.0]))
    assert len(px) <= 3


def test_a_bend_at_a_break_stays_sharp():
    x = np.linspace(-1.0, 1.0, 41)
    px, py = straight_pieces(x, np.abs(x), np.array([-1.0, 0.0, 1.0]))
    np.testing.assert_allclose(np.interp([-0.01, 0.0, 0.01], px, py), [0.01, 0.0, 0.01], atol=1e-9)
