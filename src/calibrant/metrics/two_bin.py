"""The averaged two-bin error: a calibration error that the true probabilities minimise in expectation."""

from __future__ import annotations

from typing import Any

from calibrant._compiled import cumulative_gaps
from calibrant._typing import ArrayLike
from calibrant.metrics.base import as_tally
from calibrant.tally import Tally

__all__ = ["averaged_two_bin_error"]


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
    >>> from calibrant.metrics.two_bin import averaged_two_bin_error
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
