"""Several chains of `monotone_trees`, run until they agree."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant._kernels import mcmc_diagnostics, monotone_trees
from calibrant._typing import Floats

N_CHAINS = 3
WARM_UP = 24  # sweeps to find the region of the posterior, and as many again to set the steps by it


class Posterior(NamedTuple):
    """Draws of the map at the cells, (n_chains, n, m), and how far they can be trusted."""

    draws: Floats
    r_hat: Floats
    effective: Floats
    acceptance: float
    n_sweeps: int
    converged: bool


def sample(
    positives: Floats,
    totals: Floats,
    rng: np.random.Generator,
    n_draws: int,
    r_hat_limit: float,
    least_effective: float,
    max_sweeps: int,
) -> Posterior:
    """Draw from the posterior until the largest R-hat and the smallest effective size are good, or `max_sweeps` is up.

    While they are not, the chains run on, and an eighth of all sweeps counts as burn-in. O(m log m) for each sweep
    of each chain.
    """
    length = -(-n_draws // N_CHAINS)
    warm_up = max(WARM_UP, length // 12)
    team = [_Chain(positives, totals, rng, share) for share in _shares()]
    for chain in team:
        chain.tune(warm_up)
    n_sweeps = 2 * warm_up
    draws = np.empty((N_CHAINS, 0, len(totals)))
    while True:
        draws = np.concatenate((draws, [chain.run(length) for chain in team]), axis=1)
        n_sweeps += length
        kept = draws[:, max(0, n_sweeps // 8 - 2 * warm_up) :]
        r_hat, effective = mcmc_diagnostics.convergence(kept)
        converged = bool(r_hat.max() <= r_hat_limit and effective.min() >= least_effective)
        length = 1 + n_sweeps // 4
        if converged or n_sweeps + length > max_sweeps:
            acceptance = float(np.mean([chain.acceptance for chain in team]))
            return Posterior(kept, r_hat, effective, acceptance, n_sweeps, converged)


def _shares() -> Floats:
    """How far each chain starts from the data: starts must differ more than draws do, or R-hat says nothing."""
    return np.linspace(0.1, 0.7, N_CHAINS)


class _Chain:
    """The state of one chain."""

    def __init__(self, positives: Floats, totals: Floats, rng: np.random.Generator, share: float) -> None:
        m = len(totals)
        self._totals, self._rng = totals, rng
        self._counts = np.pad(positives, 1), np.pad(totals - positives, 1)
        self._diagonal = np.arange(1, m + 1) / (m + 1)
        smoothed = isotonic_regression((positives + 0.5) / (totals + 1.0), weights=totals + 1.0).x
        start = smoothed + share * (self._diagonal - smoothed)
        self._values = np.concatenate(([0.0], start, [1.0]))
        self._tree = monotone_trees.grow(rng.random(m))
        self._steps_for(smoothed, 0.05)
        self.acceptance = 0.0

    def _steps_for(self, reference: Floats, share: float) -> None:
        # A little of the diagonal parts ties, between which every step would be too large.
        apart = reference + share * (self._diagonal - reference)
        self._curve = monotone_trees.curvature(apart, self._totals)

    def tune(self, n_sweeps: int) -> None:
        """Find the region of the posterior, then set the steps by it: `n_sweeps` for each."""
        self.run(n_sweeps)
        self._steps_for(self.run(n_sweeps).mean(axis=0), 0.001)

    def run(self, n_sweeps: int) -> Floats:
        """Go on for `n_sweeps`; the map after each, (n_sweeps, m)."""
        uniforms = self._rng.random((n_sweeps, monotone_trees.UNIFORMS, len(self._totals)))
        draws, self.acceptance = monotone_trees.run(self._values, self._tree, *self._counts, self._curve, uniforms)
        return np.asarray(draws)
