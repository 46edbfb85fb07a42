"""Several chains of `monotone_trees`, run until they agree and their mean is known well enough.

The posterior has a mirror image: exchange the labels, reverse the order, and the mean becomes one minus itself. Chains
would keep that up to their noise only, so they always see the same one of both.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant._kernels import mcmc_diagnostics, monotone_trees
from calibrant._typing import Floats

N_CHAINS = 3
WARM_UP = 24  # sweeps to find the region of the posterior, and as many again to set the steps by it
MOST_WAVES, DRAWS_PER_WAVE = 20, 30  # control variates; each costs a degree of freedom
MOST_FURTHER = 3.0  # times as many draws as wanted are worth making for a smaller error of the mean
_FINEST = 2.0**-36  # weights are rounded to this part of their sum, lest the order of summation decide between mirrors


class Limits(NamedTuple):
    """What the worst cell must reach: R-hat and effective draws; and, if that is cheap, the error of its mean."""

    r_hat: float
    effective: float
    error: float = math.inf


class Posterior(NamedTuple):
    """The mean of the map at the cells, draws of it, (n_chains, n, m), and how far they can be trusted."""

    mean: Floats
    draws: Floats
    r_hat: Floats
    effective: Floats
    error: Floats  # the standard error of the mean
    acceptance: float
    n_sweeps: int
    converged: bool


def sample(
    positives: Floats, totals: Floats, rng: np.random.Generator, n_draws: int, limits: Limits, max_sweeps: int
) -> Posterior:
    """Draw from the posterior until the worst cell is within the limits, or `max_sweeps` of each chain are up.

    While it is not, the chains run on, and an eighth of all sweeps counts as burn-in. O(m log m) for each sweep
    of each chain.
    """
    unit = _FINEST * 2.0 ** math.ceil(math.log2(totals.sum()))
    k, n = np.round(positives / unit) * unit, np.round((totals - positives) / unit) * unit
    mirrored = n[::-1].copy(), k[::-1].copy()
    order = _compare((k, n), mirrored)
    first, second = (k, n) if order <= 0.0 else mirrored
    found = _sample(first, second, rng, n_draws, limits, max_sweeps)
    if order == 0.0:  # the data are their own mirror image
        return found._replace(mean=(found.mean + 1.0 - found.mean[::-1]) / 2.0)
    return found if order < 0.0 else _mirror(found)


def _compare(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> float:
    """Negative, zero or positive: which of two comes first in the order of their first difference."""
    differences = np.concatenate(first) - np.concatenate(second)
    different = np.flatnonzero(differences)
    return float(differences[different[0]]) if len(different) else 0.0


def _mirror(found: Posterior) -> Posterior:
    mean, draws = 1.0 - found.mean[::-1], 1.0 - found.draws[:, :, ::-1]
    r_hat, effective, error = (each[::-1] for each in (found.r_hat, found.effective, found.error))
    return found._replace(mean=mean, draws=draws, r_hat=r_hat, effective=effective, error=error)


def _sample(
    positives: Floats, negatives: Floats, rng: np.random.Generator, n_draws: int, limits: Limits, max_sweeps: int
) -> Posterior:
    length = -(-n_draws // N_CHAINS)
    warm_up = max(WARM_UP, length // 12)
    team = [_Chain(positives, negatives, rng, share) for share in _shares()]
    for chain in team:
        chain.tune(warm_up)
    n_sweeps = 2 * warm_up
    batches: list[tuple[Floats, Floats]] = []
    while True:
        runs = [chain.run(length) for chain in team]
        batches.append((np.stack([run[0] for run in runs]), np.stack([run[1] for run in runs])))
        n_sweeps += length
        burn_in = max(0, n_sweeps // 8 - 2 * warm_up)
        found = _summarise(*(np.concatenate(parts, axis=1)[:, burn_in:] for parts in zip(*batches, strict=True)))
        converged = bool(found.r_hat.max() <= limits.r_hat and found.effective.min() >= limits.effective)
        further, length = MOST_FURTHER * n_draws - found.draws[:, :, 0].size, 1 + n_sweeps // 4
        missing = (found.error.max() / limits.error) ** 2 - 1.0  # the error falls with the root of the number of draws
        if converged and missing > 0.0:
            length = math.ceil(min(missing * found.draws.shape[1], further / N_CHAINS))
        done = converged and (missing <= 0.0 or length <= 0)
        if done or n_sweeps + length > max_sweeps:
            acceptance = float(np.mean([chain.acceptance for chain in team]))
            return found._replace(acceptance=acceptance, n_sweeps=n_sweeps, converged=converged)


def _summarise(draws: Floats, controls: Floats) -> Posterior:
    """The mean of the draws by their regression on the control variates, whose own mean is zero. O(n m n_waves)."""
    n_chains, n, m = draws.shape
    n_waves = min(controls.shape[2], n_chains * n // DRAWS_PER_WAVE)
    rows, known = draws.reshape(-1, m), controls[:, :, :n_waves].reshape(-1, n_waves)
    spread = known.std(axis=0)
    known = known / np.where(spread > 0.0, spread, 1.0)
    centred = known - known.mean(axis=0)
    slopes = np.linalg.lstsq(centred.T @ centred, centred.T @ rows, rcond=1e-10)[0]
    rest = rows - known @ slopes
    mean = np.clip(rest.mean(axis=0), rows.min(axis=0), rows.max(axis=0))
    r_hat, effective = mcmc_diagnostics.convergence(draws)
    effective_rest = mcmc_diagnostics.convergence(rest.reshape(draws.shape))[1]
    error = np.sqrt(rest.var(axis=0) / effective_rest)
    return Posterior(isotonic_regression(mean).x, draws, r_hat, effective, error, 0.0, 0, False)


def _shares() -> Floats:
    """How far each chain starts from the data: starts must differ more than draws do, or R-hat says nothing."""
    return np.linspace(0.1, 0.7, N_CHAINS)


class _Chain:
    """The state of one chain."""

    def __init__(self, positives: Floats, negatives: Floats, rng: np.random.Generator, share: float) -> None:
        m, totals = len(positives), positives + negatives
        self._totals, self._rng = totals, rng
        self._counts = np.pad(positives, 1), np.pad(negatives, 1)
        self._diagonal = np.arange(1, m + 1) / (m + 1)
        # Cosines over the gaps between values: the control variates are the posterior's slopes along them.
        places = (np.arange(m + 1) + 0.5) / (m + 1)
        self._waves = np.cos(np.pi * np.outer(np.arange(1, min(MOST_WAVES, m) + 1), places))
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
        self._steps_for(self.run(n_sweeps)[0].mean(axis=0), 0.001)

    def run(self, n_sweeps: int) -> tuple[Floats, Floats]:
        """Go on for `n_sweeps`; the map after each, (n_sweeps, m), and its control variates."""
        uniforms = self._rng.random((n_sweeps, monotone_trees.UNIFORMS, len(self._totals)))
        given = (self._values, self._tree, *self._counts, self._curve, uniforms, self._waves)
        draws, controls, self.acceptance = monotone_trees.run(*given)
        return np.asarray(draws), np.asarray(controls)
