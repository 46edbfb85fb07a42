import numpy as np
import pytest

from calibrant._numerics.bins import weighted_quantiles
from calibrant.multiclass.features import Curve


def test_curves_have_neither_constant_nor_line_and_unit_variance():
    curve = Curve.over([-6.0, -3.0, -2.0, -0.5, 0.0])
    ones = np.ones(5)
    assert curve.size == 3
    np.testing.assert_allclose(ones @ curve.values, 0.0, atol=1e-12)
    np.testing.assert_allclose(curve.knots @ curve.values, 0.0, atol=1e-12)
    assert (curve.values**2).sum(axis=1).mean() == pytest.approx(1.0)


def test_prior_is_gaussian_in_second_divided_differences():
    knots = np.array([-6.0, -3.0, -2.0, -0.5, 0.0])
    covariance = Curve.over(knots).values @ Curve.over(knots).values.T
    slopes = np.diff(np.eye(5), axis=0) / np.diff(knots)[:, None]
    stretch = 0.5 * (np.diff(knots)[:-1] + np.diff(knots)[1:])
    bends = np.diff(slopes, axis=0) / np.sqrt(stretch)[:, None]
    spread = bends @ covariance @ bends.T
    np.testing.assert_allclose(spread / spread[0, 0], np.eye(3), atol=1e-10)


def test_evaluation_is_linear_interpolation_and_constant_beyond():
    curve = Curve.over([0.0, 1.0, 2.5, 3.0]).with_line()
    x = np.array([-5.0, 0.0, 0.7, 2.9, 3.0, 99.0])
    expected = np.stack([np.interp(x, curve.knots, column) for column in curve.values.T])
    np.testing.assert_allclose(curve(x), expected, atol=1e-12)


@pytest.mark.parametrize("knots", [[1.0], [1.0, 2.0], [1.0, 1.0, 1.0]])
def test_too_few_knots_make_no_curve(knots):
    curve = Curve.over(knots)
    assert curve(np.array([0.0, 1.5])).shape == (0, 2)


def test_separate_drops_knots_that_nearly_repeat():
    assert Curve.over([0.0, 1e-4, 0.5, 0.5, 2.0]).knots.tolist() == [0.0, 0.5, 2.0]


def test_weighted_quantiles_count_weight_two_as_two_values():
    x, w = np.array([3.0, 1.0, 2.0, 7.0]), np.array([1.0, 2.0, 3.0, 1.0])
    at = np.linspace(0.01, 0.99, 9)
    repeated = np.repeat(x, w.astype(int))
    assert weighted_quantiles(x, w, at).tolist() == weighted_quantiles(repeated, np.ones(7), at).tolist()
    assert weighted_quantiles(np.array([0.1, 0.9]), np.array([9.0, 1.0]), [0.0, 0.9, 0.95]).tolist() == [0.1, 0.1, 0.9]
    assert weighted_quantiles(x, np.ones(4), [0.25, 0.5, 1.0]).tolist() == [1.0, 2.0, 7.0]
