"""Cells of scores that every engine computes alike: scores rounded to some number of leading bits.

A tally of crowded scores needs cells of nearly equal mass. Quantiles would give them, but every engine approximates
quantiles in its own way, and rounds logarithms in its own way. So cells are made with what IEEE arithmetic defines to
the last bit: additions, multiplications and comparisons of doubles. Rounding x to p bits is c·x − (c·x − x) with
c = 2^(53−p) + 1 (Veltkamp 1968).

Cells of leading bits are fine where numbers are small. So that they are as fine near 1 as near 0, a score above ½
enters as its negative distance from 1. Scores that are not probabilities are first spread over [0, 1].

The first grid knows the range of the scores only. It has several times as many cells as wanted, for most shapes of
scores fine enough everywhere; neighbours are joined afterwards. Where it is not, `finer` reads off its counts where the
mass is, and gives more bits there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant._typing import Floats, Ints

nw: Any = require("narwhals.stable.v2", "tables", "calibrant.engines.tally")
COARSE_BITS = 6
MOST_BITS = 40
MOST_RUNS = 3  # each costs every row a comparison
FLOOR_BITS = 49  # the cells around 0 of the first grid are 2^-49 wide
COUNT_BITS = 24  # sums of the first grid are exact up to this many rows in a cell
LARGEST_COUNT = 2.0**COUNT_BITS


def number(value: float) -> Any:
    """A double that every engine reads exactly, as a whole number times a power of two.

    A decimal of 17 digits would be rounded twice by engines that receive it as text and take it for a DECIMAL first.
    """
    unit = 2.0 ** max(math.frexp(value)[1] - 53, -1074)
    return nw.lit(int(value / unit)).cast(nw.Float64) * nw.lit(unit)


def _indicator(condition: Any) -> Any:
    """1 or 0. Multiplying by it is much faster in a column engine than a CASE."""
    return condition.cast(nw.Float64)


def constant(bits: int) -> float:
    """Veltkamp's constant for rounding to `bits` bits; at 53 bits nothing is rounded."""
    return 2.0 ** (53 - bits) + 1.0


def round_bits(x: Any, c: Any) -> Any:
    """Round `x` to the number of bits of which `c` is the `constant`."""
    scaled = c * x
    return scaled - (scaled - x)


@dataclass(frozen=True)
class Grid:
    """Cells of scores.

    A score x lies at t = (x - low) / width, and at u = t + floor, or u = t - 1 - floor where t > ½. A cell has
    `bits[i]` leading bits of u, from the u of `starts[i]` on; scores are added up with `sum_bits` bits of u. The
    floor keeps cells from becoming ever smaller near 0; without one, t = 1 is not folded.
    """

    low: float
    width: float
    floor: float
    bits: tuple[int, ...]
    sum_bits: int
    starts: tuple[float, ...] = (-np.inf,)

    def cell(self, score: Any) -> tuple[Any, Any]:
        """The cell of a score, and the offset of its u from it, as Narwhals expressions.

        Scores are first rounded to `sum_bits` bits, usually 40 or so. Offsets are then multiples of one number, and
        so few bits long that their sum is exact in any order: threads and engines cannot disagree about it.
        """
        t = (score - number(self.low)) / number(self.width) if (self.low, self.width) != (0.0, 1.0) else score
        above = _indicator(t > number(0.5))
        if self.floor:
            u = t + (number(self.floor) - above * number(1.0 + 2.0 * self.floor))
        else:
            u = t - above * _indicator(t < number(1.0))
        steps = [constant(bits) for bits in self.bits]
        c = number(steps[0])
        for start, before, after in zip(self.starts[1:], steps[:-1], steps[1:], strict=True):
            c = c + _indicator(u >= number(start)) * number(after - before)  # whole numbers, so it is exact
        key = round_bits(u, c)
        return key, round_bits(u, number(constant(self.sum_bits))) - key

    def scores(self, keys: Floats, offsets: Floats) -> Floats:
        """The scores that lie `offsets` from the cells `keys`."""
        u = keys + offsets
        t = np.where(u < 0.0, (u + self.floor) + 1.0, u - self.floor)
        return self.low + t * self.width


def first_grid(low: float, high: float, max_cells: int) -> Grid:
    """Cells for scores between two bounds of which nothing else is known.

    Probabilities have their mass at different powers of two near 0 and near 1, other scores often in the middle, where
    cells are largest; so these get two bits more.
    """
    bits = max(int(np.ceil(np.log2(max_cells))) - 1, COARSE_BITS)
    is_unit = low >= 0.0 and 0.5 <= high <= 1.0
    low, width, bits = (0.0, 1.0, bits) if is_unit else (low, high - low, bits + 2)
    # An offset is half a cell at most, so 2^(sum_bits - bits - 1) units, or twice as many beside a power of two.
    return Grid(low, width, 2.0 ** (bits - FLOOR_BITS), (bits,), min(53, bits + 53 - COUNT_BITS))


def finer(grid: Grid, parts: Sequence[tuple[Floats, Floats]], max_cells: int) -> Grid:
    """The grid with more bits where the mass is, so that `max_cells` cells of equal mass are resolved everywhere.

    Each part holds the cells and totals of one tally on the first grid.
    """
    lows, highs, shares = _coarsen(parts, grid)
    wanted = shares * max_cells
    sizes = np.maximum(np.abs(lows), np.abs(highs))
    # A light cell need not be split, whatever scores it holds; it counts with its whole width.
    extents = np.where(wanted > 1.0, highs - lows, sizes * 2.0**-COARSE_BITS)
    starts, bits = _runs(sizes, extents, wanted, np.where(lows * highs <= 0.0, grid.bits[0], COARSE_BITS))
    largest_count = max(float(totals.max()) for _, totals in parts)
    sum_bits = min(53, int(bits.min()) + 53 - int(np.ceil(np.log2(largest_count + 1.0))))
    edges = (-np.inf, *lows[starts[1:]].tolist())
    return replace(grid, floor=0.0, starts=edges, bits=tuple(bits.tolist()), sum_bits=max(sum_bits, int(bits.max())))


def _coarsen(parts: Sequence[tuple[Floats, Floats]], grid: Grid) -> tuple[Floats, Floats, Floats]:
    """Ends of coarse cells in ascending order, and the largest share that one has of the mass of any part."""
    keys = np.concatenate([cells for cells, _ in parts])
    coarse, place = np.unique(round_bits(keys, constant(COARSE_BITS)), return_inverse=True)
    lows, highs = np.full(len(coarse), np.inf), np.full(len(coarse), -np.inf)
    half, floor = np.abs(keys) * 2.0 ** -grid.bits[0], np.copysign(grid.floor, keys)
    np.minimum.at(lows, place, keys - half - floor)
    np.maximum.at(highs, place, keys + half - floor)
    owners = np.split(place, np.cumsum([len(cells) for cells, _ in parts])[:-1])
    masses = [np.bincount(own, totals, len(coarse)) for own, (_, totals) in zip(owners, parts, strict=True)]
    return lows, highs, np.max([mass / mass.sum() for mass in masses], axis=0)


def _runs(sizes: Floats, extents: Floats, wanted: Floats, least: Ints) -> tuple[Ints, Ints]:
    """Starts and bits, at least `least`, of a few runs of coarse cells.

    A coarse cell gets the bits at which it splits into about as many cells as its share of the mass deserves.
    Neighbouring runs are joined, cheapest first, until few enough are left.
    """
    # A cell of p bits is exactly 2^-p wide, relative to the power of two above its scores.
    width = extents / 2.0 ** np.ceil(np.log2(sizes))
    deserved = np.round(np.log2(np.maximum(wanted, 1.0) / width)).clip(COARSE_BITS, MOST_BITS)
    bits = np.maximum(deserved.astype(np.intp), least)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(bits)) + 1))
    # Relative to its scores a cell is about 2^-p wide; so a run of this length has length · 2^p cells.
    length, most = np.add.reduceat(extents / sizes, starts), bits[starts]
    while len(starts) > MOST_RUNS:
        joined = np.maximum(most[:-1], most[1:])
        cost = (length[:-1] + length[1:]) * 2.0**joined - length[:-1] * 2.0 ** most[:-1] - length[1:] * 2.0 ** most[1:]
        i = int(np.argmin(cost))
        length[i] += length[i + 1]
        most[i] = joined[i]
        starts, length, most = (np.delete(column, i + 1) for column in (starts, length, most))
    return starts, most
