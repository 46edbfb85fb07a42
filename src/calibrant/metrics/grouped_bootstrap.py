"""Confidence intervals where rows depend on each other: the rows of a group are resampled together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from calibrant import _limits, _validation
from calibrant._kernels import bins
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.metrics.base import Metric, Seed
from calibrant.metrics.bootstrap import METHODS, Interval, interval_of, reflected
from calibrant.metrics.grouped_rows import GroupedRows, check_grouped_rows
from calibrant.tally import Tally

__all__ = ["grouped_interval", "grouped_resamples"]


def grouped_interval(
    metric: Metric,
    y_true: ArrayLike,
    y_prob: ArrayLike,
    groups: ArrayLike,
    *,
    level: float = 0.9,
    n_resamples: int = 1000,
    method: str = "squared",
    bounds: tuple[float, float] = (0.0, np.inf),
    rng: Seed = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Interval:
    """A metric with a confidence interval for rows that come in groups: patients, customers, matches, days.

    Rows of one group say less than as many rows of different groups, and an interval that takes them as independent
    is too narrow. Here whole groups are drawn again with replacement, and the interval is widened where they are few.
    It takes some twenty groups at least; it is the number of groups that counts, not that of rows.

    Parameters
    ----------
    metric : callable
        Any metric of this module; fix its options with ``functools.partial`` or a lambda of one tally.
    y_true : array-like of shape (n,)
        Labels. A tally does not do: it no longer knows which rows belong together.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    groups : array-like of shape (n,)
        The group of each row: numbers, strings or dates.
    level, n_resamples, method, bounds, rng
        See `bootstrap_interval`.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import metrics, simulate
    >>> from calibrant.metrics.grouped_bootstrap import grouped_interval
    >>> data = simulate.from_truth("D1", 300)
    >>> y, p, patient = (np.repeat(column, 10) for column in (data.labels, data.scores, np.arange(300)))
    >>> plain = metrics.bootstrap_interval(metrics.brier_score, y, p)
    >>> grouped = grouped_interval(metrics.brier_score, y, p, patient)
    >>> grouped.high - grouped.low > 2 * (plain.high - plain.low)  # every row is there ten times
    True
    """
    _validation.check_level(level)
    _validation.check_choice("method", method, METHODS)
    rows = check_grouped_rows(y_true, y_prob, groups, sample_weight=sample_weight, pos_label=pos_label)
    tally = rows.tally()
    value = float(metric(tally))
    shift = value - float(metric(tally.coarsen(_limits.BOOTSTRAP_CELLS)))
    draws = np.array([metric(sample) for sample in grouped_resamples(rows, n_resamples, rng)]) + shift
    plausible = value + rows.expansion(level) * (reflected(draws, value, value, method) - value)
    return interval_of(value, plausible, level, bounds)


def grouped_resamples(rows: GroupedRows, n_resamples: int, rng: Seed = 0) -> Iterator[Tally]:
    """Tallies of as many groups as there are, drawn with replacement. O(n) for each.

    More than 512 distinct scores are first joined to as many cells of equal mass. A replicate in which a class is
    missing is drawn again, so that metrics that need both classes have a value.

    Examples
    --------
    >>> from calibrant.metrics.grouped_bootstrap import grouped_resamples
    >>> from calibrant.metrics.grouped_rows import check_grouped_rows
    >>> rows = check_grouped_rows([0, 1, 0, 1], [0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    >>> [sample.total for sample in grouped_resamples(rows, n_resamples=3)]
    [4.0, 4.0, 4.0]
    """
    _validation.check_count("n_resamples", n_resamples)
    tally = rows.tally()
    cells = tally.coarsen(_limits.BOOTSTRAP_CELLS)
    place = 2 * _cell_of_rows(tally, rows.scores) + rows.labels  # the cell and label of each row in one number
    two_classes = 0.0 < tally.total_positive < tally.total
    generator = np.random.default_rng(rng)
    made = 0
    while made < n_resamples:
        times = rows.draw_groups(1, generator)[0]
        counts = np.bincount(place, weights=rows.weights * times[rows.groups], minlength=2 * len(cells)).reshape(-1, 2)
        positives, totals = counts[:, 1], counts.sum(axis=1)
        if not totals.any() or (two_classes and not 0.0 < positives.sum() < totals.sum()):
            continue
        made += 1
        kept = totals > 0.0
        yield Tally(cells.scores[kept], positives[kept], totals[kept])


def _cell_of_rows(tally: Tally, scores: Floats) -> Ints:
    """The cell of each row, after joining to at most 512 cells as `coarsen` does."""
    starts = np.arange(len(tally))
    if len(tally) > _limits.BOOTSTRAP_CELLS:
        starts = bins.group_starts(bins.equal_mass_groups(tally.totals, _limits.BOOTSTRAP_CELLS))
    # Rows of weight 0 may lie below the first cell; they count for nothing wherever they are put.
    return np.maximum(np.searchsorted(tally.scores[starts], scores, side="right") - 1, 0)
