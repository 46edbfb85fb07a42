"""The cutoff calibration error: the largest gap over any interval of probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import _limits, _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import Seed, as_tally
from calibrant.metrics.bootstrap import Interval
from calibrant.metrics.gap_walk import gap_walk
from calibrant.tally import Tally, row_count

__all__ = ["cutoff_calibration_error", "cutoff_calibration_interval"]

BLOCK = 64  # replicates drawn at a time, to bound the memory


def cutoff_calibration_error(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """The largest ``|Σ (y − p)| / n`` over the rows whose probabilities lie in any one interval.

    It bounds what calibration can gain for any decision that acts in an interval of probabilities, and unlike the true
    ECE it can be estimated from a sample, at the rate 1 / √n. It is the range of the cumulative gaps, of which
    `ks_calibration_error` takes the maximum.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Rossellini, Soloff, Barber, Ren, Willett 2025, "Can a calibration metric be both testable and actionable?".

    Examples
    --------
    >>> from calibrant.metrics.cutoff import cutoff_calibration_error
    >>> round(cutoff_calibration_error([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]), 3)  # the row at 0.4, or that at 0.6
    0.15
    """
    return _range(as_tally(y_true, y_prob, sample_weight, pos_label))


def cutoff_calibration_interval(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    level: float = 0.9,
    n_resamples: int = 1000,
    rng: Seed = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Interval:
    """The cutoff calibration error with an interval that holds whether or not the model is calibrated.

    The error of the sample differs from that of the population by at most the largest difference of the two gaps over
    all intervals of probabilities. A bootstrap of that largest difference gives a reach r, and the interval is
    [error − r, error + r]. A plain bootstrap fails at 0, where noise can only add; this one does not, and errs on the
    wide side.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label
        See `cutoff_calibration_error`; weights count as numbers of rows.
    level : float
        Confidence level.
    n_resamples : int
        Number of replicates.
    rng : int, numpy.random.Generator or None
        The seed or generator; the same seed gives the same interval.

    Returns
    -------
    Interval

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.cutoff import cutoff_calibration_interval
    >>> data = simulate.from_truth("D1", 2000)
    >>> cutoff_calibration_interval(data.labels, data.scores).low > 0
    True
    >>> cutoff_calibration_interval(data.labels, data.probabilities).low
    0.0
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    _validation.check_level(level)
    _validation.check_count("n_resamples", n_resamples)
    if round(tally.total) < 2:
        raise InvalidInputError(
            f"A bootstrap needs at least 2 rows; the weights add up to {row_count(tally.total)}. Weights count as "
            "numbers of rows: scale them so that they add up to the number of rows."
        )
    value = _range(tally)
    reach = float(np.quantile(_deviations(tally, n_resamples, rng), level))
    return Interval(value, max(value - reach, 0.0), min(value + reach, 1.0), level)


def _range(tally: Tally) -> float:
    """Highest minus lowest cumulative gap, where no row at all has the gap 0."""
    low, high = 0.0, 0.0
    for _, walk in gap_walk(tally):
        low, high = min(low, float(walk.min())), max(high, float(walk.max()))
    return (high - low) / tally.total


def _deviations(tally: Tally, n_resamples: int, rng: Seed) -> Floats:
    """The largest difference over intervals between a replicate's gap and that of the sample, for each replicate."""
    cells = tally.coarsen(_limits.BOOTSTRAP_CELLS)
    residuals = np.concatenate((1.0 - cells.scores, -cells.scores))  # y − p of positive, then of negative rows
    expected = np.concatenate((cells.positives, cells.negatives))
    rows, shares = round(tally.total), expected / expected.sum()
    generator = np.random.default_rng(rng)
    out = np.empty(n_resamples)
    for start in range(0, n_resamples, BLOCK):
        counts = generator.multinomial(rows, shares, size=len(out[start : start + BLOCK]))
        gaps = (counts / rows - shares) * residuals
        walk = np.cumsum(gaps[:, : len(cells)] + gaps[:, len(cells) :], axis=1)
        out[start : start + BLOCK] = np.maximum(walk.max(axis=1), 0.0) - np.minimum(walk.min(axis=1), 0.0)
    return out
