"""The posterior of a slope and a lapse rate on a grid: p = (1 − ε) expit(e^τ z) + ε / 2.

The grid is laid again around what the data leave possible until it is finer than the posterior, so that few rows and
many rows are served by the same number of points.
"""

from typing import NamedTuple

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats

SLOPES = (-4.0, 1.5)  # of τ: from nearly flat to four and a half times as steep
SLOPE_SCALE = 0.5  # of the Cauchy prior of τ around 0, the identity
LAPSES = (0.005, 0.5)  # of ε, log-uniform between, where there are lapses at all
NO_LAPSE = 0.5  # prior probability of ε = 0
N_SLOPES, N_LAPSES = 48, 14
POSSIBLE = 1e-5  # a margin of the grid with less posterior mass than this is cut off
NEGLIGIBLE = 1e-12  # a point with less weight than this is left out
MAX_ZOOMS = 8


class Grid(NamedTuple):
    """Points of the posterior with their weights, which sum to one."""

    slopes: Floats
    lapses: Floats
    weights: Floats


def posterior(logits: Floats, positives: Floats, totals: Floats) -> Grid:
    """The posterior on at most (N_LAPSES + 1) × N_SLOPES points. O(points · cells) for each of a few zooms."""
    slope_range, lapse_range = SLOPES, LAPSES
    for _ in range(MAX_ZOOMS):
        tau, log_tau = _axis(*slope_range)
        rates, log_rates = _lapse_axis(*lapse_range)
        log_joint = _log_likelihood(logits, positives, totals, tau, rates)
        log_joint += log_rates[:, None] + (log_tau - np.log1p((tau / SLOPE_SCALE) ** 2))
        joint = np.exp(log_joint - log_joint.max())
        joint /= joint.sum()
        narrower = _possible(tau, joint.sum(axis=0)), _possible(rates[1:], joint[1:].sum(axis=1))
        if not (_much_narrower(narrower[0], slope_range) or _much_narrower(np.log(narrower[1]), np.log(lapse_range))):
            break
        slope_range, lapse_range = narrower
    slopes, lapses = np.broadcast_arrays(np.exp(tau), rates[:, None])
    heavy = joint > NEGLIGIBLE
    return Grid(slopes[heavy], lapses[heavy], joint[heavy] / joint[heavy].sum())


def _axis(low: float, high: float) -> tuple[Floats, float]:
    """Midpoints of equal intervals, and the logarithm of their length."""
    edges = np.linspace(low, high, N_SLOPES + 1)
    return 0.5 * (edges[1:] + edges[:-1]), float(np.log(edges[1] - edges[0]))


def _lapse_axis(low: float, high: float) -> tuple[Floats, Floats]:
    """No lapse, and a log-uniform grid of lapses, with the logarithm of the prior mass of each point."""
    edges = np.geomspace(low, high, N_LAPSES + 1)
    share = np.log(edges[1] / edges[0]) / np.log(LAPSES[1] / LAPSES[0])
    mass = np.concatenate(([NO_LAPSE], np.full(N_LAPSES, (1.0 - NO_LAPSE) * share)))
    return np.concatenate(([0.0], np.sqrt(edges[1:] * edges[:-1]))), np.log(mass)


def _log_likelihood(logits: Floats, positives: Floats, totals: Floats, tau: Floats, rates: Floats) -> Floats:
    steep = links.expit(np.exp(tau)[:, None] * logits)
    out = np.empty((len(rates), len(tau)))
    for row, rate in enumerate(rates):
        p = links.clip((1.0 - rate) * steep + 0.5 * rate)
        out[row] = np.log(p) @ positives + np.log(1.0 - p) @ (totals - positives)
    return out


def _possible(points: Floats, mass: Floats) -> tuple[float, float]:
    """The range of points outside of which little is left, one point wider on both sides."""
    kept = np.flatnonzero(mass > POSSIBLE * max(mass.sum(), np.finfo(np.float64).tiny))
    low, high = (kept[0], kept[-1]) if len(kept) else (0, len(points) - 1)
    return float(points[max(low - 1, 0)]), float(points[min(high + 1, len(points) - 1)])


def _much_narrower(found: tuple[float, float] | Floats, before: tuple[float, float] | Floats) -> bool:
    return bool(found[1] - found[0] < 0.5 * (before[1] - before[0]))
