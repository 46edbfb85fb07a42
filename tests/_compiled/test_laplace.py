import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.interpolate import BSpline
from scipy.optimize import minimize
from scipy.special import expit

from calibrant._compiled import laplace
from calibrant.calibrators import spline_posterior as basis


def dense_basis(x, knots):
    """All B-splines at each point, by scipy."""
    return BSpline.design_matrix(np.clip(x, knots[0], knots[-1]), knots, basis.DEGREE).toarray()


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    x = np.sort(rng.normal(size=60))
    totals = rng.integers(1, 9, 60).astype(float)
    positives = rng.binomial(totals.astype(int), expit(np.sin(2.0 * x))).astype(float)
    knots = basis.knot_vector(x, totals, 8, 0.4)
    centre = basis.centres(knots)
    reader = basis.line_reader(centre)
    return x, positives, totals, knots, reader.T @ reader, basis.roughness(centre, 2)


def grid(problem, line_scales, rough_scales, coupling=0.0, log_prior=None):
    x, positives, totals, knots, line, rough = problem
    shape = (len(line_scales), len(rough_scales))
    return laplace.evidence_grid(
        *basis.local_basis(x, knots),
        x,
        positives,
        totals,
        line,
        rough,
        np.array(line_scales),
        np.array(rough_scales),
        coupling,
        np.zeros(shape) if log_prior is None else log_prior,
    )


def objective(problem, precision):
    x, positives, totals, knots, _, _ = problem
    basis = dense_basis(x, knots)

    def loss(c):
        eta = x + basis @ c
        return totals @ np.logaddexp(0.0, eta) - positives @ eta + 0.5 * c @ precision @ c

    return basis, loss


def test_modes_factors_and_evidence_equal_a_general_optimiser(problem):
    x, _, totals, _, line, rough = problem
    evidence, modes, factors = grid(problem, [0.5, 2.0], [3.0, 0.3])
    for a, t1 in enumerate((0.5, 2.0)):
        for b, t2 in enumerate((3.0, 0.3)):
            precision = line / t1**2 + rough / t2**2
            basis, loss = objective(problem, precision)
            mode = minimize(loss, np.zeros(8), method="BFGS", options={"gtol": 1e-9, "maxiter": 2000}).x
            np.testing.assert_allclose(modes[a, b], mode, atol=2e-4)
            p = expit(x + basis @ mode)
            hessian = basis.T @ (basis * (totals * p * (1.0 - p))[:, None]) + precision
            lower = np.tril(factors[a, b])
            np.testing.assert_allclose(lower @ lower.T, hessian, rtol=0.02, atol=0.02 * np.abs(hessian).max())
            prior = 2.0 * np.log(t1) + 6.0 * np.log(t2)
            expected = -loss(mode) - 0.5 * np.linalg.slogdet(hessian)[1] - prior
            assert evidence[a, b] == pytest.approx(expected, abs=0.02)


def test_coupling_widens_the_prior_of_the_line(problem):
    apart, together = grid(problem, [0.3], [2.0]), grid(problem, [np.hypot(0.3, 1.0)], [2.0])
    coupled = grid(problem, [0.3], [2.0], coupling=0.5)
    np.testing.assert_allclose(coupled[0], together[0])
    assert not np.allclose(coupled[0], apart[0])


def test_the_log_prior_is_added(problem):
    plain, shifted = grid(problem, [1.0], [1.0]), grid(problem, [1.0], [1.0], log_prior=np.array([[-1.5]]))
    np.testing.assert_allclose(shifted[0], plain[0] - 1.5)


def test_hopeless_scales_are_left_out(problem):
    x, positives, totals, knots, line, rough = problem
    many = (x, positives * 1000.0, totals * 1000.0, knots, line, rough)
    evidence, _, _ = grid(many, [1.0], [10.0, 3.0, 1.0, 0.1, 0.01, 0.001])
    assert np.isneginf(evidence[0, -1])
    assert np.isfinite(evidence[0, 0])


def test_laplace_evidence_is_near_the_integral_in_two_dimensions():
    # With coefficients a + b · centre only (a rough part held at zero) the evidence is a double integral.
    x = np.linspace(-2.0, 2.0, 15)
    totals, positives = np.full(15, 6.0), np.round(6.0 * expit(0.6 * x + 0.4))
    knots = basis.knot_vector(x, totals, 6, 0.0)
    centre = basis.centres(knots)
    reader = basis.line_reader(centre)
    parts = (x, positives, totals, knots, reader.T @ reader, basis.roughness(centre, 2))
    evidence, _, _ = grid(parts, [1.0, 0.4], [1e-3])

    def integrand(b, a, scale):
        eta = x + a + b * x
        return np.exp(positives @ eta - totals @ np.logaddexp(0.0, eta) - 0.5 * (a * a + b * b) / scale**2) / (
            2.0 * np.pi * scale**2
        )

    exact = [np.log(dblquad(integrand, -4, 4, -4, 4, args=(scale,))[0]) for scale in (1.0, 0.4)]
    assert evidence[0, 0] - evidence[1, 0] == pytest.approx(exact[0] - exact[1], abs=0.02)
