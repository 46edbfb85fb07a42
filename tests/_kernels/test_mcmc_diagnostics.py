import numpy as np
import pytest

from calibrant._kernels.mcmc_diagnostics import convergence


def autoregressive(rho, n_chains, n, m, seed=0):
    noise = np.random.default_rng(seed).standard_normal((n_chains, n, m))
    out = np.empty_like(noise)
    out[:, 0] = noise[:, 0]
    for t in range(1, n):
        out[:, t] = rho * out[:, t - 1] + np.sqrt(1 - rho**2) * noise[:, t]
    return out


def test_independent_draws_count_fully():
    r_hat, effective = convergence(autoregressive(0.0, 4, 1000, 20))
    assert r_hat.max() < 1.02
    np.testing.assert_allclose(np.median(effective), 4000, rtol=0.1)


@pytest.mark.compiled
def test_autocorrelated_draws_count_by_their_known_rate():
    _, effective = convergence(autoregressive(0.8, 4, 4000, 20))
    np.testing.assert_allclose(effective.mean(), 16000 * (1 - 0.8) / (1 + 0.8), rtol=0.1)


def test_chains_in_different_places_are_found_out():
    draws = autoregressive(0.0, 4, 200, 3)
    draws[0, :, 1] += 5.0
    r_hat, effective = convergence(draws)
    assert r_hat[1] > 1.5
    assert effective[1] < 20
    assert max(r_hat[0], r_hat[2]) < 1.05


def test_a_trend_inside_each_chain_is_found_out():
    draws = autoregressive(0.0, 2, 400, 1) + 0.01 * np.arange(400)[None, :, None]
    assert convergence(draws)[0][0] > 1.2


def test_r_hat_by_hand():
    # Halves (0, 2), (2, 4): within-variance 2 each, half-means 1 and 3, so total = 2/2 + 2 = 3 and R-hat = sqrt(3/2).
    r_hat, _ = convergence(np.array([0.0, 2.0, 2.0, 4.0]).reshape(1, 4, 1))
    np.testing.assert_allclose(r_hat, np.sqrt(1.5))


def test_a_constant_has_nothing_to_converge():
    r_hat, effective = convergence(np.full((2, 10, 1), 0.5))
    assert (r_hat[0], effective[0]) == (1.0, 20.0)
    stuck = np.full((2, 10, 1), 0.5)
    stuck[1] = 0.6
    assert convergence(stuck)[0][0] > 100.0
