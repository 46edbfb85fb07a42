"""Calibration errors from a smooth calibration curve: ICI, E50, E90, Emax."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import _limits
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import as_tally
from calibrant.tally import Tally

__all__ = ["calibration_error_quantile", "integrated_calibration_index"]


def integrated_calibration_index(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    span: float = 0.75,
    degree: int = 2,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Mean ``|p − loess(p)|``, loess being a smooth curve of the outcomes over the probabilities (ICI).

    The curve is a local polynomial with tricube weights, by default quadratic over the nearest 75 % of the rows, as
    in R's ``loess``; its values are kept within [0, 1]. More than 1024 distinct scores are joined to as many cells
    of equal mass first.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    span : float
        Share of the rows that each local fit sees, in (0, 1].
    degree : {0, 1, 2}
        Degree of the local polynomial.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Austin and Steyerberg 2019, "The Integrated Calibration Index (ICI) and related metrics for quantifying the
    calibration of logistic regression models".

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("underconfident", 20_000)  # the true error is 0.0943
    >>> round(metrics.integrated_calibration_index(data.labels, data.scores), 2)
    0.09
    """
    gaps, mass = _gaps(as_tally(y_true, y_prob, sample_weight, pos_label), span, degree)
    return float(gaps @ mass / mass.sum())


def calibration_error_quantile(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    quantile: float = 0.9,
    span: float = 0.75,
    degree: int = 2,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """A quantile of ``|p − loess(p)|`` over the rows: E50 with ``quantile=0.5``, E90 with 0.9, Emax with 1.

    The other parameters are those of `integrated_calibration_index`.

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("underconfident", 20_000)
    >>> e50, e90 = (metrics.calibration_error_quantile(data.labels, data.scores, quantile=q) for q in (0.5, 0.9))
    >>> 0 < e50 < e90
    True
    """
    if not 0.0 <= quantile <= 1.0:
        raise InvalidInputError(f"`quantile` must lie in [0, 1]; got {quantile!r}.")
    gaps, mass = _gaps(as_tally(y_true, y_prob, sample_weight, pos_label), span, degree)
    order = np.argsort(gaps)
    reached = np.cumsum(mass[order]) / mass.sum()
    # The smallest gap that at least a share `quantile` of the rows does not exceed.
    at = min(int(np.searchsorted(reached, quantile - 1e-12)), len(gaps) - 1)
    return float(gaps[order][at])


def _gaps(tally: Tally, span: float, degree: int) -> tuple[Floats, Floats]:
    from calibrant._kernels import loess

    if not 0.0 < span <= 1.0:
        raise InvalidInputError(f"`span` must lie in (0, 1]; got {span!r}.")
    if degree not in (0, 1, 2):
        raise InvalidInputError(f"`degree` must be 0, 1 or 2; got {degree!r}.")
    cells = tally.coarsen(_limits.LOESS_CELLS)
    curve = loess.fit(cells.scores, cells.positives / cells.totals, cells.totals, span, degree)
    return np.abs(np.clip(curve, 0.0, 1.0) - cells.scores), cells.totals
