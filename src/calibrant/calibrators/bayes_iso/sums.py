"""Sums over all trees of ranks, and over levels of their values, for Bayes-Iso's posterior.

The prior picks a cell, gives it a value between those of its neighbours so far, and goes on to both sides. So what lies
between two cells with given values depends on these values alone, and its likelihood is a sum over the cell that is
picked first and over its level: a product of matrices. Tables consist of blocks of `size` × `size` levels for all pairs
of cells; the ends 0 and 1 count as cells of one level.
"""

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.special import xlogy

from calibrant._typing import Floats, Ints
from calibrant.calibrators.bayes_iso.levels import Levels

END_WEIGHTS = (3.0 / 8.0, 7.0 / 6.0, 23.0 / 24.0)  # Gregory's rule: of the first levels of a sum that is an integral


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
