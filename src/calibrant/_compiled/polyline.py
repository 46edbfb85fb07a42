"""The fewest points of a curve that still follow it."""

import math

import numpy as np

from calibrant._typing import Floats, Ints

_INFINITE = math.inf


def simplify(x: Floats, y: Floats, tolerance: Floats) -> Ints:
    """Indices of the points whose straight lines pass every point (x, y) at a distance of at most `tolerance` in y.

    From each kept point on, the slopes of lines that pass all points since near enough are an interval that only
    shrinks; the next kept point is the last one that such a line reaches. Ends are kept. O(n) but for long flat
    pieces, whose last points are passed twice.
    """
    n = len(x)
    kept = np.empty(n, dtype=np.intp)
    kept[0] = 0
    count = 1
    start = 0
    while start < n - 1:
        lowest, highest = -_INFINITE, _INFINITE
        reached = start + 1
        for j in range(start + 1, n):
            distance = x[j] - x[start]
            slope = (y[j] - y[start]) / distance
            if lowest <= slope <= highest:
                reached = j
            lowest = max(lowest, slope - tolerance[j] / distance)
            highest = min(highest, slope + tolerance[j] / distance)
            if lowest > highest:
                break
        start = reached
        kept[count] = reached
        count += 1
    return np.asarray(kept)[:count].copy()
