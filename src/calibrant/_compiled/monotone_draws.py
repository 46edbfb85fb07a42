"""Monotone maps drawn from Bayes-Iso's prior within bounds."""

import numpy as np

from calibrant._compiled import fallback, fast_math
from calibrant._numerics import links
from calibrant._typing import Floats, Ints

try:
    import cython
except ImportError:
    from calibrant._compiled import fallback as cython

fallback.warn_if_slow(__file__)

_EPS = links.EPS


def draw(uniforms: Floats, lower: Floats, upper: Floats, positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Maps from the prior within bounds (Algorithm 1, step 2) and their log-likelihoods (eq. 3).

    One map for each of the `uniforms`, (n, 2, m): the first row picks ranks, the second values. O(m) for each map.
    """
    n, m = uniforms.shape[0], uniforms.shape[2]
    maps, fits = np.empty((n, m)), np.zeros(n)
    waiting = np.empty((m + 1, 2), dtype=np.intp)
    values = np.zeros(m + 2)  # with a sentinel at both ends
    values[m + 1] = 1.0
    with cython.nogil:
        for t in range(n):
            _draw_one(uniforms[t], lower, upper, waiting, values)
            for k in range(m):
                p = min(max(values[k + 1], _EPS), 1.0 - _EPS)
                maps[t, k] = values[k + 1]
                fits[t] += positives[k] * fast_math.log(p) + negatives[k] * fast_math.log(1.0 - p)
    return np.asarray(maps), np.asarray(fits)


def _draw_one(uniforms: Floats, lower: Floats, upper: Floats, waiting: Ints, values: Floats) -> None:
    """One map, into the inner `values`; `waiting` has room for the ranges of cells that have no values yet."""
    waiting[0, 0], waiting[0, 1] = 1, len(lower)
    n_waiting, n_drawn = 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        first, last = waiting[n_waiting, 0], waiting[n_waiting, 1]
        size = last - first + 1
        steps = int(uniforms[0, n_drawn] * size)  # a number of its own for each range, or ranks depend on each other
        n_drawn += 1
        x = first + min(steps, size - 1)
        low = max(lower[x - 1], values[first - 1])
        high = min(upper[x - 1], values[last + 1])
        values[x] = low + uniforms[1, x - 1] * (high - low)
        if x > first:
            waiting[n_waiting, 0], waiting[n_waiting, 1] = first, x - 1
            n_waiting += 1
        if x < last:
            waiting[n_waiting, 0], waiting[n_waiting, 1] = x + 1, last
            n_waiting += 1
