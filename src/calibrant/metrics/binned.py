"""Calibration errors from bins: expected, maximum, adaptive."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._typing import ArrayLike
from calibrant.metrics.base import as_tally, binned, check_power
from calibrant.tally import Tally

__all__ = ["adaptive_calibration_error", "expected_calibration_error", "maximum_calibration_error"]


def expected_calibration_error(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int | str = 15,
    strategy: str = "uniform",
    p: float = 1.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Gap between mean probability and share of positives in each bin, averaged over the rows (ECE).

    The estimate is biased upwards where bins hold few rows: a perfectly calibrated model does not reach 0. Compare
    models by a proper score, not by this; see `debiased_calibration_error` for a correction.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    n_bins : int or "auto"
        Number of bins; "auto" takes the cube root of the number of rows, rounded up.
    strategy : {"uniform", "quantile", "cells"}
        Bins of equal width, bins of nearly equal mass that never split equal scores, or one bin for each distinct
        score (for scores that take few values).
    p : float
        The gaps enter as an L^p norm; 1 is the usual ECE, infinity the maximum.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Naeini, Cooper, Hauskrecht 2015; Guo, Pleiss, Sun, Weinberger 2017.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.expected_calibration_error([0, 1, 1, 1], [0.1, 0.2, 0.7, 0.8], n_bins=2), 3)
    0.3
    """
    bins = binned(as_tally(y_true, y_prob, sample_weight, pos_label), n_bins, strategy)
    if np.isinf(check_power(p)):
        return float(np.abs(bins.gap).max())
    return float((bins.share @ np.abs(bins.gap) ** p) ** (1.0 / p))


def maximum_calibration_error(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int | str = 15,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """The largest gap of any bin (MCE); the parameters are those of `expected_calibration_error`.

    One bin with a single row decides it; with ``strategy="quantile"`` no bin is that small.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.maximum_calibration_error([0, 1, 1, 1], [0.1, 0.2, 0.7, 0.8], n_bins=2), 3)
    0.35
    """
    bins = binned(as_tally(y_true, y_prob, sample_weight, pos_label), n_bins, strategy)
    return float(np.abs(bins.gap).max())


def adaptive_calibration_error(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int | str = 15,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """The gap of equal-mass bins, each bin counting the same (ACE).

    Without ties it equals the ECE with ``strategy="quantile"`` up to the rounding of bin sizes. For several classes see
    `class_wise_calibration_error`. The parameters are those of `expected_calibration_error`.

    References
    ----------
    Nixon, Dusenberry, Zhang, Jerfel, Tran 2019, "Measuring Calibration in Deep Learning".

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.adaptive_calibration_error([0, 1, 1, 1], [0.1, 0.2, 0.7, 0.8], n_bins=2), 3)
    0.3
    """
    bins = binned(as_tally(y_true, y_prob, sample_weight, pos_label), n_bins, "quantile")
    return float(np.abs(bins.gap).mean())
