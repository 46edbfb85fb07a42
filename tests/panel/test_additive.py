"""The additive model against slow oracles: quadrature, refits, and the rows themselves."""

import numpy as np
import pytest
from scipy import integrate

from calibrant._numerics import links
from calibrant.panel.additive import Expansion, Rows, laplace


def draw(n, size, seed=0):
    rng = np.random.default_rng(seed)
    columns = np.column_stack((np.ones(n), rng.normal(size=(n, size - 1))))
    y = (rng.random(n) < links.expit(columns @ rng.normal(size=size))).astype(float)
    return Rows(columns, y, np.ones(n))


def log_likelihood(rows, beta):
    eta = rows.columns @ beta
    return rows.weights @ (rows.y * eta - np.logaddexp(0.0, eta))


def test_evidence_and_moments_against_quadrature():
    rows, scales = draw(60, 2), np.diag([0.8, 0.5])
    offset = np.array([0.1, 0.4])

    def density(a, b, power=0):
        v = np.array([a, b])
        prior = np.exp(-0.5 * v @ v) / (2.0 * np.pi)
        return prior * np.exp(log_likelihood(rows, offset + scales @ v) + 30.0) * (offset + scales @ v)[1] ** power

    mass, first, second = (
        integrate.dblquad(lambda b, a, power=power: density(a, b, power), -6, 6, -6, 6)[0] for power in range(3)
    )
    found = laplace(rows, offset, scales)
    assert found.evidence == pytest.approx(np.log(mass) - 30.0, abs=0.03)
    assert found.mean[1] == pytest.approx(first / mass, abs=0.05)
    assert (found.root @ found.root.T)[1, 1] == pytest.approx(second / mass - (first / mass) ** 2, rel=0.15)


def test_an_expansion_at_the_mode_is_the_posterior_there():
    rows, offset, directions = draw(200, 4), np.zeros(4), np.diag([1.0, 0.5, 0.5, 0.2])
    found = laplace(rows, offset, directions)
    again = Expansion(rows, found.mean).posterior(offset, directions)
    assert again.evidence == pytest.approx(found.evidence, abs=1e-6)
    np.testing.assert_allclose(again.mean, found.mean, atol=1e-6)
    np.testing.assert_allclose(again.root @ again.root.T, found.root @ found.root.T, atol=1e-8)


def test_the_mode_has_no_gradient_even_where_classes_separate():
    columns = np.column_stack((np.ones(40), np.linspace(-3.0, 3.0, 40)))
    rows = Rows(columns, (columns[:, 1] > 0.0).astype(float), np.ones(40))
    found = laplace(rows, np.array([0.0, 30.0]), np.diag([3.0, 3.0]), start=np.array([40.0, -60.0]))
    p = links.expit(columns @ found.mean)
    gradient = 3.0 * columns.T @ (rows.y - p) - found.standard
    np.testing.assert_allclose(gradient, 0.0, atol=1e-4)
