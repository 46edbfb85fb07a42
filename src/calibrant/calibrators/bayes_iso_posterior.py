"""Bayes-Iso's posterior by sums over levels, without draws; and independent draws from it where they are wanted.

Levels: one grid for all cells, and a window of it for each cell, which holds every value that the cell can plausibly
have. Levels lie close where windows are narrow, so that a window needs the same number of them however many rows there
are. Near 0 and 1, where values differ by factors, they lie close as well: they are evenly spaced on a scale whose
fourth power, there, is the probability.

Sums: the prior picks a cell, gives it a value between those of its neighbours so far, and goes on to both sides. So
what lies between two cells with given values depends on these values alone, and its likelihood is a sum over the cell
that is picked first and over its level: a product of matrices. Tables consist of blocks of `size` × `size` levels for
all pairs of cells; the ends 0 and 1 count as cells of one level.

The posterior has a mirror image: exchange the labels, reverse the order, and the mean becomes one minus itself. Levels
and windows are chosen so that the sums keep that.
"""

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.optimize import isotonic_regression
from scipy.special import betainc, betaincinv, ndtri, xlogy

from calibrant._compiled import monotone_draws
from calibrant._numerics import links
from calibrant._typing import Bools, Floats, Ints

DEVIATIONS = 4.0  # standard errors to either side that a window spans
POWER = 4.0  # of the scale at both ends
NEAR = 0.5  # times its width is how near to 0 or 1 a window is extended to it
LEAST_DENSITY = 0.3  # of levels where there is no window
FARTHEST = 2.0  # steps inside of a window that the first one beyond its end may have
_SLACK = 1e-6  # of a level: rounding errors must not decide between a problem and its mirror image
END_WEIGHTS = (3.0 / 8.0, 7.0 / 6.0, 23.0 / 24.0)  # Gregory's rule: of the first levels of a sum that is an integral
# Levels of a window: many where cells are few. No matrix product then takes more than 2^18 multiplications, from which
# on they are shared between processors, at more cost than gain.
FEWEST_LEVELS, MOST_LEVELS, PRODUCTS = 16, 32, 150_000
WORST_EDGE, MOST_TRIES = 0.01, 4  # the mass at the edge of a window beyond which it is widened
HEAVIEST = 1e8  # rows of a cell; its value is then known to four digits
LEAST_LIKELIHOOD, LEAST_SHARE = 1e-280, 1e-9
OWN_PART = 0.1  # of a step within which cells at the same level are drawn apart


class Levels(NamedTuple):
    """The grid of probabilities p, with q = 1 − p, and where in it the window of each cell starts and stops."""

    p: Floats
    q: Floats
    starts: Ints
    stops: Ints
    halves: Floats  # the grid with the middles of its steps

    def at(self, places: Floats) -> Floats:
        """The probabilities at places of the grid that need not be whole."""
        return np.interp(2.0 * places, np.arange(len(self.halves)), self.halves)


def find_windows(positives: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Between which places of the scale each cell's value lies, by intervals of shares in blocks of cells. O(m log m).

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
    return np.where(from_low < near, 0.0, from_low), 1.0 - np.where(from_high < near, 0.0, from_high)


def _score_interval(positives: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Wilson's interval, as if of up to two rows fewer: a posterior of few rows has longer tails than its test."""
    square, share, rows = DEVIATIONS**2, np.clip(positives / totals, 0.0, 1.0), totals * (totals / (totals + 2.0))
    half = DEVIATIONS * np.sqrt(rows * share * (1.0 - share) + 0.25 * square)
    middle = rows * share + 0.5 * square
    return np.maximum(middle - half, 0.0) / (rows + square), np.minimum((middle + half) / (rows + square), 1.0)


def widen(low: Floats, high: Floats, below: Bools, above: Bools) -> tuple[Floats, Floats]:
    """Move the lower ends of some windows, and the upper ends of some, outwards by half of their widths."""
    half = 0.5 * (high - low)
    return np.where(below, np.maximum(low - half, 0.0), low), np.where(above, np.minimum(high + half, 1.0), high)


def spread_levels(low: Floats, high: Floats, size: int) -> Levels:
    """A grid of which every window has at most `size` levels, and the fullest nearly so many. O(m²)."""
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


class Model(NamedTuple):
    """What the sums consist of."""

    places: Ints  # (m + 2, size): where in the grid the levels of each cell are
    neighbours: Floats  # (m + 1, size, size): for cells next to each other, the roots of both likelihoods
    shares: Floats  # a table: the prior of a cell and of a level between two

    @property
    def n_cells(self) -> int:
        """How many cells there are between the ends."""
        return len(self.places) - 2

    @property
    def size(self) -> int:
        """How many levels each cell has."""
        return int(self.places.shape[1])


def first_places(levels: Levels, size: int) -> Ints:
    """Where the `size` levels of each cell begin: with its window, unless the grid ends too soon."""
    return np.minimum(levels.starts, len(levels.p) - size)


def build_model(positives: Floats, totals: Floats, levels: Levels, size: int) -> Model:
    """Likelihoods of the cells at the levels of their windows, and the rule of integration. O(m² size² + levels²)."""
    last = len(levels.p) - 1
    starts, stops = (np.concatenate(([0], given, [last])) for given in (levels.starts, levels.stops))
    places = np.concatenate(([0], first_places(levels, size), [last + 1 - size]))[:, None] + np.arange(size)
    logs = np.where((starts[:, None] <= places) & (places <= stops[:, None]), 0.0, -np.inf)
    own, negatives = places[1:-1], totals - positives
    logs[1:-1] += xlogy(positives[:, None], levels.p[own]) + xlogy(negatives[:, None], levels.q[own])
    logs -= logs.max(axis=1, keepdims=True)
    widths = np.gradient(levels.p)
    widths[[0, -1]] = 0.0  # that is the slope of the scale at its ends
    roots = np.exp(0.5 * logs) * np.sqrt(_window_widths(levels.p, widths, places, starts, stops))
    ends, shares = _integration_rule(widths)
    neighbours = ends[places[:-1, :, None], places[1:, None, :]] * roots[:-1, :, None] * roots[1:, None, :]
    table = shares.take(places.ravel(), axis=0).take(places.ravel(), axis=1)
    cells = np.arange(len(places))
    between = np.maximum(cells - cells[:, None] - 1, 1)
    table.reshape(len(places), size, len(places), size)[...] /= between[:, None, :, None]
    return Model(places, neighbours, table)


def _window_widths(p: Floats, widths: Floats, places: Ints, starts: Ints, stops: Ints) -> Floats:
    """How much of the range of values each level stands for: half a step at the end of a window, unless at 0 or 1."""
    out, rows, last = widths[places], np.arange(len(places)), len(p) - 1
    half = 0.5 * np.diff(p)
    inner = starts > 0
    out[rows[inner], (starts - places[:, 0])[inner]] = half[np.minimum(starts, last - 1)][inner]
    inner = stops < last
    out[rows[inner], (stops - places[:, 0])[inner]] = half[np.maximum(stops - 1, 0)][inner]
    out[[0, -1]] = 1.0
    return out


def _integration_rule(widths: Floats) -> tuple[Floats, Floats]:
    """For each two places, the weight of the second in a sum that begins with the first, and that over the whole sum.

    A level has the product of its weights in a sum that begins at the lower and in one that ends at the upper place.
    """
    n = len(widths)
    ends = np.triu(np.ones((n, n)))
    for k, weight in enumerate(END_WEIGHTS):
        ends[np.arange(n - k), np.arange(k, n)] = weight
    terms = ends * widths
    sums = np.cumsum(terms, axis=1)
    for k, weight in enumerate(END_WEIGHTS):
        sums[:, k:] -= (1.0 - weight) * terms[:, : n - k]
    return ends, np.divide(ends, sums, out=np.zeros((n, n)), where=(ends > 0.0) & (sums > 0.0))


def sum_inside(model: Model) -> Floats:
    """A table of the likelihood of all cells between two, times the roots of theirs. O(m³ size³).

    All pairs with the same number of cells between them are done at once.
    """
    table = np.zeros(model.shares.shape)
    _along(table, model.size, (0, 1), (1, 1))[...] = model.neighbours
    # The likelihood between cells i and j is Σ_c share(i, j) · table(i, c) · table(c, j) over the cells c between them
    # and their levels. With the table in blocks, the c of one pair lie side by side in the row of i and in the column
    # of j, so the sum is one product of a wide and a tall matrix. Pairs with the same distance are shifted along the
    # diagonal by one block each, which `_along` shows to numpy as a batch, without a copy.
    for between in range(1, model.n_cells + 1):
        lefts = _along(table, model.size, (0, 1), (1, between))
        rights = _along(table, model.size, (1, between + 1), (between, 1))
        pairs, shares = (_along(each, model.size, (0, between + 1), (1, 1)) for each in (table, model.shares))
        np.multiply(np.matmul(lefts[: len(rights)], rights), shares, out=pairs)
    return table


def _along(table: Floats, size: int, first: tuple[int, int], shape: tuple[int, int]) -> Floats:
    """A view of equal parts along the diagonal; `first` and `shape` count blocks. It ends where columns do."""
    rows, columns = table.strides
    begin = table[first[0] * size :, first[1] * size :]
    count = len(table) // size - first[1] - shape[1] + 1
    return as_strided(begin, (count, shape[0] * size, shape[1] * size), (size * (rows + columns), rows, columns))


def sum_outside(model: Model, table: Floats) -> Floats:
    """The posterior of the levels of cells next to each other, (m + 1, size, size). O(m³ size³).

    It is the derivative of the whole likelihood by that of its parts, from the widest parts to the narrowest.
    """
    size, end = model.size, model.n_cells + 1
    slopes, out = np.zeros(table.shape), np.empty(model.neighbours.shape)
    blocks, shares = (each.reshape(end + 1, size, end + 1, size) for each in (slopes, model.shares))
    # If v is the derivative of the whole by table(i, j), then table(i, c) gets v · share · table(c, j)' from it, and
    # table(c, j) gets table(i, c)' · v · share. So a pair collects from all wider pairs with which it shares its right
    # end (they begin further left: one product for all of them) and from those with which it shares its left end, which
    # must be finished first: hence second cells from right to left.
    for first in range(end):
        begin, stop = first * size, (first + 1) * size
        # From all pairs that begin further left, for all second cells at once; then second cells from right to left.
        wider = slopes[:begin, stop:].reshape(begin, end - first, size).swapaxes(0, 1)
        known, own = np.matmul(table[:begin, begin:stop].T, wider), slopes[begin:stop]
        if first == 0:
            known[-1, 0, -1] = 1.0 / table[0, -1]
        for second in range(end, first, -1):
            slope, after = known[second - first - 1], (second + 1) * size
            slope += own[:, after:] @ table[after - size : after, after:].T
            np.multiply(slope, shares[first, :, second], out=blocks[first, :, second])
        out[first] = known[0]
    return out * model.neighbours


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
        return np.maximum.accumulate(links.clip((self.masses * self.values).sum(axis=1)))

    def mean_inverses(self) -> tuple[Floats, Floats]:
        """The means of 1/p and of 1/(1 − p) of each cell."""
        p = links.clip(self.values)
        return (self.masses / p).sum(axis=1), (self.masses / (1.0 - p)).sum(axis=1)

    def quantiles(self, share: float) -> Floats:
        """The value of each cell below which this share of the posterior lies."""
        return np.maximum.accumulate(self._values_at(np.full((1, len(self.masses)), share))[0])

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
        steps = monotone_draws.draw_levels(table, np.ascontiguousarray(table.T), uniforms, model.size)
        # Within its step a value is anywhere. Values that share a step nearly share their place in it: pooled cells do.
        within = (1.0 - OWN_PART) * rng.random((n_draws, 1)) + OWN_PART * rng.random(steps.shape)
        low, high = (self._shares()[cells, steps + side] for side in (0, 1))
        return np.sort(self._values_at(low + within * (high - low)), axis=1)


def integrate(positives: Floats, totals: Floats, size: int | None = None) -> Posterior:
    """Sum over levels; widen windows until what they leave out is negligible. O(m³ size³)."""
    scale = np.minimum(1.0, HEAVIEST / totals)
    k, n = positives * scale, totals * scale
    size = size or int(np.clip((PRODUCTS / len(n)) ** (1.0 / 3.0), FEWEST_LEVELS, MOST_LEVELS))
    low, high = find_windows(k, n)
    for _ in range(MOST_TRIES):
        levels = spread_levels(low, high, size)
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
        low, high = widen(low, high, below > WORST_EDGE, above > WORST_EDGE)
    edge = float(max(below.max(), above.max()))
    return Posterior(levels.p[model.places[1:-1]], masses, edge, k, n, levels)


def _edges(levels: Levels, places: Ints, masses: Floats) -> tuple[Floats, Floats]:
    """The mass at the lowest and at the highest level of each window; at 0 and 1 there is nothing to widen."""
    lowest, highest = (levels.starts > 0)[:, None], (levels.stops < len(levels.p) - 1)[:, None]
    below = np.where(lowest & (places == levels.starts[:, None]), masses, 0.0)
    above = np.where(highest & (places == levels.stops[:, None]), masses, 0.0)
    return below.max(axis=1), above.max(axis=1)
