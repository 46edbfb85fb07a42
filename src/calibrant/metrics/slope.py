"""Cox's calibration slope and intercept, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._kernels import links
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import as_tally, both_classes
from calibrant.metrics.bootstrap import Interval
from calibrant.tally import Tally

__all__ = ["CalibrationSlope", "calibration_slope"]


@dataclass(frozen=True)
class CalibrationSlope:
    """Slope and intercept of the outcomes over logit(p).

    Attributes
    ----------
    slope : Interval
        1 when calibrated; below 1 the probabilities are too extreme, above 1 too timid.
    intercept : Interval
        Calibration in the large: the intercept with the slope held at 1. 0 when calibrated; below 0 the probabilities
        are too high on the whole.
    p_value : float
        Likelihood-ratio test of slope 1 and intercept 0 together, χ² with two degrees of freedom.

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("underconfident", 3000)  # too timid
    >>> line = metrics.calibration_slope(data.labels, data.scores)
    >>> line.slope.low > 1, line.p_value < 0.001
    (True, True)
    """

    slope: Interval
    intercept: Interval
    p_value: float


def calibration_slope(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    level: float = 0.9,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> CalibrationSlope:
    """Fit logit P(y = 1) = a + b logit(p) and report b, and a with b = 1, with Wald intervals.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    level : float
        Confidence level of the intervals.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    CalibrationSlope

    References
    ----------
    Cox 1958, "Two further applications of a model for binary regression".

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("underconfident", 20_000)  # the truth is 1.8 logit(p) + 0.3
    >>> line = metrics.calibration_slope(data.labels, data.scores)
    >>> line.slope.low < 1.8 < line.slope.high
    True
    """
    _validation.check_level(level)
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    both_classes(tally, "The calibration slope")
    if len(tally) == 1:
        raise InvalidInputError("The calibration slope needs two different probabilities; all are equal.")
    _refuse_separated(tally)
    from calibrant._kernels.logistic import fit_logistic

    z = links.logit(tally.scores)
    ones = np.ones(len(tally))
    both = fit_logistic(np.column_stack((ones, z)), tally.positives, tally.totals)
    large = fit_logistic(ones[:, None], tally.positives, tally.totals, offsets=z)
    deviations = np.sqrt(np.diag(np.linalg.inv(both.precision)))
    quantile = float(special.ndtri(0.5 + 0.5 * level))
    gain = _log_likelihood(tally, both.coefficients[0] + both.coefficients[1] * z) - _log_likelihood(tally, z)
    return CalibrationSlope(
        _wald(float(both.coefficients[1]), float(deviations[1]) * quantile, level),
        _wald(float(large.coefficients[0]), float(large.precision[0, 0]) ** -0.5 * quantile, level),
        float(special.chdtrc(2, max(2.0 * gain, 0.0))),
    )


def _wald(value: float, reach: float, level: float) -> Interval:
    return Interval(value, value - reach, value + reach, level)


def _log_likelihood(tally: Tally, z: Floats) -> float:
    return float(-(tally.positives @ np.logaddexp(0.0, -z) + tally.negatives @ np.logaddexp(0.0, z)))


def _refuse_separated(tally: Tally) -> None:
    """One score that divides the classes leaves the slope without a finite best value."""
    with_positives, with_negatives = np.flatnonzero(tally.positives > 0.0), np.flatnonzero(tally.negatives > 0.0)
    if with_positives[0] >= with_negatives[-1] or with_negatives[0] >= with_positives[-1]:
        raise InvalidInputError(
            "The calibration slope needs classes that overlap; here one score divides them and the slope is infinite."
        )
