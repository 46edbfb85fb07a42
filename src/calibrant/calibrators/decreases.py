"""Where a map may fall: only where the posterior is sure that it does.

The mean of a probability near 0 grows with its uncertainty, and uncertainty grows where rows are few. So a posterior
mean can fall and rise again where no single curve of the posterior has a reason to. Such a fall reorders rows without
evidence; it is pooled away. A fall that nearly all curves share stays.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant._numerics import links
from calibrant._typing import Floats, Ints
from calibrant.maps.functions import LogitLinear
from calibrant.tally import Tally

FEW, MANY, NEAR = 100, 2000, 0.9  # draws: few show that no fall comes near to being certain, many decide if one does
CERTAIN = 0.96  # of the draws, so that the probability is at least 0.95 with their own error: a 90 % interval below 0
PARTS = 4  # of each fall, any of which may be certain by itself
RARE = 0.02  # nearer to 0 and 1 than this, what uncertainty does to the mean is nearly all of a fall
EMPTY = 1e-9  # the weight of a node without rows, as a share of all


class Fall(NamedTuple):
    """Between two scores the map falls; the probability is that of the surest fall inside."""

    low: float
    high: float
    probability: float


def pool_unsupported_decreases(
    table: LogitLinear, cells: Tally, draw: Callable[[Floats, int], Floats]
) -> tuple[LogitLinear, tuple[Fall, ...]]:
    """Keep the falls of a map that are certain, and pool the others, weighing nodes by the rows near them.

    `draw(scores, n)` gives n curves of the posterior at these scores, (n, scores). It is asked only if the map falls.
    """
    if (np.diff(table.y) >= 0.0).all():
        return table, ()
    nodes = _nodes_to_ask(table)
    scores = links.expit(table.x[nodes])
    for count in (FEW, MANY):
        shares = _falling_shares(table.y[nodes], draw(scores, count))
        if shares.max() < NEAR:
            break
    stretches = _certain_stretches(shares)
    seen = np.clip(scores, cells.scores[0], cells.scores[-1]).tolist()
    falls = tuple(Fall(seen[i], seen[j], float(shares[i:j, i + 1 : j + 1].max())) for i, j in stretches)
    return pool_outside(table, cells, [(int(nodes[i]), int(nodes[j])) for i, j in stretches]), falls


def _nodes_to_ask(table: LogitLinear) -> Ints:
    """The nodes where the map turns, both ends, and some inside each fall."""
    moves = np.flatnonzero(np.diff(table.y))
    up = table.y[moves + 1] > table.y[moves]
    turns = np.unique(np.concatenate(([0], moves[1:][up[1:] != up[:-1]], [len(table.y) - 1])))
    inside = [
        np.searchsorted(table.x, np.linspace(table.x[i], table.x[j], PARTS + 1)[1:-1])
        for i, j in pairwise(turns)
        if table.y[j] < table.y[i]
    ]
    return np.unique(np.concatenate((turns, *inside)))


def _falling_shares(y: Floats, curves: Floats) -> Floats:
    """The share of curves that fall from node i to node j > i, (n, n).

    It is 0 unless the map has its highest value between them at i and its lowest at j: to start half-way up a hill
    and end beyond it would call the way up a fall, too.
    """
    shares = np.zeros((len(y), len(y)))
    for j in range(1, len(y)):
        back = y[j::-1]  # from j to the first node
        falls = (back == np.maximum.accumulate(back)) & (np.minimum.accumulate(back) == y[j]) & (back > y[j])
        starts = np.flatnonzero(falls[::-1])
        shares[starts, j] = (curves[:, starts] > curves[:, j, None]).mean(axis=0)
    return shares


def _certain_stretches(shares: Floats) -> list[tuple[int, int]]:
    """Stretches of nodes, each a union of overlapping certain falls."""
    covered = np.zeros(len(shares) + 1, dtype=bool)
    for j in range(1, len(shares)):
        starts = np.flatnonzero(shares[:j, j] >= CERTAIN)
        if len(starts):
            covered[starts[0] + 1 : j + 1] = True  # the gaps between nodes, each named by its right one
    ends = np.flatnonzero(covered[1:] != covered[:-1])
    return list(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True))


def pool_outside(table: LogitLinear, cells: Tally, kept: Sequence[tuple[int, int]]) -> LogitLinear:
    """Make the map rise between the stretches of nodes that are `kept`."""
    mass, y = _mass(table.x, cells), table.y.copy()
    edges = [0, *(node for stretch in kept for node in stretch), len(y) - 1]
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        own = slice(low, high + 1)
        y[own] = _pool(y[own], mass[own])
    same = np.diff(y) == 0.0  # nodes that are like both of their neighbours are not needed
    needed = ~np.concatenate(([False], same[1:] & same[:-1], [False]))
    return LogitLinear(table.x[needed], y[needed], table.slope_below, table.slope_above)


def _pool(y: Floats, mass: Floats) -> Floats:
    """Isotonic regression; where all is rare, at the end of the fall that lies farther from one half."""
    pooled = isotonic_regression(y, weights=mass)
    out, blocks = y.copy(), [(a, b) for a, b in pairwise(pooled.blocks) if b - a > 1]
    for first, end in blocks:
        out[first:end] = pooled.x[first]
    far = float(links.logit(np.array(1.0 - RARE)))
    for first, end in blocks:
        if y[first:end].max() < -far:
            out[first:end] = max(y[first:end].min(), out[first - 1] if first else -np.inf)
    for first, end in reversed(blocks):
        if y[first:end].min() > far:
            out[first:end] = min(y[first:end].max(), out[end] if end < len(y) else np.inf)
    return out


def _mass(x: Floats, cells: Tally) -> Floats:
    """The rows next to each node."""
    nearest = np.searchsorted(0.5 * (x[1:] + x[:-1]), links.logit(cells.scores))
    return np.bincount(nearest, cells.totals, len(x)).astype(np.float64) + EMPTY * cells.total
