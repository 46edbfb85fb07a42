"""The Kolmogorov–Smirnov calibration error: the largest cumulative gap, without bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._typing import ArrayLike, Floats
from calibrant.metrics.base import as_tally
from calibrant.tally import Tally

__all__ = ["cumulative_gaps", "ks_calibration_error"]


def cumulative_gaps(tally: Tally) -> Floats:
    """Σ (p − y) over the rows up to each score, divided by the number of rows."""
    out: Floats = np.cumsum(tally.scores * tally.totals - tally.positives) / tally.total
    return out


def ks_calibration_error(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """The largest ``|Σ (p − y)| / n`` over the rows up to any score (KS error).

    It equals the ECE when all scores are wrong in the same direction, and is smaller otherwise. Rows with equal scores
    enter together, so their order does not matter.

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
    Gupta, Rahimi, Ajanthan, Mensink, Sminchisescu, Hartley 2021, "Calibration of Neural Networks using Splines".

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.ks_calibration_error([0, 1, 1], [0.3, 0.6, 0.9]), 4)
    0.1
    """
    return float(np.abs(cumulative_gaps(as_tally(y_true, y_prob, sample_weight, pos_label))).max())
