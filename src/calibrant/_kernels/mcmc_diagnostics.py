"""Have Markov chains converged: split R-hat and effective sample size (Gelman et al. 2013, section 11.4)."""

from __future__ import annotations

import numpy as np

from calibrant._kernels.compiling import njit
from calibrant._typing import Floats


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _autocovariance(chain: Floats, lag: int) -> float:
    total, shift = 0.0, np.uint64(lag)
    for t in range(np.uint64(len(chain) - lag)):  # unsigned indices let the compiler use vector instructions
        total += chain[t] * chain[t + shift]
    return total / len(chain)


@njit(cache=True, nogil=True)
def _effective(chains: Floats, within: float, total: float) -> float:
    """Effective size of centred `chains`, (n_chains, n), by Geyer's initial monotone sequence."""
    n_chains, n = chains.shape
    time, smallest = -1.0, np.inf
    for lag in range(0, n - 1, 2):
        pair = 0.0
        for shift in range(2):
            covariance = 0.0
            for c in range(n_chains):
                covariance += _autocovariance(chains[c], lag + shift)
            pair += 1.0 - (within - covariance / n_chains * n / (n - 1)) / total
        if pair <= 0.0:
            break
        smallest = min(smallest, pair)
        time += 2.0 * smallest
    return float(n_chains * n / max(time, 1.0 / np.log10(n_chains * n)))


@njit(cache=True, nogil=True)
def convergence(draws: Floats) -> tuple[Floats, Floats]:
    """R-hat and effective sample size of each quantity of `draws`, (n_chains, n, m), each chain cut into halves.

    O(n_chains · n · m · τ) for chains with the autocorrelation time τ.
    """
    n_chains, n, m = draws.shape
    half = n // 2
    r_hat, effective = np.empty(m), np.empty(m)
    halves = np.empty((2 * n_chains, half))
    for j in range(m):
        for c in range(n_chains):
            halves[2 * c] = draws[c, :half, j]
            halves[2 * c + 1] = draws[c, n - half :, j]
        means = np.empty(2 * n_chains)
        within = 0.0
        for c in range(2 * n_chains):
            means[c] = halves[c].mean()
            halves[c] -= means[c]
            within += (halves[c] ** 2).sum() / (half - 1) / (2 * n_chains)
        between = means.var() * 2 * n_chains / (2 * n_chains - 1)
        total = within * (half - 1) / half + between
        if within <= 0.0:  # a quantity that never moved has not converged, unless there is nothing to move
            r_hat[j], effective[j] = (np.inf, 1.0) if between > 0.0 else (1.0, float(n_chains * n))
            continue
        r_hat[j] = np.sqrt(total / within)
        effective[j] = min(_effective(halves, within, total), float(n_chains * n))
    return r_hat, effective
