"""One step of the sweep, by hand and against the definition of its terms."""

import numpy as np
import pytest
from scipy.special import betaln

from calibrant._compiled import partition_sweep


def sweep_over(x, k, n, lam, alpha=1.0, beta=1.0):
    """Advance over all cells with F = 1 throughout, so that the terms are exp(−λ(x_u − x_l)) · M(l, u)."""
    sweep = partition_sweep.Sweep(x, k, n, lam, alpha, beta, False, False)
    for u in range(len(x)):
        sweep.advance(u)
        sweep.log_f[:, u + 1] = 0.0
    return sweep


@pytest.mark.parametrize("kind", ["rows", "few", "many", "weights"])
def test_terms_are_prior_times_marginal_likelihood(kind):
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(9))
    n = {"rows": np.ones(9), "few": np.full(9, 3.0), "many": np.full(9, 70.0), "weights": rng.random(9)}[kind]
    k = np.floor(n * rng.random(9)) if kind != "weights" else n * rng.random(9)
    lam = np.array([0.2, 9.0])
    sweep = sweep_over(x, k, n, lam, 0.7, 1.9)
    hits, total = k[::-1].cumsum()[::-1], n[::-1].cumsum()[::-1]
    log_m = betaln(hits + 0.7, total - hits + 1.9) - betaln(0.7, 1.9)
    for g in range(2):
        expected = log_m - lam[g] * (x[-1] - x)
        found = np.log(np.asarray(sweep.terms)[g, :9]) + sweep.scale[g]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    sweep.refresh(8)
    np.testing.assert_allclose(
        np.log(np.asarray(sweep.terms)[1, :9]) + sweep.scale[1], expected, rtol=1e-12, atol=1e-12
    )
    assert sweep.total[1] == pytest.approx(np.asarray(sweep.terms)[1, :9].sum())


def test_three_rows_by_hand():
    # F = 1: bins 0-2, 1-2 and 2 of the labels 1, 0, 1 have M = 2!1!/4! = 1/12, 1/6 and 1/2.
    sweep = sweep_over(np.array([0.0, 0.5, 1.0]), np.array([1.0, 0.0, 1.0]), np.ones(3), np.array([1e-12]))
    np.testing.assert_allclose(np.asarray(sweep.terms)[0] * np.exp(sweep.scale[0]), [1 / 12, 1 / 6, 1 / 2], rtol=1e-11)
    np.testing.assert_allclose(sweep.total[0] * np.exp(sweep.scale[0]), 0.75, rtol=1e-11)


def test_starts_are_dropped_where_the_data_demand_cuts():
    rng = np.random.default_rng(7)
    m = 512
    x = np.linspace(0.0, 1.0, m)
    n = np.full(m, 500.0)
    k = rng.binomial(500, 0.1 + 0.8 * x).astype(float)
    lam = np.array([8.0])
    sweep = partition_sweep.Sweep(x, k, n, lam, 1.0, 1.0, False, False)
    for u in range(m):
        sweep.advance(u)
        if sweep.due:
            sweep.prune(u, np.log(1e-16 / m**2))
    assert sweep.count < m / 2
