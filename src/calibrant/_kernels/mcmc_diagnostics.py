"""Have Markov chains converged: split R-hat and effective sample size (Gelman et al. 2013, section 11.4)."""

import math

import numpy as np

from calibrant._kernels import plain
from calibrant._typing import Floats

try:
    import cython
except ImportError:
    from calibrant._kernels import plain as cython

plain.warn_if_slow(__file__)

_INFINITE = math.inf


def convergence(draws: Floats) -> tuple[Floats, Floats]:
    """R-hat and effective sample size of each quantity of `draws`, (n_chains, n, m), each chain cut into halves.

    O(n_chains · n · m · τ) for chains with the autocorrelation time τ.
    """
    n_chains, n, m = draws.shape[0], draws.shape[1], draws.shape[2]
    half = n // 2
    r_hat, effective = np.empty(m), np.empty(m)
    halves, means = np.empty((2 * n_chains, half)), np.empty(2 * n_chains)
    with cython.nogil:
        for j in range(m):
            for c in range(n_chains):
                for t in range(half):
                    halves[2 * c, t] = draws[c, t, j]
                    halves[2 * c + 1, t] = draws[c, n - half + t, j]
            within, between = _centre(halves, means)
            if within <= 0.0:  # a quantity that never moved has not converged, unless there is nothing to move
                r_hat[j] = _INFINITE if between > 0.0 else 1.0
                effective[j] = 1.0 if between > 0.0 else n_chains * n
                continue
            total = within * (half - 1) / half + between
            r_hat[j] = math.sqrt(total / within)
            effective[j] = min(_effective(halves, within, total), float(n_chains * n))
    return np.asarray(r_hat), np.asarray(effective)


def _centre(chains: Floats, means: Floats) -> tuple[float, float]:
    """Subtract from each chain its mean; the variance within chains, and that of their means."""
    n_chains, n = chains.shape[0], chains.shape[1]
    within, grand, between = 0.0, 0.0, 0.0
    for c in range(n_chains):
        total = 0.0
        for t in range(n):
            total += chains[c, t]
        means[c] = total / n
        grand += means[c] / n_chains
        for t in range(n):
            chains[c, t] -= means[c]
        within += _autocovariance(chains, c, 0) * n / (n - 1) / n_chains
    for c in range(n_chains):
        between += (means[c] - grand) * (means[c] - grand) / (n_chains - 1)
    return within, between


def _autocovariance(chains: Floats, c: int, lag: int) -> float:
    """That of the centred chain c."""
    n = chains.shape[1]
    total = 0.0
    for t in range(n - lag):
        total += chains[c, t] * chains[c, t + lag]
    return total / n


def _effective(chains: Floats, within: float, total: float) -> float:
    """Effective size of centred `chains`, (n_chains, n), by Geyer's initial monotone sequence."""
    n_chains, n = chains.shape[0], chains.shape[1]
    time, smallest = -1.0, _INFINITE
    lag = 0
    while lag < n - 1:
        pair = 0.0
        for shift in range(2):
            covariance = 0.0
            for c in range(n_chains):
                covariance += _autocovariance(chains, c, lag + shift)
            pair += 1.0 - (within - covariance / n_chains * n / (n - 1)) / total
        if pair <= 0.0:
            break
        smallest = min(smallest, pair)
        time += 2.0 * smallest
        lag += 2
    return n_chains * n / max(time, 1.0 / math.log10(n_chains * n))
