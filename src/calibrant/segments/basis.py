"""What the terms of the model of segments are fitted to: counts at coarse scores, for each combination of segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._numerics import bins
from calibrant._typing import Floats, Ints

__all__ = ["Cells", "Counts", "combine"]

MAX_CELLS = 256  # of the pooled scores, within which effects do not vary
MANY_CELLS = 200_000  # of scores and segments, from which on
FEW_CELLS = 16  # of the pooled scores are enough


@dataclass(frozen=True, eq=False)
class Counts:
    """Rows or cells of tallies as columns, with a column of segment numbers for each key."""

    scores: Floats
    positives: Floats
    totals: Floats
    codes: Ints


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts at each coarse score and combination of segments, on which the terms are fitted."""

    scores: Floats
    pooled: Floats
    codes: Ints
    positives: Floats
    totals: Floats

    @classmethod
    def of(cls, counts: Counts, pooled_scores: Floats, pooled_totals: Floats) -> tuple[Cells, Floats, Floats]:
        """The cells without pooled logits, and the coarse scores with their numbers of rows. O(n log n)."""
        found = cls._joined(counts, pooled_scores, pooled_totals, MAX_CELLS)
        if len(found[0].scores) > MANY_CELLS:
            found = cls._joined(counts, pooled_scores, pooled_totals, FEW_CELLS)
        return found

    @classmethod
    def _joined(
        cls, counts: Counts, pooled_scores: Floats, pooled_totals: Floats, most: int
    ) -> tuple[Cells, Floats, Floats]:
        starts = bins.equal_mass_starts(pooled_totals, most)
        groups = bins.group_numbers(starts, len(pooled_totals))
        totals = np.add.reduceat(pooled_totals, starts)
        coarse = np.add.reduceat(pooled_scores * pooled_totals, starts) / totals
        place = groups[np.searchsorted(pooled_scores, counts.scores)]
        number = combine(np.column_stack((place, counts.codes)))
        first = np.unique(number, return_index=True)[1]
        positives = np.bincount(number, counts.positives, len(first)).astype(np.float64)
        sums = np.bincount(number, counts.totals, len(first)).astype(np.float64)
        return cls(coarse[place[first]], np.zeros(len(first)), counts.codes[first], positives, sums), coarse, totals


def combine(codes: Ints) -> Ints:
    """One number for each distinct row of `codes`, in the rows' lexicographic order."""
    out = np.zeros(len(codes), dtype=np.intp)
    for column in codes.T:
        out = np.unique(out * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1].reshape(-1)
    return out
