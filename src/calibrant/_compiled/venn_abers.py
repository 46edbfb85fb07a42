"""Isotonic fits with one row added, for every place where it could be added, in one pass."""

import numpy as np

from calibrant._typing import Floats


def _turns_left(x: Floats, y: Floats, a: int, b: int, c: int) -> bool:
    """Whether the path a → b → c turns left, that is, whether b is a corner of the convex minorant."""
    return (x[b] - x[a]) * (y[c] - y[b]) > (x[c] - x[b]) * (y[b] - y[a])


def with_a_positive(positives: Floats, totals: Floats) -> Floats:
    """The isotonic value at each cell when one positive row of weight 1 is added there. O(m).

    Algorithms 1 and 2 of Vovk, Petej and Fedorova 2015. The values are slopes of the greatest convex minorant of
    the cumulative sums. The added row stands before the first cell at first, as the point (-1, -1); moving it past
    a cell shifts one point by (-1, -1), which can only make that point a corner of the minorant.
    """
    m = len(totals)
    # Point j + 1 is the sum over the first j cells; point 0 is the start of the added row.
    x, y = np.empty(m + 2), np.empty(m + 2)
    x[0], y[0], x[1], y[1] = -1.0, -1.0, 0.0, 0.0
    for j in range(m):
        x[j + 2] = x[j + 1] + totals[j]
        y[j + 2] = y[j + 1] + positives[j]
    # Algorithm 1, from right to left, so that the stack ends with its leftmost corners on top.
    corners = np.empty(m + 2, dtype=np.intp)
    size = 0
    for j in range(m + 1, -1, -1):
        while size > 1 and not _turns_left(x, y, j, corners[size - 1], corners[size - 2]):
            size -= 1
        corners[size] = j
        size += 1
    out = np.empty(m)
    for i in range(m):  # Algorithm 2
        top, second = corners[size - 1], corners[size - 2]
        out[i] = (y[second] - y[top]) / (x[second] - x[top])
        # The added row moves past cell i: the point between them is now the sum of the cells up to i, less (1, 1).
        x[i + 1], y[i + 1] = x[i + 2] - 1.0, y[i + 2] - 1.0
        if not (x[i + 1] - x[top]) * (y[second] - y[top]) > (x[second] - x[top]) * (y[i + 1] - y[top]):
            continue  # at or above the line: the minorant stays
        size -= 1
        while size > 1 and not _turns_left(x, y, i + 1, corners[size - 1], corners[size - 2]):
            size -= 1
        corners[size] = i + 1
        size += 1
    return np.clip(out, 0.0, 1.0)


def pair(positives: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Values at each cell with a negative and with a positive row added there."""
    # Turning the ranking and the labels round turns an added negative row into an added positive one.
    negatives = np.ascontiguousarray((totals - positives)[::-1])
    p0: Floats = 1.0 - with_a_positive(negatives, np.ascontiguousarray(totals[::-1]))[::-1]
    p1: Floats = with_a_positive(positives, totals)
    # Both are non-decreasing; rounding may not undo it.
    return np.maximum.accumulate(p0), np.maximum.accumulate(p1)
