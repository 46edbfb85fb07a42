"""The numbers that stand beside a validation plot in clinical papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibrant._typing import ArrayLike
from calibrant.intervals import Interval
from calibrant.metrics.base import as_tally
from calibrant.metrics.bootstrap import bootstrap_interval
from calibrant.metrics.direction import calibration_slope
from calibrant.metrics.observed_expected import observed_expected_ratio
from calibrant.metrics.scores import brier_score, roc_auc
from calibrant.metrics.table import plain
from calibrant.tally import Tally, row_count

__all__ = ["ValidationSummary", "validation_summary"]


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
    Intervals     95 %
    """

    rows: float
    positives: float
    observed_expected: Interval
    intercept: Interval
    slope: Interval
    auc: Interval
    brier_score: float

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {key: plain(value) for key, value in vars(self).items()}

    def __repr__(self) -> str:
        named = {
            "O/E": self.observed_expected,
            "Intercept": self.intercept,
            "Slope": self.slope,
            "AUC": self.auc,
        }
        lines = [f"{'Rows':<13} {row_count(self.rows)} ({row_count(self.positives)} positive)"]
        lines += [f"{name:<13} {i.value:.2f} ({i.low:.2f} to {i.high:.2f})" for name, i in named.items()]
        last = [f"{'Brier score':<13} {self.brier_score:.3f}", f"{'Intervals':<13} {100 * self.slope.level:g} %"]
        return "\n".join([*lines, *last])


def validation_summary(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    level: float = 0.95,
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
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    rows: dict[str, Any] = {"y_true": y_true, "y_prob": y_prob, "sample_weight": sample_weight, "pos_label": pos_label}
    rows |= {"groups": groups, "level": level}
    line = calibration_slope(**rows)
    return ValidationSummary(
        tally.total,
        tally.total_positive,
        observed_expected_ratio(**rows),
        line.intercept,
        line.slope,
        bootstrap_interval(roc_auc, **rows, bounds=(0.0, 1.0), method="basic"),
        brier_score(tally),
    )
