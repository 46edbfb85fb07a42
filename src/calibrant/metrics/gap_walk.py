"""The cumulative gaps Σ (y − p) up to each score, block by block: in one pass, and in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calibrant._typing import Floats
from calibrant.tally import Tally

__all__ = ["gap_walk"]

BLOCK = 16384


def gap_walk(tally: Tally) -> Iterator[tuple[slice, Floats]]:
    """Blocks of cells, and the cumulative gap behind each of their cells.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.metrics.gap_walk import gap_walk
    >>> [(cells, walk)] = gap_walk(Tally.from_arrays([0.25, 0.5], [0, 1]))
    >>> walk.tolist()
    [-0.25, 0.25]
    """
    reached = 0.0
    for start in range(0, len(tally), BLOCK):
        cells = slice(start, min(start + BLOCK, len(tally)))
        walk = tally.scores[cells] * tally.totals[cells]
        np.subtract(tally.positives[cells], walk, out=walk)
        walk[0] += reached
        np.cumsum(walk, out=walk)
        reached = float(walk[-1])
        yield cells, walk
