"""In which order the boundaries of nearly-isotonic regression vanish; `near_isotonic` says what that is."""

import math

import numpy as np

from calibrant._typing import Floats, Ints

_INFINITE = math.inf
TOUCHING = 1e-14  # what rounding alone can make of the sums of two equal blocks, relative to the sums before them


def _push(keys: Floats, items: Ints, size: int, key: float, item: int) -> None:
    """Add to a binary heap of `size` entries."""
    i = size
    while i > 0:
        parent = (i - 1) // 2
        if keys[parent] <= key:
            break
        keys[i], items[i] = keys[parent], items[parent]
        i = parent
    keys[i], items[i] = key, item


def _drop_first(keys: Floats, items: Ints, size: int) -> None:
    """Remove the smallest entry of a binary heap of `size` entries."""
    key, item = keys[size - 1], items[size - 1]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1:
            child += keys[child + 1] < keys[child]  # no branch, which would be guessed wrong every other time
        if keys[child] >= key:
            break
        keys[i], items[i] = keys[child], items[child]
        i = child
    keys[i], items[i] = key, item


def _meeting(j: int, falls: Floats, sums: Floats, mass: Floats, first: Ints, last: Ints) -> float:
    """The λ at which the blocks on both sides of boundary j have the same value; infinite if they never do."""
    a, b = first[j], last[j + 1]
    left, right = falls[a], falls[b + 1]  # kinds of the outer boundaries, 0 at both ends
    between = falls[j + 1]
    mass_a, mass_b = mass[j + 1] - mass[a], mass[b + 1] - mass[j + 1]
    # As λ grows, a block moves with the slope (kind on its left − kind on its right) / mass: a fall pulls the block
    # before it down and the one after it up.
    closing = (left - between) / mass_a - (between - right) / mass_b
    apart = (sums[b + 1] - sums[j + 1]) / mass_b - (sums[j + 1] - sums[a]) / mass_a
    if closing == 0.0:  # side by side for ever; as one block, if they have met where several merge at the same λ
        return 0.0 if abs(apart) * min(mass_a, mass_b) < TOUCHING * mass[b + 1] else _INFINITE
    return apart / closing


def path(falls: Floats, sums: Floats, mass: Floats) -> tuple[Ints, Floats]:
    """The boundaries in the order in which they vanish, and the λ of each. O(m log m).

    Modified pool-adjacent-violators (Tibshirani et al., Algorithm 1) with a heap of meeting times instead of a search
    through all blocks after each merge. Boundary j lies after cell j; `falls[j + 1]` is its kind, with a 0 at both
    ends; `sums` and `mass` are cumulative sums of w·y and w that begin with 0. Neighbours with equal y must be one
    cell already.
    """
    m = len(mass) - 1
    # first[j] is where the block that ends at j begins, and last the reverse.
    first, last = np.arange(m, dtype=np.intp), np.arange(m, dtype=np.intp)
    order, when = np.empty(m, dtype=np.intp), np.empty(m)
    due = np.full(m, _INFINITE)  # the current meeting times: each has an entry of that time, or of an earlier one
    for j in range(m - 1):
        due[j] = _meeting(j, falls, sums, mass, first, last)
    # What boundaries plan at first is sorted, which is cheaper than a heap of it; the heap has what changes on the way.
    planned = np.argsort(due, kind="stable")
    times = np.asarray(due)[planned]
    keys, items = np.empty(3 * m), np.empty(3 * m, dtype=np.intp)
    at, size, n_merged, penalty = 0, 0, 0, 0.0
    while True:
        if size > 0 and keys[0] < times[at]:
            key, j = keys[0], items[0]
            _drop_first(keys, items, size)
            size -= 1
        elif times[at] < _INFINITE:
            key, j = times[at], planned[at]
            at += 1
        else:
            break
        if key != due[j]:  # a neighbour merged since, and the entry is put off or out of date
            if key < due[j] < _INFINITE:
                _push(keys, items, size, due[j], j)
                size += 1
            continue
        penalty = max(penalty, key)
        order[n_merged], when[n_merged] = j, penalty
        n_merged += 1
        due[j] = -1.0
        # Only the two ends of a block are looked at, so only they have to know the new block.
        a, b = first[j], last[j + 1]
        first[b], last[a] = a, b
        for side in range(2):  # only the merged block changed its slope
            outer = b if side else a - 1  # not a loop over a tuple, which Cython would make each time
            if 0 <= outer < m - 1:
                before, due[outer] = due[outer], _meeting(outer, falls, sums, mass, first, last)
                if due[outer] < before:
                    _push(keys, items, size, due[outer], outer)
                    size += 1
    return np.asarray(order)[:n_merged], np.asarray(when)[:n_merged]
