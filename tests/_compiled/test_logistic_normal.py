import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import BSpline
from scipy.special import expit, logit
from scipy.stats import norm

from calibrant._compiled import logistic_normal
from calibrant.calibrators import spline_posterior as basis


def dense_basis(x, knots):
    """All B-splines at each point, by scipy."""
    return BSpline.design_matrix(np.clip(x, knots[0], knots[-1]), knots, basis.DEGREE).toarray()


@pytest.mark.parametrize("spread", [0.0, 0.05, 0.3, 0.69, 1.0, 2.0])
@pytest.mark.parametrize("mean", [-8.0, -1.0, 0.0, 3.0])
def test_the_mean_is_the_integral(mean, spread):
    found = logistic_normal.mean_logit(np.ones(1), np.array([[mean]]), np.array([[spread]]))[0]
    exact = expit(mean)
    if spread:
        exact, _ = quad(lambda t: expit(mean + spread * t) * norm.pdf(t), -9.0, 9.0, epsabs=1e-13)
    assert found == pytest.approx(logit(exact), abs=2e-3 if spread > 1.5 else 2e-5)


def test_mixtures_average_probabilities_not_logits():
    means = np.array([[-2.0, 0.0], [2.0, 40.0]])
    found = logistic_normal.mean_logit(np.array([0.25, 0.75]), means, np.zeros((2, 2)))
    assert expit(found[0]) == pytest.approx(0.25 * expit(-2.0) + 0.75 * expit(2.0))
    assert expit(-found[1]) == pytest.approx(0.25 * 0.5, rel=1e-9)


def test_a_probability_next_to_one_keeps_its_digits():
    found = logistic_normal.mean_logit(np.ones(1), np.array([[45.0]]), np.array([[0.0]]))
    assert found[0] == pytest.approx(45.0, rel=1e-12)


def test_moments_of_curves_by_hand():
    rng = np.random.default_rng(1)
    knots = basis.knot_vector(np.linspace(-1.0, 1.0, 9), np.ones(9), 7, 0.4)
    x = np.array([-0.7, 0.1, 1.0])
    beyond, slope = np.array([0.0, 0.0, 1.5]), rng.normal(size=7)
    modes, roots = rng.normal(size=(2, 7)), np.tril(rng.normal(size=(2, 7, 7)))
    means, spreads = logistic_normal.curve_moments(*basis.local_basis(x, knots), beyond, slope, modes, roots)
    rows = dense_basis(x, knots) + beyond[:, None] * slope
    np.testing.assert_allclose(means, modes @ rows.T)
    for c in range(2):
        np.testing.assert_allclose(spreads[c], np.linalg.norm(roots[c] @ rows.T, axis=0))
