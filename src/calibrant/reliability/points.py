"""Binned points with exact intervals."""

from __future__ import annotations

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._kernels import bins
from calibrant._typing import Floats, Ints
from calibrant._validation import check_choice
from calibrant.metrics.base import bin_number
from calibrant.reliability.tables import Table, table
from calibrant.tally import Tally

__all__ = ["binned_points", "clopper_pearson"]

STRATEGIES = ("quantile", "uniform")
MAX_AUTO_BINS = 20  # more points than this hide each other in a picture


def binned_points(
    tally: Tally,
    *,
    n_bins: int | str = "auto",
    strategy: str = "quantile",
    level: float = 0.9,
    squares: Floats | None = None,
) -> Table:
    """The `points` table of a tally, whose scores with "quantile" may be any numbers.

    `squares` is the sum of squared weights in each cell, for weights that are not counts.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.reliability import binned_points
    >>> points = binned_points(Tally.from_arrays([0.1, 0.2, 0.6, 0.8], [0, 0, 1, 0]), n_bins=2)
    >>> points["mean_score"].round(3).tolist(), points["fraction"].tolist()
    ([0.15, 0.7], [0.0, 0.5])
    """
    check_choice("strategy", strategy, STRATEGIES)
    left, right, groups = _bins(tally, bin_number(n_bins, tally.total, MAX_AUTO_BINS), strategy)
    starts = bins.group_starts(groups)
    positives, total = np.add.reduceat(tally.positives, starts), np.add.reduceat(tally.totals, starts)
    fraction = positives / total
    effective = total if squares is None else total**2 / np.add.reduceat(squares, starts)
    low, high = clopper_pearson(fraction * effective, effective, level)
    mean = np.add.reduceat(tally.scores * tally.totals, starts) / total
    last = tally.scores[np.append(starts[1:], len(tally)) - 1]
    return table(
        left=left,
        right=right,
        mean_score=np.clip(mean, tally.scores[starts], last),
        fraction=fraction,
        low=low,
        high=high,
        positives=positives,
        total=total,
        effective_total=effective,
    )


def clopper_pearson(positives: Floats, total: Floats, level: float) -> tuple[Floats, Floats]:
    """Ends of the exact central interval of a binomial proportion; counts need not be whole.

    Examples
    --------
    >>> from calibrant.reliability import clopper_pearson
    >>> low, high = clopper_pearson([0.0], [10.0], 0.9)
    >>> low.tolist(), high.round(4).tolist()
    ([0.0], [0.2589])
    """
    _validation.check_level(level)
    k, n = np.asarray(positives, dtype=np.float64), np.asarray(total, dtype=np.float64)
    tail = 0.5 * (1.0 - level)
    # The ends are beta quantiles; where a parameter is 0, the end is 0 or 1.
    inner_low, inner_high = np.where(k > 0.0, k, 1.0), np.where(k < n, n - k, 1.0)
    low = np.where(k > 0.0, special.betaincinv(inner_low, n - k + 1.0, tail), 0.0)
    high = np.where(k < n, special.betaincinv(k + 1.0, inner_high, 1.0 - tail), 1.0)
    return low, high


def _bins(tally: Tally, number: int, strategy: str) -> tuple[Floats, Floats, Ints]:
    """Left and right ends of the bins that have rows, and the bin of each cell, never decreasing."""
    if strategy == "uniform":
        groups = bins.bin_of(tally.scores, bins.equal_width_edges(number))
        edges = np.linspace(0.0, 1.0, number + 1)
        used = np.unique(groups)
        return edges[used], edges[used + 1], groups
    groups = bins.equal_mass_groups(tally.totals, number)
    starts = bins.group_starts(groups)
    return tally.scores[starts], tally.scores[np.append(starts[1:], len(tally)) - 1], groups
