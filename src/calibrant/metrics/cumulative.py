"""Errors from cumulative gaps: the largest over any interval of probabilities, and the average over all cuts."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._compiled import cumulative_gaps
from calibrant._typing import ArrayLike, Floats
from calibrant.intervals import Interval
from calibrant.metrics.hypothesis_tests import range_quantile
from calibrant.metrics.samples import ScoreSample, Seed, as_tally, read_sample
from calibrant.tally import Tally

__all__ = ["averaged_two_bin_error", "cutoff_calibration_error", "cutoff_calibration_interval"]

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
    >>> from calibrant.metrics.cumulative import cutoff_calibration_error
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
    groups: ArrayLike | None = None,
    rng: Seed = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Interval:
    """The cutoff calibration error with an interval that holds whether or not the model is calibrated.

    The error of the sample differs from that of the population by at most the largest difference of the two gaps over
    all intervals of probabilities. A bootstrap of that largest difference gives a reach r, and the interval is
    [error − r, error + r]. A plain bootstrap fails at 0, where noise can only add; this one does not. The reach is at
    least that of calibrated probabilities (the range of a Brownian motion), so the interval errs on the wide side;
    with `groups` it rests on the bootstrap alone.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label
        See `cutoff_calibration_error`; weights count as numbers of rows.
    level : float
        Confidence level.
    n_resamples : int
        Number of replicates.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient: rows of one group are resampled together.
    rng : int, numpy.random.Generator or None
        The seed or generator; the same seed gives the same interval.

    Returns
    -------
    Interval

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.cumulative import cutoff_calibration_interval
    >>> data = simulate.from_truth("D1", 2000)
    >>> cutoff_calibration_interval(data.labels, data.scores).low > 0
    True
    >>> cutoff_calibration_interval(data.labels, data.probabilities).low
    0.0
    """
    _validation.check_level(level)
    _validation.check_count("n_resamples", n_resamples)
    sample = read_sample(y_true, y_prob, sample_weight, pos_label, groups)
    value = _range(sample.tally)
    draws = sample.widen(_deviations(sample, n_resamples, rng), 0.0, level)
    reach = float(np.quantile(draws, level))
    if sample.groups is None:
        variance = float(sample.tally.totals @ (sample.tally.scores * (1.0 - sample.tally.scores)))
        reach = max(reach, range_quantile(level) * np.sqrt(variance) / sample.n_rows)
    return Interval(value, max(value - reach, 0.0), min(value + reach, 1.0), level)


def _range(tally: Tally) -> float:
    """Highest minus lowest cumulative gap, where no row at all has the gap 0."""
    low, high = cumulative_gaps.find_range(tally.scores, tally.positives, tally.totals)
    return (high - low) / tally.total


def _deviations(sample: ScoreSample, n_resamples: int, rng: Seed) -> Floats:
    """The largest difference over intervals between a replicate's gap and that of the sample, for each replicate."""
    generator, out = np.random.default_rng(rng), np.empty(n_resamples)
    cells = sample.cells
    expected = (cells.positives - cells.scores * cells.totals) / cells.total
    for start in range(0, n_resamples, BLOCK):
        counts = sample.draw_counts(len(out[start : start + BLOCK]), generator)
        positives, negatives = np.split(counts, 2, axis=1)
        gaps = positives * (1.0 - cells.scores) - negatives * cells.scores
        walk = np.cumsum(gaps / counts.sum(axis=1, keepdims=True) - expected, axis=1)
        out[start : start + BLOCK] = np.maximum(walk.max(axis=1), 0.0) - np.minimum(walk.min(axis=1), 0.0)
    return out


def averaged_two_bin_error(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Squared gaps below and above a cut, averaged over all cuts of [0, 1] (ATB).

    For a cut q the rows are split into those with p < q and those with p ≥ q; the error at q is the sum of the squares
    of Σ (y − p) / n over the two parts, and the result is its mean over q uniform on [0, 1]. It needs no choice of
    bins and is exact.

    It is truthful: for labels drawn from any probabilities, no report has a smaller expected value than these very
    probabilities, whatever the number of rows. ECE and its relatives can be lowered by reporting something else. Like
    every calibration error it does not reward discrimination: the base rate for all rows is calibrated too. It is a
    squared error, and noise adds to it: labels drawn from the reported probabilities have the expected value
    Σ p (1 − p) / n². Compare it between models on the same rows.

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
    Hartline, Hu, Wu 2026, "A Perfectly Truthful Calibration Measure".

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.cumulative import averaged_two_bin_error
    >>> data = simulate.from_truth("D1", 2000)
    >>> honest = averaged_two_bin_error(data.labels, data.probabilities)
    >>> honest < averaged_two_bin_error(data.labels, data.scores)
    True
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    # Cuts above a score and up to the next one share a split, whose lower part has the gap S and the upper one T − S,
    # T being that of all rows; up to the first score and above the last one all rows are in one part. So the mean is
    # T² + 2 Σ width · (S² − T S).
    whole, plain, squares = cumulative_gaps.integrate(tally.scores, tally.positives, tally.totals)
    return (whole**2 + 2.0 * (squares - whole * plain)) / tally.total**2
