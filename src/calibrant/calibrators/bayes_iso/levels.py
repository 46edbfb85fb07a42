"""Levels on which Bayes-Iso's posterior is summed: one grid for all cells, and a window of it for each cell.

A window holds every value that its cell can plausibly have. Levels lie close where windows are narrow, so that a
window needs the same number of them however many rows there are. Near 0 and 1, where values differ by factors, they lie
close as well: they are evenly spaced on a scale whose fourth power, there, is the probability.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import betainc, betaincinv

from calibrant._typing import Bools, Floats, Ints

DEVIATIONS = 4.0  # standard errors to either side that a window spans
POWER = 4.0  # of the scale at both ends
NEAR = 0.5  # times its width is how near to 0 or 1 a window is extended to it
LEAST_DENSITY = 0.3  # of levels where there is no window
FARTHEST = 2.0  # steps inside of a window that the first one beyond its end may have
_SLACK = 1e-6  # of a level: rounding errors must not decide between a problem and its mirror image


class Windows(NamedTuple):
    """Between which places of the scale each cell's value lies."""

    low: Floats
    high: Floats

    def widen(self, below: Bools, above: Bools) -> "Windows":
        """Move the lower ends of some windows, and the upper ends of some, outwards by half of their widths."""
        half = 0.5 * (self.high - self.low)
        low, high = np.where(below, self.low - half, self.low), np.where(above, self.high + half, self.high)
        return Windows(np.maximum(low, 0.0), np.minimum(high, 1.0))


class Levels(NamedTuple):
    """The grid of probabilities p, with q = 1 − p, and where in it the window of each cell starts and stops."""

    p: Floats
    q: Floats
    starts: Ints
    stops: Ints
    halves: Floats  # the grid with the middles of its steps

    def at(self, places: Floats) -> Floats:
        """The probabilities at places of the grid that need not be whole."""
        between: Floats = np.interp(2.0 * places, np.arange(len(self.halves)), self.halves)
        return between


def find_windows(positives: Floats, totals: Floats) -> Windows:
    """The window of each cell, by intervals of shares in blocks of cells. O(m log m).

    A value is at least the mean of a block that ends with its cell, and at most that of one that begins with it; where
    the labels contradict the order, it is near the mean of its block in the isotonic fit.
    """
    m = len(totals)
    k, n = (np.concatenate(([0.0], np.cumsum(counts))) for counts in (positives, totals))
    low, high = np.zeros(m), np.ones(m)
    cells, size = np.arange(m), 1
    # Blocks of 1, 2, 4 … cells that end, or begin, at each cell: the best of them is nearly as narrow as the best of
    # all blocks, at log m looks in place of m.
    while size < 2 * m:
        first, end = np.maximum(cells + 1 - size, 0), np.minimum(cells + size, m)
        low = np.maximum(low, _score_interval(k[cells + 1] - k[first], n[cells + 1] - n[first])[0])
        high = np.minimum(high, _score_interval(k[end] - k[cells], n[end] - n[cells])[1])
        size *= 2
    blocks = isotonic_regression(positives / totals, weights=totals).blocks
    block_of = np.repeat(np.arange(len(blocks) - 1), np.diff(blocks))
    first, end = blocks[block_of], blocks[block_of + 1]
    pooled_low, pooled_high = _score_interval(k[end] - k[first], n[end] - n[first])
    low = np.minimum(np.maximum.accumulate(low), pooled_low)
    high = np.maximum(np.minimum.accumulate(high[::-1])[::-1], pooled_high)
    from_low, from_high = betaincinv(POWER, POWER, low), betaincinv(POWER, POWER, 1.0 - high)
    # Tails towards 0 and 1 are long: where an end is near, the window reaches it.
    near = NEAR * (1.0 - from_low - from_high)
    return Windows(np.where(from_low < near, 0.0, from_low), 1.0 - np.where(from_high < near, 0.0, from_high))


def _score_interval(positives: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Wilson's interval, as if of up to two rows fewer: a posterior of few rows has longer tails than its test."""
    square, share, rows = DEVIATIONS**2, np.clip(positives / totals, 0.0, 1.0), totals * (totals / (totals + 2.0))
    half = DEVIATIONS * np.sqrt(rows * share * (1.0 - share) + 0.25 * square)
    middle = rows * share + 0.5 * square
    return np.maximum(middle - half, 0.0) / (rows + square), np.minimum((middle + half) / (rows + square), 1.0)


def spread_levels(windows: Windows, size: int) -> Levels:
    """A grid of which every window has at most `size` levels, and the fullest nearly so many. O(m²)."""
    low, high = windows
    ends = np.unique(np.concatenate(([0.0, 1.0], low, high)))
    middles = 0.5 * (ends[1:] + ends[:-1])
    covered = (low[:, None] < middles) & (middles < high[:, None])
    density = np.where(covered, 1.0 / (high - low)[:, None], LEAST_DENSITY).max(axis=0)
    mass = np.concatenate(([0.0], np.cumsum(density * np.diff(ends))))
    first, last = np.interp(low, ends, mass), np.interp(high, ends, mass)
    steps = max(int((size - 2) * mass[-1] / (last - first).max() + _SLACK), size - 1)
    halves = np.interp(np.linspace(0.0, mass[-1], 2 * steps + 1), mass, ends)
    scale = halves[::2]
    starts = np.floor(first / mass[-1] * steps + _SLACK).astype(np.intp)
    stops = np.ceil(last / mass[-1] * steps - _SLACK).astype(np.intp)
    # A level beyond the end of a window must not be far away, where no window is: it would stand for all in between.
    gaps = np.diff(scale)
    starts += gaps[starts] > FARTHEST * gaps[starts + 1]
    stops -= gaps[stops - 1] > FARTHEST * gaps[stops - 2]
    p = betainc(POWER, POWER, halves)
    return Levels(p[::2].copy(), betainc(POWER, POWER, 1.0 - scale), starts, stops, p)
