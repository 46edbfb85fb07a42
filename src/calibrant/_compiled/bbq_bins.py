"""Bins of an equal number of rows, as the authors of BBQ cut them."""

import math

import numpy as np

from calibrant._compiled import fallback
from calibrant._typing import Floats, Ints

fallback.warn_if_slow(__file__)


def bin_ends(rows: Floats, n_bins: int) -> Ints:
    """Where each bin ends, for cells with the running number of rows `rows`. O(n_bins log m).

    A bin takes ⌊N / n_bins⌋ rows and whatever shares its last score; the last bin takes the rest. Ties can leave
    fewer bins than asked for.
    """
    m = len(rows)
    size = math.floor(rows[m - 1] / n_bins)
    ends = np.empty(n_bins, dtype=np.intp)
    count = 0
    before = 0.0
    end = 0
    while end < m:
        last = count == n_bins - 1
        end = m if last else min(max(end, _first_at_least(rows, before + size)) + 1, m)
        ends[count] = end
        count += 1
        before = rows[end - 1]
    return np.asarray(ends)[:count].copy()


def _first_at_least(rows: Floats, value: float) -> int:
    """The first cell whose running number of rows is at least `value`, by bisection."""
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        if rows[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
