"""Calibration in every segment at once: the largest cumulative gap over segments, tested for having looked at all."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._numerics import bins
from calibrant._typing import Bools, Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.maps.keys import SegmentCounts
from calibrant.metrics.reading import reading
from calibrant.metrics.samples import Seed, read_columns

LEAST_SPREAD = 1.0  # rows; a gap of less than a row is never called large
MANY_CELLS = 20_000  # from which on neighbouring probabilities are joined,
MAX_CELLS = 500  # to this many over all rows
BLOCK = 2_000_000  # simulated labels at a time
ALPHA = 0.05


@dataclass(frozen=True)
class MulticalibrationError:
    """The segment with the largest standardised gap, and what it means.

    Attributes
    ----------
    statistic : float
        The largest ``|Σ (y − p)|`` over the rows of a segment up to any probability, in standard deviations of the
        sum over the whole segment.
    p_value : float
        The probability of such a statistic, in any of the segments, if all probabilities are right.
    segment : dict of str to value
        The segment that attains it, by key; empty for all rows together.
    error : float
        The gap of that segment divided by its rows: a mean error of its probabilities.
    smallest_error : float
        The smallest such error, in the segment that shows errors best, that these rows could have shown: it would
        have a p-value of 5 %.
    n_segments : int
        How many segments were looked at.

    Examples
    --------
    >>> from calibrant.metrics.multicalibration import multicalibration_error
    >>> y, p, team = [1, 1, 1, 1, 0, 0, 1, 0] * 9, [0.5] * 72, ["a"] * 36 + ["b"] * 36
    >>> multicalibration_error(y, p, segment=team).n_segments
    3
    """

    statistic: float
    p_value: float
    segment: dict[str, Any]
    error: float
    smallest_error: float
    n_segments: int

    def __str__(self) -> str:
        where = ", ".join(f"{key} = {value}" for key, value in self.segment.items()) or "all rows"
        verdict = "more than chance" if self.p_value <= ALPHA else "no more than chance"
        return (
            f"The largest gap of {self.n_segments} segments is in {where}: its probabilities are off by "
            f"{self.error:.4f}, which is {verdict} (p = {self.p_value:.3g}). "
            f"Smallest detectable error: {self.smallest_error:.4f}."
        )


@reading(read_columns, "sample_weight", "pos_label")
def multicalibration_error(
    columns: tuple[Floats, Bools, Floats], *, segment: Any, depth: int = 2, n_simulations: int = 999, rng: Seed = 0
) -> MulticalibrationError:
    """The largest standardised cumulative gap over segments, with a p-value for having looked at all of them.

    Looked at are all rows together, the segments of every key and, with `depth` 2, the cells of every pair of keys.
    The p-value compares with labels drawn from the probabilities themselves, on the same segments: it is exact
    whatever their sizes and however they overlap.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    segment : array-like of shape (n,) or (n, keys), table, or dict of columns
        The segment of each row, by one key or several. Rows without one are a segment of their own.
    sample_weight : array-like of shape (n,), optional
        Whole, non-negative weights: how often a row was seen.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.
    depth : {1, 2}
        Up to how many keys are crossed.
    n_simulations : int
        How often labels are drawn; the smallest possible p-value is one over this number plus one.
    rng : int, numpy.random.Generator or None
        The seed or generator of the labels.

    Returns
    -------
    MulticalibrationError

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics.multicalibration import multicalibration_error
    >>> rng = np.random.default_rng(0)
    >>> p, team = rng.random(3000), rng.choice(["a", "b", "c"], 3000)
    >>> y = rng.random(3000) < np.where(team == "b", p**2, p)
    >>> found = multicalibration_error(y, p, segment=team)
    >>> found.segment, found.p_value
    ({'segment': 'b'}, 0.001)
    """
    counts = SegmentCounts.of_rows(*columns, segment, "segment")
    _validation.check_unit_interval(counts.scores, "y_prob")
    rows = _arrange(counts, depth)
    count = _validation.check_count("n_simulations", n_simulations, least=19)
    observed = rows.statistics(rows.positives[None])[0]
    largest = int(np.argmax(observed))
    drawn = _simulated_maxima(rows, count, np.random.default_rng(rng))
    p_value = (1 + int((drawn >= observed[largest] - 1e-9).sum())) / (1 + count)
    critical = float(np.quantile(drawn, 1.0 - ALPHA))
    scale = rows.spread / rows.sizes
    return MulticalibrationError(
        float(observed[largest]),
        p_value,
        rows.names[largest],
        float(observed[largest] * scale[largest]),
        float(critical * scale.min()),
        len(rows.names),
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Counted cells, and each segment as a run of the list `order` of cells, sorted by probability."""

    probabilities: Floats
    positives: Floats
    totals: Floats
    order: Ints
    starts: Ints
    spread: Floats
    sizes: Floats
    names: list[dict[str, Any]]

    def statistics(self, positives: Floats) -> Floats:
        """The statistic of every segment, (k, segments), for k sets of labels; O(k · cells · terms)."""
        gaps = positives - self.totals * self.probabilities
        runs = np.cumsum(gaps[:, self.order], axis=1)
        before = np.where(self.starts > 0, runs[:, np.maximum(self.starts, 1) - 1], 0.0)
        # The largest distance from where a segment's run starts is reached at its highest or its lowest point.
        high = np.maximum.reduceat(runs, self.starts, axis=1) - before
        low = np.minimum.reduceat(runs, self.starts, axis=1) - before
        return np.maximum(high, -low) / self.spread


def _simulated_maxima(rows: _Rows, count: int, rng: np.random.Generator) -> Floats:
    if (rows.totals != np.round(rows.totals)).any():
        raise InvalidInputError("`sample_weight` must be whole numbers here: a weight is how often a row was seen.")
    trials = rows.totals.astype(np.int64)
    size = max(1, BLOCK // len(rows.order))
    maxima = [
        rows.statistics(
            rng.binomial(trials, rows.probabilities, (min(size, count - done), len(trials))).astype(float)
        ).max(axis=1)
        for done in range(0, count, size)
    ]
    return np.concatenate(maxima)


def _arrange(counts: SegmentCounts, depth: int) -> _Rows:
    if depth not in (1, 2):
        raise InvalidInputError(f"`depth` must be 1 or 2; got {depth!r}.")
    cells = _joined(counts)
    p, totals, codes, keys = np.clip(cells.scores, 0.0, 1.0), cells.totals, cells.codes, cells.keys
    by_probability = np.argsort(p, kind="stable")
    variance = totals * p * (1.0 - p)
    numbers = range(codes.shape[1])
    orders, starts, spreads, sizes, names = [], [], [], [], []
    for members in [(), *((k,) for k in numbers), *(combinations(numbers, 2) if depth == 2 else ())]:
        levels, segment_of_cell = np.unique(codes[:, list(members)], axis=0, return_inverse=True)
        segment_of_cell = segment_of_cell.reshape(-1)
        if members and len(levels) == 1:
            continue
        orders.append(by_probability[np.argsort(segment_of_cell[by_probability], kind="stable")])
        lengths = np.bincount(segment_of_cell, minlength=len(levels))
        starts.append(np.cumsum(lengths) - lengths + sum(map(len, orders[:-1])))
        spreads.append(np.sqrt(np.maximum(np.bincount(segment_of_cell, variance, len(levels)), LEAST_SPREAD)))
        sizes.append(np.bincount(segment_of_cell, totals, len(levels)))
        names += [
            {keys.names[k]: keys.levels[k][g] for k, g in zip(members, level, strict=True)} for level in levels.tolist()
        ]
    order, start, spread, size = (np.concatenate(parts) for parts in (orders, starts, spreads, sizes))
    return _Rows(p, cells.positives, totals, order, start, spread, size, names)


def _joined(counts: SegmentCounts) -> SegmentCounts:
    """Rows with one probability and the same segments counted together; with many rows, of nearly one probability."""
    distinct, place = np.unique(counts.scores, return_inverse=True)
    if len(place) > MANY_CELLS and len(distinct) > MAX_CELLS:
        mass = np.bincount(place, counts.totals).astype(np.float64)
        place = bins.group_numbers(bins.equal_mass_starts(mass, MAX_CELLS), len(mass))[place]
    return counts.merged(place)
