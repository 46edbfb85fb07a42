"""Maps drawn from Bayes-Iso's posterior on levels, from the top of the tree of ranks down."""

import numpy as np

from calibrant._compiled import fallback
from calibrant._typing import Floats, Ints

try:
    import cython
except ImportError:
    from calibrant._compiled import fallback as cython

fallback.warn_if_slow(__file__)


def draw(table: Floats, transposed: Floats, uniforms: Floats, size: int) -> Ints:
    """For each row of `uniforms` the step of its window that each cell has, (n, m).

    `table` is that of `bayes_iso_posterior.sum_inside`. O(m log m · size) for each map.
    """
    n, m = uniforms.shape[0], uniforms.shape[1]
    steps = np.zeros((n, m + 2), dtype=np.intp)
    waiting = np.empty((m + 1, 2), dtype=np.intp)
    with cython.nogil:
        for t in range(n):
            steps[t, m + 1] = size - 1
            _draw_one(table, transposed, uniforms[t], size, waiting, steps[t])
    return np.asarray(steps)[:, 1:-1]


def _draw_one(table: Floats, transposed: Floats, uniforms: Floats, size: int, waiting: Ints, steps: Ints) -> None:
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
