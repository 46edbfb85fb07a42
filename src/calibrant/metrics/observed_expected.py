"""The ratio of observed to expected positives: calibration in the large, as clinicians report it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.clustered import sum_by_group
from calibrant.metrics.grouped_rows import GroupedRows
from calibrant.metrics.resampling import read_sample
from calibrant.tally import Tally

__all__ = ["observed_expected_ratio"]

METHODS = ("log", "exact")


def observed_expected_ratio(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    level: float = 0.95,
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
    >>> from calibrant.metrics.observed_expected import observed_expected_ratio
    >>> print(observed_expected_ratio([0] * 80 + [1] * 20, [0.16] * 100))
    1.2500 [0.8446, 1.8499]
    """
    _validation.check_level(level)
    _validation.check_choice("method", method, METHODS)
    sample = read_sample(y_true, y_prob, sample_weight, pos_label, groups)
    tally = sample.tally
    expected = float(tally.totals @ tally.scores)
    if not expected > 0.0:
        raise InvalidInputError("`y_prob` must have a positive entry: no positive is expected, and O/E has no value.")
    observed, rows = tally.total_positive, tally.total
    value = observed / expected
    if method == "exact":
        if sample.rows is not None:
            raise InvalidInputError("`method='exact'` takes rows as independent; with `groups` use `method='log'`.")
        low, high = (rows / expected * end for end in _exact_ends(observed, rows, level))
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
    surplus = sum_by_group(rows.weights * (rows.labels - ratio * rows.scores), rows.groups)
    return float(np.sqrt(rows.groups.number / (rows.groups.number - 1) * (surplus @ surplus)))


def _exact_ends(observed: float, rows: float, level: float) -> tuple[float, float]:
    tail = 0.5 * (1.0 - level)
    low = special.betaincinv(observed, rows - observed + 1.0, tail) if observed > 0.0 else 0.0
    high = special.betaincinv(observed + 1.0, rows - observed, 1.0 - tail) if observed < rows else 1.0
    return float(low), float(high)
