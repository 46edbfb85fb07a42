import numpy as np
import pytest
from scipy.interpolate import BSpline

from calibrant.calibrators import spline_posterior as basis


def dense_basis(x, knots):
    """All B-splines at each point, by scipy."""
    return BSpline.design_matrix(np.clip(x, knots[0], knots[-1]), knots, basis.DEGREE).toarray()


@pytest.fixture
def knots():
    x = np.sort(np.random.default_rng(0).normal(size=80))
    return basis.knot_vector(x, np.ones(80), 12, 0.4)


def test_knots_span_the_points_and_crowd_where_the_mass_is():
    x, mass = np.linspace(0.0, 10.0, 101), np.r_[np.full(20, 50.0), np.ones(81)]
    knots = basis.knot_vector(x, mass, 20, 0.5)
    assert len(knots) == 24
    assert knots[0] == 0.0
    assert knots[-1] == 10.0
    inner = np.diff(knots[3:-3])
    assert (inner > 0.0).all()
    assert inner[0] < 0.6 * inner[-1]


def test_one_place_gets_an_interval_of_width_one():
    knots = basis.knot_vector(np.array([2.0]), np.array([5.0]), 8, 0.4)
    assert (knots[0], knots[-1]) == (1.5, 2.5)


def test_the_local_basis_is_the_b_spline(knots):
    x = np.linspace(knots[0], knots[-1], 57)
    dense = dense_basis(x, knots)
    for k in range(dense.shape[1]):
        np.testing.assert_allclose(dense[:, k], BSpline(knots, np.eye(dense.shape[1])[k], 3)(x), atol=1e-12)
    np.testing.assert_allclose(dense.sum(axis=1), 1.0)


def test_points_outside_move_to_the_end(knots):
    far, end = (dense_basis(np.array([at]), knots) for at in (knots[-1] + 5.0, knots[-1]))
    np.testing.assert_array_equal(far, end)


def test_centres_make_straight_lines_and_the_reader_reads_them(knots):
    centre = basis.centres(knots)
    x = np.linspace(knots[0], knots[-1], 30)
    np.testing.assert_allclose(dense_basis(x, knots) @ (2.0 - 3.0 * centre), 2.0 - 3.0 * x)
    np.testing.assert_allclose(basis.line_reader(centre) @ (2.0 - 3.0 * centre), [2.0, -3.0])
    np.testing.assert_allclose(
        basis.line_reader(centre), np.linalg.pinv(np.column_stack((np.ones(len(centre)), centre))), atol=1e-12
    )


@pytest.mark.parametrize("order", [1, 2])
def test_roughness_ignores_lines_and_nothing_else(knots, order):
    centre = basis.centres(knots)
    penalty = basis.roughness(centre, order)
    np.testing.assert_allclose(penalty @ (1.0 + 2.0 * centre), 0.0, atol=1e-8 * np.abs(penalty).max())
    assert np.linalg.eigvalsh(penalty)[2] > 1e-3


def test_roughness_is_the_integral_of_the_squared_second_derivative():
    centre = np.linspace(0.0, 1.0, 400)
    c = np.sin(3.0 * centre)
    exact = np.mean((9.0 * np.sin(3.0 * np.linspace(0.0, 1.0, 100_001))) ** 2)
    assert c @ basis.roughness(centre, 2) @ c == pytest.approx(exact, rel=0.01)


def test_a_bend_is_free_in_its_stretch_only(knots):
    centre = basis.centres(knots)
    plain = basis.roughness(centre, 2)
    bent = basis.roughness(centre, 2, (0.0, 0.5), 10.0)
    size = len(centre)
    left, right = np.zeros(size), np.zeros(size)
    left[1], right[-2] = 1.0, 1.0
    assert left @ bent @ left == pytest.approx(left @ plain @ left / 100.0)
    assert right @ bent @ right == pytest.approx(right @ plain @ right)
    assert np.linalg.matrix_rank(bent) == size - 2
