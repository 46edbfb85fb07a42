"""The numbers that stand beside a validation plot in clinical papers, above all observed over expected positives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._numerics.binomial_limits import clopper_pearson
from calibrant._typing import ArrayLike
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval, plain
from calibrant.metrics.bootstrap import resampled_interval
from calibrant.metrics.samples import GroupedRows, ScoreSample, read_sample
from calibrant.metrics.scores import brier_score, roc_auc
from calibrant.metrics.slope import slope_of
from calibrant.tally import Tally, row_count

__all__ = ["ValidationSummary", "observed_expected_ratio", "validation_summary"]

METHODS = ("log", "exact")


@dataclass(frozen=True, repr=False)
class ValidationSummary:
    """Calibration in the large, slope, discrimination and overall accuracy, with intervals.

    Attributes
    ----------
    rows, positives : float
        Weighted numbers.
    observed_expected, intercept, slope, auc : Interval
        O/E ratio; calibration in the large (slope held at 1); calibration slope; area under the ROC curve.
    brier_score : float
        Mean squared error.
    remarks : tuple of str
        What to know about groups of rows, where there are some.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.validation import validation_summary
    >>> data = simulate.from_truth("D1", 1000)
    >>> print(validation_summary(data.labels, data.probabilities))  # doctest: +ELLIPSIS
    Rows          1000 (... positive)
    O/E           ...
    Intercept     ...
    Slope         ...
    AUC           ...
    Brier score   ...
    Intervals     90 %
    """

    rows: float
    positives: float
    observed_expected: Interval
    intercept: Interval
    slope: Interval
    auc: Interval
    brier_score: float
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {key: plain(value) for key, value in vars(self).items()}

    def __repr__(self) -> str:
        return f"ValidationSummary({row_count(self.rows)} rows, O/E {self.observed_expected}, slope {self.slope})"

    def __str__(self) -> str:
        named = {
            "O/E": self.observed_expected,
            "Intercept": self.intercept,
            "Slope": self.slope,
            "AUC": self.auc,
        }
        lines = [f"{'Rows':<13} {row_count(self.rows)} ({row_count(self.positives)} positive)"]
        lines += [f"{name:<13} {i.value:.2f} ({i.low:.2f} to {i.high:.2f})" for name, i in named.items()]
        last = [f"{'Brier score':<13} {self.brier_score:.3f}", f"{'Intervals':<13} {100 * self.slope.level:g} %"]
        return "\n".join([*lines, *last, *self.remarks])


def validation_summary(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    level: float = 0.9,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> ValidationSummary:
    """Compute what a validation plot is captioned with.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    level : float
        Confidence level of the intervals; that of the AUC is by bootstrap.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient: all intervals then allow for rows of one group that depend on each
        other.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    ValidationSummary

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.validation import validation_summary
    >>> data = simulate.from_truth("underconfident", 3000)
    >>> validation_summary(data.labels, data.scores).slope.low > 1
    True
    """
    return summarise_validation(read_sample(y_true, y_prob, sample_weight, pos_label, groups), level)


def summarise_validation(sample: ScoreSample, level: float) -> ValidationSummary:
    """The summary of rows that were checked before."""
    line = slope_of(sample, _validation.check_level(level))
    return ValidationSummary(
        rows=sample.n_rows,
        positives=sample.tally.total_positive,
        observed_expected=_ratio(sample, level, "log"),
        intercept=line.intercept,
        slope=line.slope,
        auc=resampled_interval(roc_auc, sample, level, bounds=(0.0, 1.0), method="basic"),
        brier_score=brier_score(sample.tally),
        remarks=tuple(sample.remarks),
    )


def observed_expected_ratio(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    level: float = 0.9,
    method: str = "log",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Interval:
    """Observed positives divided by expected ones, Σ y / Σ p (O/E), with an interval.

    1 when calibrated in the large; above 1 the model predicts too few positives.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    level : float
        Confidence level.
    method : {"log", "exact"}
        "log" is the usual interval, normal for the logarithm of the ratio with the standard error √((1 − O/n) / O)
        (Debray and others 2017). "exact" is that of a binomial proportion (Clopper–Pearson), which also works without
        any positive. Both take the expected number as given.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient. The standard error of the logarithm is then that of a ratio of sums
        over groups, √(G / (G − 1) Σ_g (O_g − E_g O/E)²) / O, with Student's quantiles; only with "log".
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    Interval

    References
    ----------
    Debray, Damen, Snell, Ensor, Hooft, Reitsma, Riley, Moons 2017, "A guide to systematic review and meta-analysis of
    prediction model performance".

    Examples
    --------
    >>> from calibrant.metrics import observed_expected_ratio
    >>> print(observed_expected_ratio([0] * 80 + [1] * 20, [0.16] * 100))
    1.2500 [0.8996, 1.7369]
    """
    _validation.check_level(level)
    _validation.check_choice("method", method, METHODS)
    return _ratio(read_sample(y_true, y_prob, sample_weight, pos_label, groups), level, method)


def _ratio(sample: ScoreSample, level: float, method: str) -> Interval:
    tally = sample.tally
    expected = float(tally.totals @ tally.scores)
    if not expected > 0.0:
        raise InvalidInputError("`y_prob` must have a positive entry: no positive is expected, and O/E has no value.")
    observed, rows = tally.total_positive, tally.total
    value = observed / expected
    if method == "exact":
        if sample.rows is not None:
            raise InvalidInputError("`method='exact'` takes rows as independent; with `groups` use `method='log'`.")
        low, high = (rows / expected * float(end) for end in clopper_pearson(observed, rows, level))
        return Interval(value, low, high, float(level))
    if not observed > 0.0:
        raise InvalidInputError("The interval of O/E needs a positive row; there is none. Use `method='exact'`.")
    if sample.rows is None:
        log = Interval.normal(np.log(value), np.sqrt((1.0 - observed / rows) / observed), level)
    else:
        error = _grouped_error(sample.rows, value) / observed
        log = Interval.normal(np.log(value), error, level, degrees=sample.rows.groups.number - 1)
    return Interval(value, float(np.exp(log.low)), float(np.exp(log.high)), float(level))


def _grouped_error(rows: GroupedRows, ratio: float) -> float:
    """Standard error of the number observed, given that expected, from what each group has too many or too few."""
    surplus = rows.groups.sum(rows.weights * (rows.labels - ratio * rows.scores))
    return float(np.sqrt(rows.groups.number / (rows.groups.number - 1) * (surplus @ surplus)))
