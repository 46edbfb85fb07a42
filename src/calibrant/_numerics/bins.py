"""From rows to cells, and from cells to bins.

Rows: the sort is the only step of the library whose cost grows faster than the number of rows. Labels without weights
ride along in a spare bit of the score's own bit pattern, so one plain sort of integers, which processors do many
elements at a time, replaces an indirect sort and a gather.

Bins are closed on the right, and the lowest score belongs to the first bin: bin i holds the scores with
edges[i-1] < score <= edges[i], where `edges` are the inner edges only, so that every real score has a bin. It is the
rule of scikit-learn's `calibration_curve`.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from calibrant._typing import ArrayLike, Bools, Floats, Ints


def bin_of(scores: Floats, edges: Floats) -> Ints:
    """The bin of each score, for sorted inner `edges`. O(n log m)."""
    return np.searchsorted(edges, scores, side="left")


def equal_width_edges(n_bins: int) -> Floats:
    """The inner edges of `n_bins` bins of equal width on [0, 1]."""
    return np.linspace(0.0, 1.0, n_bins + 1)[1:-1]


def equal_mass_starts(totals: Floats, n_groups: int) -> Ints:
    """The first cell of each group when neighbours join into at most `n_groups` groups of nearly equal mass.

    A cell belongs to the group in which the middle of its mass lies, so no cell is ever split. Groups that would be
    empty do not exist. O(m).
    """
    ends = np.cumsum(totals)
    middle = -0.5 * totals
    middle += ends
    middle /= ends[-1]
    middle *= n_groups
    # Middles only grow, so the places where whole numbers are passed say all; there are few of them.
    starts = np.unique(np.searchsorted(middle, np.arange(n_groups)))
    return starts[starts < len(totals)]


def coarse_starts(totals: Floats, most: int) -> Ints:
    """The first cell of each group when cells are joined only if there are more than `most` of them."""
    return np.arange(len(totals)) if len(totals) <= most else equal_mass_starts(totals, most)


def group_numbers(starts: Ints, n_cells: int) -> Ints:
    """The number of each cell's group, counted from 0, where groups begin at `starts`."""
    return np.repeat(np.arange(len(starts)), np.diff(np.append(starts, n_cells)))


def cuts_between(left: Floats, right: Floats) -> Floats:
    """Edges midway between neighbours left < right, such that each stays on its side of a bin closed on the right."""
    # The middle of two adjacent doubles may round up to the right one.
    return np.minimum(0.5 * left + 0.5 * right, np.nextafter(right, left))


Ordinals: TypeAlias = npt.NDArray[np.int64]

_MAGNITUDE = np.int64(2**63 - 1)
ROUNDED_BITS = np.int64(12)  # of the 52 of a double: more than arithmetic blurs, fewer than anybody writes down
_HALF_A_STEP = np.int64(1) << (ROUNDED_BITS - np.int64(1))
_KEPT_BITS = -(np.int64(1) << ROUNDED_BITS)
NEAR_ONE = 1.0 - 1e-6  # from here to 1 the digits of 1 − p are what matters, and rounding has left few of them


def weighted_quantiles(x: Floats, weights: Floats, at: ArrayLike) -> Floats:
    """The smallest values with at least these shares of the weight at or below them. O(n log n).

    A value of weight 2 counts exactly like two values.
    """
    order = np.argsort(x)
    below = np.cumsum(weights[order])
    place = np.searchsorted(below, (np.asarray(at) - 1e-12) * below[-1])  # rounding must not pass a value over
    return x[order][np.minimum(place, len(x) - 1)]


def group_labels(scores: Floats, positive: Bools) -> tuple[Floats, Floats, Floats]:
    """Distinct sorted scores, positives and totals of unweighted rows, as `group_sums` has them. O(n log n)."""
    scores = scores + 0.0  # -0.0 becomes 0.0, so that both zeros are one score
    largest = max(abs(float(scores.min())), abs(float(scores.max())))
    # Below 2 the highest bit of the exponent is free; a power of two brings larger scores there without rounding.
    exponent = max(0, int(np.frexp(largest)[1]) - 1)
    scaled = np.ldexp(scores, -exponent) if exponent else scores
    if exponent and not np.array_equal(np.ldexp(scaled, exponent), scores):
        return group_sums(scores, positive.astype(np.float64), np.ones(len(scores)))
    keys = ordinal(scaled) << np.int64(1)
    keys |= positive
    keys.sort()
    positive = (keys & np.int64(1)).astype(np.bool_)
    keys >>= np.int64(1)
    ordered = from_ordinal(keys)
    if exponent:
        ordered = np.ldexp(ordered, exponent)
    starts = _starts(ordered)
    if len(starts) == len(ordered):
        return ordered, positive.astype(np.float64), np.ones(len(ordered))
    bounds = np.append(starts, len(ordered))
    positives_before = np.zeros(len(ordered) + 1)
    np.cumsum(positive, out=positives_before[1:])
    return ordered[starts], np.diff(positives_before[bounds]), np.diff(bounds).astype(np.float64)


def group_sums(scores: Floats, positives: Floats, totals: Floats) -> tuple[Floats, Floats, Floats]:
    """Distinct sorted scores with the sums of `positives` and `totals` over equal scores. O(n log n).

    Scores that agree in their first 40 bits, about 12 digits, are one score, the smallest of them; but for those
    between 1 − 1e-6 and 1, where odds differ a hundredfold within the last digits.
    """
    order = np.argsort(scores)
    ordered = scores[order] + 0.0
    starts = _starts(ordered)
    if len(starts) == len(ordered):
        return ordered, positives[order], totals[order]
    return ordered[starts], np.add.reduceat(positives[order], starts), np.add.reduceat(totals[order], starts)


def _starts(ordered: Floats) -> Ints:
    """The first of each run of equal scores.

    p and 1 − (1 − p) are equal but for rounding, which must not tell rows apart. Scores are compared by a rounding that
    depends on nothing else, not by their distance, so that the sum of tallies is that of all rows in any order.
    """
    bits = ordered.view(np.int64)
    rounded = bits + _HALF_A_STEP
    rounded &= _KEPT_BITS
    near_one = slice(*np.searchsorted(ordered, (NEAR_ONE, 1.0)))
    rounded[near_one] = bits[near_one]
    first = np.empty(len(ordered), dtype=np.bool_)
    first[0] = True
    np.not_equal(rounded[1:], rounded[:-1], out=first[1:])
    return np.flatnonzero(first)


def ordinal(values: Floats) -> Ordinals:
    """Integers that compare as the doubles do; neighbouring doubles differ by one. -0.0 comes before 0.0."""
    return _flip(values.view(np.int64))


def from_ordinal(ordinals: Ordinals) -> Floats:
    """The doubles that `ordinal` numbered."""
    return _flip(ordinals).view(np.float64)


def _flip(bits: Ordinals) -> Ordinals:
    # The patterns of negative doubles grow with the magnitude; flipping all bits but the sign turns them round.
    return bits ^ ((bits >> np.int64(63)) & _MAGNITUDE)
