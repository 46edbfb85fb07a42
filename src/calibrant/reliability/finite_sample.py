"""The finite-sample band as a table that a reliability diagram can draw."""

from __future__ import annotations

import numpy as np

from calibrant.metrics.finite_sample_band import finite_sample_band
from calibrant.reliability.tables import Table, table
from calibrant.tally import Tally

__all__ = ["finite_sample_table"]


def finite_sample_table(tally: Tally, level: float = 0.9) -> Table:
    """The corners of the band's steps, in columns `score`, `low` and `high`.

    Between two scores the lower bound is that of the left one and the upper bound that of the right one.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.reliability.finite_sample import finite_sample_table
    >>> tally = Tally.from_dict({"scores": [0.2, 0.6], "positives": [1, 9], "totals": [10, 10]})
    >>> finite_sample_table(tally)["score"].tolist()
    [0.2, 0.2, 0.6, 0.6]
    """
    band = finite_sample_band(tally, level=level)
    # At each score its own bounds, and before and behind it those of the gap.
    score = np.repeat(band.scores, 3)[1:-1]
    low = np.repeat(band.low, 3)[:-2]
    low[1::3], low[2::3] = band.low[:-1], band.low[:-1]
    low[::3] = band.low
    high = np.repeat(band.high, 3)[2:]
    high[::3] = band.high
    high[1::3], high[2::3] = band.high[1:], band.high[1:]
    turns = np.ones(len(score), dtype=bool)
    # Points on a straight piece, with the same bounds as both neighbours, draw nothing.
    same = (np.diff(low) == 0.0) & (np.diff(high) == 0.0)
    turns[1:-1] = ~(same[:-1] & same[1:])
    return table(score=score[turns], low=low[turns], high=high[turns])
