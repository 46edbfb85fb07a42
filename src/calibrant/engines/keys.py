"""Cells of scores that every engine computes alike: scores rounded to some number of leading bits.

Rounding x to p bits needs three operations, c·x − (c·x − x) with c = 2^(53−p) + 1 (Veltkamp 1968), which IEEE
arithmetic rounds alike in every engine, where a logarithm or an approximate quantile would differ. The cells are
fine where scores are small. So that they are as fine near 1 as near 0, a score between ½ and 1 enters as its
distance from 1, scaled far out of the way of all other scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant._typing import Floats, Ints

__all__ = ["COARSE_BITS", "Resolution", "coarse_key", "fine_key", "number", "plan"]

COARSE_BITS = 6
MOST_BITS = 40
MOST_RUNS = 3  # each costs every row a comparison
FAR = 2.0**-500


def number(value: float) -> Any:
    """A double that every engine reads exactly; a bare decimal would be rounded a second time by some."""
    return require("ibis", "tables", "calibrant.engines").literal(repr(float(value))).cast("float64")


def constant(bits: int) -> float:
    """Veltkamp's constant for rounding to `bits` bits; at 53 bits nothing is rounded."""
    return 2.0 ** (53 - bits) + 1.0


def rounded(x: Any, c: Any) -> Any:
    """`x` rounded to the number of bits of `constant`."""
    return c * x - (c * x - x)


def folded(score: Any) -> Any:
    """The score, or its scaled distance from 1 where that is nearer."""
    ibis = require("ibis", "tables", "calibrant.engines")
    near_one = (score > number(0.5)) & (score < number(1.0))
    return ibis.ifelse(near_one, (score - number(1.0)) * number(FAR), score)


def folded_values(scores: Floats) -> Floats:
    """`folded` of an array."""
    return np.where((scores > 0.5) & (scores < 1.0), (scores - 1.0) * FAR, scores)


def is_near_one(keys: Floats) -> Any:
    """Whether a folded value stands for a score between ½ and 1."""
    return (keys < 0.0) & (keys > -FAR)


def coarse_key(score: Any) -> Any:
    """About 64 cells for each power of two: enough to see where the mass is."""
    return rounded(folded(score), number(constant(COARSE_BITS)))


@dataclass(frozen=True)
class Resolution:
    """How fine the cells are.

    A cell has `bits[i]` bits from the score `starts[i]` on; scores are added up with `sum_bits` bits. `folds` says
    whether scores near 1 enter as their distance from it.
    """

    starts: tuple[float, ...]
    bits: tuple[int, ...]
    sum_bits: int
    folds: bool

    def restored(self, keys: Floats, offsets: Floats) -> Floats:
        """The scores that lie `offsets` from the cells `keys`."""
        if not self.folds:
            return keys + offsets
        return np.where(is_near_one(keys), 1.0 + (keys + offsets) / FAR, keys + offsets)


def fine_key(score: Any, resolution: Resolution) -> tuple[Any, Any]:
    """The cell of a score, and its offset from it.

    Scores are first rounded to `sum_bits` bits, usually 40 or so. Offsets are then multiples of one number, and so
    few bits long that their sum is exact in any order: threads and engines cannot disagree about it.
    """
    steps = [constant(bits) for bits in resolution.bits]
    c = number(steps[0])
    for start, before, after in zip(resolution.starts[1:], steps[:-1], steps[1:], strict=True):
        # Adding a difference of whole numbers is exact, and much faster in a column engine than a CASE.
        c = c + (score >= number(start)).cast("float64") * number(after - before)
    x = folded(score) if resolution.folds else score
    key = rounded(x, c)
    return key, rounded(x, number(constant(resolution.sum_bits))) - key


def plan(lows: Floats, highs: Floats, shares: Floats, largest_count: float, max_cells: int) -> Resolution:
    """Bits for each range of scores, so that `max_cells` cells of equal mass are resolved everywhere.

    `lows` and `highs` are the extreme scores of each coarse cell, in order, and `shares` its part of the mass.
    """
    wanted = shares * max_cells
    low, high = folded_values(lows), folded_values(highs)
    sizes = np.maximum(np.maximum(np.abs(low), np.abs(high)), np.finfo(np.float64).tiny)
    # A light cell need not be split, whatever scores it holds; it counts with its whole width.
    extents = np.where(wanted > 1.0, np.abs(high - low), sizes * 2.0**-COARSE_BITS)
    fold = _runs(sizes, extents, wanted)
    near_one = is_near_one(low)
    plain = _runs(np.where(near_one, highs, sizes), np.where(near_one, extents / FAR, extents), wanted)
    folds = fold[2] < 0.7 * plain[2]
    starts, bits, _ = fold if folds else plain
    # An offset from a cell of p bits has sum_bits - p bits, and a sum of n of them log2(n) more: at most 53 in all.
    sum_bits = min(53, int(bits.min()) + 53 - int(np.ceil(np.log2(largest_count + 1.0))))
    return Resolution(tuple(lows[starts].tolist()), tuple(bits.tolist()), max(sum_bits, int(bits.max())), folds)


def _runs(sizes: Floats, extents: Floats, wanted: Floats) -> tuple[Ints, Ints, float]:
    """Starts and bits of a few runs of coarse cells, and how many cells they make.

    Neighbouring runs are joined, cheapest first, until few enough are left.
    """
    relative = extents / sizes
    bits = _wanted_bits(sizes, relative, wanted)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(bits)) + 1))
    # A cell of p bits is about 2^-p wide, relative to its scores; so a run of this length has length · 2^p cells.
    length, most = np.add.reduceat(relative, starts), bits[starts]
    while len(starts) > MOST_RUNS:
        joined = np.maximum(most[:-1], most[1:])
        cost = (length[:-1] + length[1:]) * 2.0**joined - length[:-1] * 2.0 ** most[:-1] - length[1:] * 2.0 ** most[1:]
        i = int(np.argmin(cost))
        length[i] += length[i + 1]
        most[i] = joined[i]
        starts, length, most = (np.delete(column, i + 1) for column in (starts, length, most))
    return starts, most, float((length * 2.0**most).sum())


def _wanted_bits(sizes: Floats, relative: Floats, wanted: Floats) -> Ints:
    """Bits at which a coarse cell splits into about as many cells as its share of the mass deserves."""
    # Relative to the power of two above it, a score's cell is exactly 2^-p wide; a single score needs no bits at all.
    width = np.where(relative > 0.0, relative * sizes / 2.0 ** np.ceil(np.log2(sizes)), np.inf)
    with np.errstate(divide="ignore"):
        bits = np.round(np.log2(wanted / width))
    return np.clip(bits, COARSE_BITS, MOST_BITS).astype(np.intp)
