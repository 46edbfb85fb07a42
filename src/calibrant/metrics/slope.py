"""In which direction probabilities are off: slope and intercept, and confidence at either end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.samples import (
    Column,
    GroupedRows,
    Groups,
    Labels,
    ScoreSample,
    both_classes,
    read_sample,
)
from calibrant.tally import Tally

if TYPE_CHECKING:
    from calibrant._numerics.logistic import Fit


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
    y_true: Labels,
    y_prob: Column = None,
    *,
    level: float = 0.9,
    groups: ArrayLike | None = None,
    sample_weight: Column = None,
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
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient: standard errors then allow for rows of one group that depend on each
        other (the cluster-robust sandwich, with Student's quantiles), and the test is Wald's. It takes some twenty
        groups at least.
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
    return slope_of(read_sample(y_true, y_prob, sample_weight, pos_label, groups), level)


def slope_of(sample: ScoreSample, level: float) -> CalibrationSlope:
    """The calibration slope of rows that were checked before."""
    tally = sample.tally
    both_classes(tally, "The calibration slope")
    if len(tally) == 1:
        raise InvalidInputError("The calibration slope needs two different probabilities; all are equal.")
    _refuse_separated(tally)
    from calibrant._numerics.logistic import fit_logistic

    z = links.logit(tally.scores)
    ones = np.ones(len(tally))
    both = fit_logistic(np.column_stack((ones, z)), tally.positives, tally.totals)
    large = fit_logistic(ones[:, None], tally.positives, tally.totals, offsets=z)
    slope, intercept = float(both.coefficients[1]), float(large.coefficients[0])
    if sample.rows is None:
        error, large_error = np.linalg.inv(both.precision)[1, 1] ** 0.5, large.precision[0, 0] ** -0.5
        gain = _log_likelihood(tally, both.coefficients[0] + slope * z) - _log_likelihood(tally, z)
        degrees, p_value = np.inf, float(special.chdtrc(2, max(2.0 * gain, 0.0)))
    else:
        covariance, large_error = _clustered(sample.rows, both, large)
        off = both.coefficients - np.array([0.0, 1.0])
        degrees, error = sample.rows.groups.number - 1, covariance[1, 1] ** 0.5
        p_value = float(special.fdtrc(2, degrees, 0.5 * off @ np.linalg.solve(covariance, off)))
    return CalibrationSlope(
        Interval.normal(slope, float(error), level, degrees=degrees),
        Interval.normal(intercept, float(large_error), level, degrees=degrees),
        p_value,
    )


def _clustered(rows: GroupedRows, both: Fit, large: Fit) -> tuple[Floats, float]:
    """Covariance of intercept and slope, and the standard error of the intercept whose slope is 1."""
    z = links.logit(rows.scores)
    features = np.column_stack((np.ones(len(z)), z))
    residuals = rows.weights * (rows.labels - links.expit(features @ both.coefficients))
    covariance = cluster_covariance(features * residuals[:, None], both.precision, rows.groups)
    residuals = rows.weights * (rows.labels - links.expit(z + large.coefficients[0]))
    alone = cluster_covariance(residuals[:, None], large.precision, rows.groups)
    return covariance, float(alone[0, 0]) ** 0.5


def cluster_covariance(influence: Floats, precision: Floats, groups: Groups) -> Floats:
    """The sandwich H⁻¹ (Σ_g u_g u_gᵀ) H⁻¹ G / (G − 1), where u_g is the sum of a group's rows of `influence` (n, k)."""
    sums = np.column_stack([groups.sum(column) for column in influence.T])
    bread = np.linalg.inv(precision)
    out: Floats = bread @ (sums.T @ sums) @ bread * groups.number / (groups.number - 1)
    return out


def _log_likelihood(tally: Tally, z: Floats) -> float:
    return float(-(tally.positives @ np.logaddexp(0.0, -z) + tally.negatives @ np.logaddexp(0.0, z)))


def _refuse_separated(tally: Tally) -> None:
    """One score that divides the classes leaves the slope without a finite best value."""
    with_positives, with_negatives = np.flatnonzero(tally.positives > 0.0), np.flatnonzero(tally.negatives > 0.0)
    if with_positives[0] >= with_negatives[-1] or with_negatives[0] >= with_positives[-1]:
        raise InvalidInputError(
            "The calibration slope needs classes that overlap; here one score divides them and the slope is infinite."
        )
