"""Validation as clinical papers report it: observed over expected, intercept and slope, and the rows that it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, special

from calibrant import _validation
from calibrant._numerics import bins, links
from calibrant._numerics.beta import clopper_pearson
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval, plain
from calibrant.metrics.bootstrap import resampled_interval
from calibrant.metrics.samples import (
    Column,
    GroupedRows,
    Labels,
    ScoreSample,
    both_classes,
    fill_weights,
    read_sample,
)
from calibrant.metrics.scores import brier_score, roc_auc
from calibrant.tally import Tally, row_count

if TYPE_CHECKING:
    from calibrant._numerics.logistic import Fit

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
        gain = log_likelihood(tally, both.coefficients[0] + slope * z) - log_likelihood(tally, z)
        degrees, p_value = np.inf, float(special.chdtrc(2, max(2.0 * gain, 0.0)))
    else:
        logits, one = links.logit(sample.rows.scores), np.ones((len(sample.rows.scores), 1))
        covariance = cluster_covariance(sample.rows, np.column_stack((one, logits)), both)
        large_error = cluster_covariance(sample.rows, one, large, logits)[0, 0] ** 0.5
        off = both.coefficients - np.array([0.0, 1.0])
        degrees, error = sample.rows.groups.number - 1, covariance[1, 1] ** 0.5
        p_value = float(special.fdtrc(2, degrees, 0.5 * off @ np.linalg.solve(covariance, off)))
    return CalibrationSlope(
        Interval.normal(slope, float(error), level, degrees=degrees),
        Interval.normal(intercept, float(large_error), level, degrees=degrees),
        p_value,
    )


def cluster_covariance(rows: GroupedRows, features: Floats, fit: Fit, offsets: Floats | float = 0.0) -> Floats:
    """The covariance of coefficients where rows are in groups: H⁻¹ (Σ_g u_g u_gᵀ) H⁻¹ G / (G − 1).

    u_g is the sum over the rows of a group of features (n, k) times what the fit leaves over.
    """
    left = rows.weights * (rows.labels - links.expit(offsets + features @ fit.coefficients))
    sums = np.column_stack([rows.groups.sum(left * column) for column in features.T])
    bread = np.linalg.inv(fit.precision)
    return bread @ (sums.T @ sums) @ bread * rows.groups.number / (rows.groups.number - 1)


def log_likelihood(tally: Tally, z: Floats) -> float:
    """Ln of the probability of the labels, for logits z of the cells."""
    return float(-(tally.positives @ np.logaddexp(0.0, -z) + tally.negatives @ np.logaddexp(0.0, z)))


def _refuse_separated(tally: Tally) -> None:
    """One score that divides the classes leaves the slope without a finite best value."""
    with_positives, with_negatives = np.flatnonzero(tally.positives > 0.0), np.flatnonzero(tally.negatives > 0.0)
    if with_positives[0] >= with_negatives[-1] or with_negatives[0] >= with_positives[-1]:
        raise InvalidInputError(
            "The calibration slope needs classes that overlap; here one score divides them and the slope is infinite."
        )


@dataclass(frozen=True)
class RequiredRows:
    """Numbers of rows, each enough for one interval; `rows` is the largest.

    Attributes
    ----------
    rows, positives : int
        Rows that fulfil every wish, and how many of them will be positive.
    observed_expected, slope, auc : int or None
        Rows for each measure alone; None where no width was wanted.

    Examples
    --------
    >>> from calibrant.metrics.validation import required_rows
    >>> required_rows([0.1, 0.2, 0.3, 0.6], slope_width=None, auc_width=None).rows
    634
    """

    rows: int
    positives: int
    observed_expected: int | None
    slope: int | None
    auc: int | None


def required_rows(
    y_prob: ArrayLike,
    *,
    observed_expected_width: float | None = 0.2,
    slope_width: float | None = 0.2,
    auc_width: float | None = 0.1,
    level: float = 0.9,
    sample_weight: ArrayLike | None = None,
) -> RequiredRows:
    """The rows needed so that the intervals of O/E, calibration slope and AUC get no wider than wanted.

    Suppose the model is calibrated on the new rows, whose probabilities are distributed like `y_prob`: those of the
    development data, or drawn from what one expects. The share of positives and the AUC then follow.

    Parameters
    ----------
    y_prob : array-like of shape (n,)
        Probabilities as expected in the validation data.
    observed_expected_width, slope_width, auc_width : float or None
        Wanted width of each interval, from end to end; None leaves the measure out. With O/E = 1, a width of 0.2 is
        the interval from 0.905 to 1.105.
    level : float
        Confidence level of the intervals.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of `y_prob`.

    Returns
    -------
    RequiredRows

    References
    ----------
    Riley, Debray, Collins, Archer, Ensor, van Smeden, Snell 2021, "Minimum sample size for external validation of a
    clinical prediction model with a binary outcome", which gives the three formulas.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics.validation import required_rows
    >>> p = np.random.default_rng(0).beta(1.3, 1.8, 20_000)
    >>> wanted = required_rows(p)
    >>> wanted.rows == max(wanted.observed_expected, wanted.slope, wanted.auc)
    True
    """
    _validation.check_level(level)
    p = _validation.check_scores(y_prob, "y_prob")
    _validation.check_unit_interval(p, "y_prob")
    weights = fill_weights(sample_weight, len(p))
    weights = weights / weights.sum()
    rate = float(weights @ p)
    if not 0.0 < rate < 1.0 or p.min() == p.max():
        raise InvalidInputError("`y_prob` must have at least two different probabilities; all are equal.")
    quantile = float(special.ndtri(0.5 + 0.5 * level))
    wishes = {
        "observed_expected": (observed_expected_width, lambda width: _rows_for_ratio(rate, width, quantile)),
        "slope": (slope_width, lambda width: _rows_for_slope(p, weights, width / (2.0 * quantile))),
        "auc": (auc_width, lambda width: _rows_for_auc(_expected_auc(p, weights), rate, width / (2.0 * quantile))),
    }
    sizes = {name: _whole_rows(name, width, formula) for name, (width, formula) in wishes.items()}
    rows = max((size for size in sizes.values() if size is not None), default=0)
    if not rows:
        raise InvalidInputError("At least one of the widths must be given; all are None.")
    return RequiredRows(rows, round(rate * rows), **sizes)


def _whole_rows(name: str, width: float | None, formula: Any) -> int | None:
    if width is None:
        return None
    return int(np.ceil(formula(_validation.check_number(f"{name}_width", width, "positive")) - 1e-9))


def _rows_for_ratio(rate: float, width: float, quantile: float) -> float:
    """Rows for O/E: the interval from e^−zs to e^zs is 2 sinh(zs) wide, with s² = (1 − rate) / (n rate)."""
    error = np.arcsinh(0.5 * width) / quantile
    return float((1.0 - rate) / (rate * error**2))


def _rows_for_slope(p: Floats, weights: Floats, error: float) -> float:
    """Rows for the slope: the inverse of the information about intercept and slope, for one row."""
    z, information = links.logit(p), weights * p * (1.0 - p)
    constant, mixed, square = float(information.sum()), float(information @ z), float(information @ (z * z))
    return constant / (error**2 * (constant * square - mixed**2))


def _expected_auc(p: Floats, weights: Floats) -> float:
    """The AUC of calibrated probabilities: each row is positive with weight p and negative with weight 1 − p."""
    counts = weights > 0.0
    return roc_auc(Tally(*bins.group_sums(p[counts], (weights * p)[counts], weights[counts])))


def _rows_for_auc(auc: float, rate: float, error: float) -> float:
    """Rows for the AUC by Newcombe's formula of its standard error."""

    def variance(rows: float) -> float:
        first, second = (1.0 - auc) / (2.0 - auc), auc / (1.0 + auc)
        half = 0.5 * rows - 1.0
        return auc * (1.0 - auc) * (1.0 + half * (first + second)) / (rows**2 * rate * (1.0 - rate))

    most = 4.0
    while variance(most) > error**2:
        most *= 2.0
    return float(optimize.brentq(lambda rows: variance(rows) - error**2, 2.0, most)) if most > 4.0 else most
