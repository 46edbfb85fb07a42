"""The binned calibration error without most of its upward bias."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import Bins, as_tally, binned
from calibrant.tally import Tally

__all__ = ["debiased_calibration_error"]


def debiased_calibration_error(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int | str = 15,
    strategy: str = "quantile",
    p: int = 2,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """ECE minus the part that noise alone adds.

    With ``p=2`` each bin's squared gap loses the estimated variance of its share of positives, rate (1 − rate) /
    (mass − 1), which makes the squared error unbiased (Ferro and Fricker; Bröcker); a bin of one row counts 0, a
    negative sum counts 0, and the root of the sum is returned. With ``p=1`` the error becomes 2 ECE − E[ECE*], where
    ECE* has the share of positives of each bin redrawn from its normal approximation: the correction of Kumar et al.,
    here as an exact expectation instead of a simulation. It can be negative.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    n_bins : int or "auto"
        Number of bins.
    strategy : {"quantile", "uniform", "cells"}
        How bins are cut; see `expected_calibration_error`.
    p : {2, 1}
        The norm.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Bröcker 2012; Ferro and Fricker 2012; Kumar, Liang, Ma 2019, "Verified Uncertainty Calibration".

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("nearly_calibrated", 1000)  # its true L2 error is 0.0046
    >>> round(metrics.expected_calibration_error(data.labels, data.scores, strategy="quantile", p=2), 4)
    0.0542
    >>> round(metrics.debiased_calibration_error(data.labels, data.scores), 4)
    0.008
    """
    bins = binned(as_tally(y_true, y_prob, sample_weight, pos_label), n_bins, strategy)
    if p == 2:
        return float(np.sqrt(max(float(bins.share @ _unbiased_square(bins)), 0.0)))
    if p == 1:
        return float(bins.share @ (2.0 * np.abs(bins.gap) - _expected_gap(bins)))
    raise InvalidInputError(f"`p` must be 1 or 2 for the debiased error; got {p!r}.")


def _unbiased_square(bins: Bins) -> Floats:
    many = bins.mass >= 2.0
    variance = bins.rate * (1.0 - bins.rate) / np.where(many, bins.mass - 1.0, 1.0)
    return np.where(many, np.square(bins.gap) - variance, 0.0)


def _expected_gap(bins: Bins) -> Floats:
    """E|X| for X ~ N(gap, rate (1 − rate) / mass): the mean of a folded normal distribution."""
    deviation = np.sqrt(bins.rate * (1.0 - bins.rate) / bins.mass)
    certain = deviation == 0.0
    z = bins.gap / np.where(certain, 1.0, deviation)
    folded = deviation * np.sqrt(2.0 / np.pi) * np.exp(-0.5 * z**2) + bins.gap * special.erf(z / np.sqrt(2.0))
    out: Floats = np.where(certain, np.abs(bins.gap), folded)
    return out
