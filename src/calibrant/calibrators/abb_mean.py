"""The posterior mean of ABB's map, exactly, and the probability of a boundary in each gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._kernels import links
from calibrant._typing import Bools, Floats, Ints
from calibrant.calibrators.abb_posterior import BinningPosterior
from calibrant.calibrators.sbb import counts, unit_range
from calibrant.calibrators.tabulate import tabulate_scores
from calibrant.map_functions import MapFunction, Step

__all__ = ["PosteriorMean", "average_binnings"]

TINY = float(np.finfo(np.float64).tiny)
NEGLIGIBLE = 1e-15  # posterior weights of λ below this add less than that to a probability
STRAIGHT = 0.01  # λ times a gap, below which the mean is a straight line there within 1e-5
INSIDE = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])  # first nodes in other gaps: near the ends it bends most


@dataclass(frozen=True, eq=False)
class PosteriorMean:
    """The mean of random steps: in each gap between the scores x, steps fall at the points of a Poisson process.

    At a score with the distances l and r to its neighbours x[i] and x[i+1], and h = l + r,

        base[i] + Σ_g left[g, i] · (e^(−rates[g] l) − e^(−rates[g] h)) / (1 − e^(−rates[g] h))
                + Σ_g right[g, i] · (e^(−rates[g] r) − e^(−rates[g] h)) / (1 − e^(−rates[g] h)).

    The two quotients run from 1 to 0 and from 0 to 1; they are the probabilities that a gap with a step has all its
    steps to the right, or to the left, of the score. `rates` has shape (G,), `left` and `right` (G, m − 1), `base`
    (m − 1,). Constant outside x. Computed by expm1, because the plain formula loses all digits in small gaps.
    """

    x: Floats
    rates: Floats
    base: Floats
    left: Floats
    right: Floats

    def __call__(self, scores: Floats) -> Floats:
        inside = np.clip(scores, self.x[0], self.x[-1])
        gap = np.clip(np.searchsorted(self.x, inside, side="right") - 1, 0, len(self.base) - 1)
        return links.clip(self._value(gap, inside))

    def _value(self, gap: Ints, scores: Floats) -> Floats:
        """The formula at scores that lie in the given gaps."""
        total = self.base[gap]
        with np.errstate(over="ignore", under="ignore"):  # far from a neighbour the exponential is rightly 0
            before, after = scores - self.x[gap], self.x[gap + 1] - scores
            for rate, left, right in zip(self.rates, self.left, self.right, strict=True):
                whole = np.expm1(-rate * np.diff(self.x))
                whole[whole > -TINY] = -np.inf  # a gap too small for doubles has no steps
                share = np.expm1(-rate * before) / whole[gap]  # that a gap with a step has one before the score
                total += left[gap] * (1.0 - share) + right[gap] * share * np.exp(-rate * after)
        return total

    def tabulated(self) -> MapFunction:
        """Straight pieces within 1e-5 of the mean."""
        with np.errstate(over="ignore"):
            bent = np.flatnonzero(self.rates.max() * np.diff(self.x) > STRAIGHT)
        low, high = self.x[bent, None], self.x[bent + 1, None]
        inner = low * (1.0 - INSIDE) + high * INSIDE
        return tabulate_scores(self, np.unique(np.concatenate((self.x, inner.ravel()))))


def average_binnings(posterior: BinningPosterior) -> tuple[PosteriorMean | Step, Floats]:
    """The posterior mean of the map, eq. 2.8, and the probability of a boundary in each gap."""
    from calibrant._kernels import partitions

    cells, alpha, beta = posterior.cells, posterior.alpha, posterior.beta
    kept = posterior.lam_posterior > NEGLIGIBLE
    lam, log_f = posterior.lam[kept], posterior.log_f[kept]
    weight = (posterior.lam_posterior[kept] / posterior.lam_posterior[kept].sum())[:, None]
    log_r, starts, ends = partitions.backward(posterior.x, *counts(cells), lam, alpha, beta, log_f, False, False)
    boundary = _boundary_probability(posterior.x, lam, log_f, log_r)
    if len(cells) == 1:
        return Step(np.empty(0), (weight * starts)[:, 0].sum(keepdims=True)), boundary.sum(axis=0)
    # Bins that span the gap after cell j: those that started up to j and have not ended there. The mean of a bin
    # lies between those of all rows negative and all positive; that keeps rounding errors in bounds.
    spanning = (np.cumsum(starts, axis=1) - np.cumsum(ends, axis=1))[:, :-1]
    lowest = alpha / (cells.total + alpha + beta)
    highest = 1.0 - beta / (cells.total + alpha + beta)
    spanning = np.clip(spanning, lowest * (1.0 - boundary), highest * (1.0 - boundary))
    # A score in a gap with boundaries is in the bin on its left, on its right, or in one of its own without data,
    # whose mean is that of the prior. The function adds the first two relative to the third.
    empty = boundary * (alpha / (alpha + beta))
    _, width = unit_range(cells.scores)
    with np.errstate(over="ignore"):  # a range near the smallest double
        rates = np.minimum(lam / width, np.finfo(np.float64).max)
    base = (weight * (spanning + empty)).sum(axis=0)
    left, right = weight * (ends[:, :-1] - empty), weight * (starts[:, 1:] - empty)
    if posterior.filled.any():
        rates, left, right = _straighten(rates, base, left, right, posterior.filled)
        base = np.where(posterior.filled, 0.0, base)
    return PosteriorMean(cells.scores, rates, base, left, right), (weight * boundary).sum(axis=0)


def _straighten(
    rates: Floats, base: Floats, left: Floats, right: Floats, filled: Bools
) -> tuple[Floats, Floats, Floats]:
    """Straight lines in the filled gaps: the limit of a rate near zero, where the one step is anywhere in the gap."""
    from_left, from_right = base + left.sum(axis=0), base + right.sum(axis=0)
    left = np.vstack((np.where(filled, 0.0, left), np.where(filled, from_left, 0.0)))
    right = np.vstack((np.where(filled, 0.0, right), np.where(filled, from_right, 0.0)))
    return np.append(rates, 1e-12 * rates.min()), left, right


def _boundary_probability(x: Floats, lam: Floats, log_f: Floats, log_r: Floats) -> Floats:
    """P(boundary in each gap | data, λ), (n_lambda, m − 1)."""
    with np.errstate(divide="ignore", invalid="ignore"):  # a gap too small for doubles has Prior = 0
        log_q = np.log(-np.expm1(-lam[:, None] * np.diff(x)))
        log_p = log_f[:, 1:-1] + log_r[:, 1:-1] - log_q - log_f[:, -1:]
        return np.where(np.isfinite(log_q), np.exp(np.minimum(log_p, 0.0)), 0.0)
