"""The one bin rule: bins are closed on the right, and the lowest score belongs to the first bin.

Bin i holds the scores with edges[i-1] < score <= edges[i], where `edges` are the inner edges only, so that
every real score has a bin. It is the rule of scikit-learn's `calibration_curve`.
"""

import numpy as np

from calibrant._typing import Floats, Ints


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


def group_numbers(starts: Ints, n_cells: int) -> Ints:
    """The number of each cell's group, counted from 0, where groups begin at `starts`."""
    return np.repeat(np.arange(len(starts)), np.diff(np.append(starts, n_cells)))


def cuts_between(left: Floats, right: Floats) -> Floats:
    """Edges midway between neighbours left < right, such that each stays on its side of a bin closed on the right."""
    # The middle of two adjacent doubles may round up to the right one.
    return np.minimum(0.5 * left + 0.5 * right, np.nextafter(right, left))
