"""Bayes-Iso's posterior by sums over levels, without draws; and independent draws from it where they are wanted.

The posterior has a mirror image: exchange the labels, reverse the order, and the mean becomes one minus itself. Levels
and windows are chosen so that the sums keep that.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from calibrant._compiled import monotone_level_draws
from calibrant._numerics import links
from calibrant._typing import Floats, Ints
from calibrant.calibrators.bayes_iso.levels import Levels, find_windows, spread_levels
from calibrant.calibrators.bayes_iso.sums import build_model, first_places, sum_inside, sum_outside

# Levels of a window: many where cells are few. No matrix product then takes more than 2^18 multiplications, from which
# on they are shared between processors, at more cost than gain.
FEWEST_LEVELS, MOST_LEVELS, PRODUCTS = 16, 32, 150_000
WORST_EDGE, MOST_TRIES = 0.01, 4  # the mass at the edge of a window beyond which it is widened
HEAVIEST = 1e8  # rows of a cell; its value is then known to four digits
LEAST_LIKELIHOOD, LEAST_SHARE = 1e-280, 1e-9
OWN_PART = 0.1  # of a step within which cells at the same level are drawn apart


class Posterior(NamedTuple):
    """The posterior of the value of each cell: its mass at some levels, (m, size)."""

    values: Floats
    masses: Floats
    edge: float  # the largest mass at an inner edge of a window
    positives: Floats
    totals: Floats
    levels: Levels

    @property
    def mean(self) -> Floats:
        """The mean of each cell. It rises, and rounding must not change that."""
        rising: Floats = np.maximum.accumulate(links.clip((self.masses * self.values).sum(axis=1)))
        return rising

    def mean_inverses(self) -> tuple[Floats, Floats]:
        """The means of 1/p and of 1/(1 − p) of each cell."""
        p = links.clip(self.values)
        return (self.masses / p).sum(axis=1), (self.masses / (1.0 - p)).sum(axis=1)

    def quantiles(self, share: float) -> Floats:
        """The value of each cell below which this share of the posterior lies."""
        rising: Floats = np.maximum.accumulate(self._values_at(np.full((1, len(self.masses)), share))[0])
        return rising

    def _values_at(self, shares: Floats) -> Floats:
        """The values of the cells, (n, m), below which these shares of their posteriors lie."""
        # From one middle of a step to the next, normal scores rise nearly straight; shares bend.
        known, wanted = (ndtri(np.clip(each, LEAST_SHARE, 1.0 - LEAST_SHARE)) for each in (self._shares(), shares))
        size = self.masses.shape[1]
        middles = first_places(self.levels, size)[:, None] + np.arange(size + 1) - 0.5
        places = [np.interp(*given) for given in zip(wanted.T, known, middles, strict=True)]
        return self.levels.at(np.clip(np.transpose(places), self.levels.starts, self.levels.stops))

    def _shares(self) -> Floats:
        """The posterior up to the middle of each step, (m, size + 1): sums, corrected for their bend there."""
        padded = np.pad(self.masses, ((0, 0), (1, 1)))
        return np.cumsum(padded[:, :-1], axis=1) + np.diff(padded, axis=1) / 24.0

    def draw(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """Independent draws of the map at the cells, (n_draws, m), from the same sums."""
        model = build_model(self.positives, self.totals, self.levels, self.values.shape[1])
        table, cells = sum_inside(model), np.arange(model.n_cells)
        uniforms = rng.random((n_draws, model.n_cells))
        steps = monotone_level_draws.draw(table, np.ascontiguousarray(table.T), uniforms, model.size)
        # Within its step a value is anywhere. Values that share a step nearly share their place in it: pooled cells do.
        within = (1.0 - OWN_PART) * rng.random((n_draws, 1)) + OWN_PART * rng.random(steps.shape)
        low, high = (self._shares()[cells, steps + side] for side in (0, 1))
        return np.sort(self._values_at(low + within * (high - low)), axis=1)


def integrate(positives: Floats, totals: Floats, size: int | None = None) -> Posterior:
    """Sum over levels; widen windows until what they leave out is negligible. O(m³ size³)."""
    scale = np.minimum(1.0, HEAVIEST / totals)
    k, n = positives * scale, totals * scale
    size = size or int(np.clip((PRODUCTS / len(n)) ** (1.0 / 3.0), FEWEST_LEVELS, MOST_LEVELS))
    windows = find_windows(k, n)
    for _ in range(MOST_TRIES):
        levels = spread_levels(windows, size)
        model = build_model(k, n, levels, size)
        table = sum_inside(model)
        if table[0, -1] < LEAST_LIKELIHOOD:
            # Many rows contradict the order so much that each cell alone is far from what all of its block allow.
            k = n * isotonic_regression(k / n, weights=n).x
            continue
        masses = sum_outside(model, table).sum(axis=1)[:-1]
        below, above = _edges(levels, model.places[1:-1], masses)
        if max(below.max(), above.max()) <= WORST_EDGE:
            break
        windows = windows.widen(below > WORST_EDGE, above > WORST_EDGE)
    edge = float(max(below.max(), above.max()))
    return Posterior(levels.p[model.places[1:-1]], masses, edge, k, n, levels)


def _edges(levels: Levels, places: Ints, masses: Floats) -> tuple[Floats, Floats]:
    """The mass at the lowest and at the highest level of each window; at 0 and 1 there is nothing to widen."""
    lowest, highest = (levels.starts > 0)[:, None], (levels.stops < len(levels.p) - 1)[:, None]
    below = np.where(lowest & (places == levels.starts[:, None]), masses, 0.0)
    above = np.where(highest & (places == levels.stops[:, None]), masses, 0.0)
    return below.max(axis=1), above.max(axis=1)
