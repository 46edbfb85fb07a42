"""Monotone maps drawn from Bayes-Iso's prior within bounds, and from its posterior on levels."""

import numpy as np

from calibrant._compiled import fast_math
from calibrant._numerics import links
from calibrant._typing import Floats, Ints

try:
    import cython
except ImportError:
    from calibrant._compiled import fallback as cython

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


def draw_levels(table: Floats, transposed: Floats, uniforms: Floats, size: int) -> Ints:
    """For each row of `uniforms` the step of its window that each cell has, (n, m).

    `table` is that of `bayes_iso_posterior.sum_inside`. O(m log m · size) for each map.
    """
    n, m = uniforms.shape[0], uniforms.shape[1]
    steps = np.zeros((n, m + 2), dtype=np.intp)
    waiting = np.empty((m + 1, 2), dtype=np.intp)
    with cython.nogil:
        for t in range(n):
            steps[t, m + 1] = size - 1
            _draw_one_of_levels(table, transposed, uniforms[t], size, waiting, steps[t])
    return np.asarray(steps)[:, 1:-1]


def _draw_one_of_levels(
    table: Floats, transposed: Floats, uniforms: Floats, size: int, waiting: Ints, steps: Ints
) -> None:
    """One map; `waiting` has room for pairs of cells between which there are cells without values."""
    waiting[0, 0], waiting[0, 1] = 0, len(steps) - 1
    n_waiting, used = 1, 0
    # A stack in place of recursion: the pair on top is split by the cell that the prior picks first between its two,
    # and what is left on both sides waits in turn. Every cell uses one uniform number, so m of them are enough.
    while n_waiting > 0:
        n_waiting -= 1
        left, right = waiting[n_waiting, 0], waiting[n_waiting, 1]
        x, y = left * size + steps[left], right * size + steps[right]
        node = _pick(table, transposed, x, y, (left + 1) * size, right * size, uniforms[used])
        used += 1
        # A node of the table is a level of a cell: `size` nodes for each cell, one cell after the other.
        cell = node // size
        steps[cell] = node - cell * size
        if cell > left + 1:
            waiting[n_waiting, 0], waiting[n_waiting, 1] = left, cell
            n_waiting += 1
        if cell < right - 1:
            waiting[n_waiting, 0], waiting[n_waiting, 1] = cell, right
            n_waiting += 1


def _pick(table: Floats, transposed: Floats, x: int, y: int, first: int, end: int, uniform: float) -> int:
    """One of the nodes from `first` to `end`, by the product of what is between it and x and between it and y."""
    total = 0.0
    for node in range(first, end):
        total += table[x, node] * transposed[y, node]
    missing = uniform * total
    last = first
    for node in range(first, end):
        mass = table[x, node] * transposed[y, node]
        if mass > 0.0:
            last = node
            missing -= mass
            if missing < 0.0:
                break
    return last
