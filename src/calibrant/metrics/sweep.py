"""The calibration error with as many equal-mass bins as keep the share of positives rising."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import _limits
from calibrant._typing import ArrayLike, Floats
from calibrant.metrics.base import as_tally, binned, check_power
from calibrant.tally import Tally

__all__ = ["sweep_calibration_error"]


def sweep_calibration_error(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    p: float = 1.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """ECE with the number of bins chosen by the data (ECE sweep).

    Starting with one, the number of equal-mass bins grows until the shares of positives no longer rise from bin to
    bin; the last number for which they did is used. Where even single scores rise, each score is a bin; otherwise the
    search ends at 4096 bins.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    p : float
        The gaps enter as an L^p norm.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Roelofs, Cain, Shlens, Mozer 2022, "Mitigating Bias in Calibration Error Estimation", Algorithm 1.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.sweep_calibration_error([0, 1, 0, 1, 1, 1], [0.2, 0.4, 0.5, 0.6, 0.8, 0.9]), 4)
    0.1667
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    check_power(p)
    rising = bool((np.diff(tally.positives / tally.totals) >= 0.0).all())
    bins = binned(tally, 1, "cells") if rising else binned(tally, _most_rising(tally), "quantile")
    return float((bins.share @ np.abs(bins.gap) ** p) ** (1.0 / p))


def _most_rising(tally: Tally) -> int:
    """The last number of bins before the shares of positives fall. O(b log m) for each number b."""
    mass = np.concatenate(([0.0], np.cumsum(tally.totals)))
    positives = np.concatenate(([0.0], np.cumsum(tally.positives)))
    middle = 0.5 * (mass[1:] + mass[:-1]) / mass[-1]
    for n_bins in range(2, min(_limits.SWEEP_BINS, len(tally)) + 1):
        if not _rises(mass, positives, middle, n_bins):
            return n_bins - 1
    return min(_limits.SWEEP_BINS, len(tally))


def _rises(mass: Floats, positives: Floats, middle: Floats, n_bins: int) -> bool:
    inner = np.searchsorted(middle, np.arange(1, n_bins) / n_bins, side="left")
    edges = np.concatenate(([0], inner, [len(middle)]))
    edges = edges[np.concatenate(([True], np.diff(edges) > 0))]
    rates = np.diff(positives[edges]) / np.diff(mass[edges])
    return bool((np.diff(rates) >= 0.0).all())
