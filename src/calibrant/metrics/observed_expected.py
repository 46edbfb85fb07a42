"""The ratio of observed to expected positives: calibration in the large, as clinicians report it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import as_tally
from calibrant.metrics.bootstrap import Interval
from calibrant.tally import Tally

__all__ = ["observed_expected_ratio"]

METHODS = ("log", "exact")


def observed_expected_ratio(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    level: float = 0.95,
    method: str = "log",
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
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    _validation.check_level(level)
    _validation.check_choice("method", method, METHODS)
    expected = float(tally.totals @ tally.scores)
    if not expected > 0.0:
        raise InvalidInputError("`y_prob` must have a positive entry: no positive is expected, and O/E has no value.")
    observed, rows = tally.total_positive, tally.total
    value = observed / expected
    if method == "exact":
        low, high = (rows / expected * end for end in _exact_ends(observed, rows, level))
        return Interval(value, low, high, float(level))
    if not observed > 0.0:
        raise InvalidInputError("The interval of O/E needs a positive row; there is none. Use `method='exact'`.")
    reach = float(special.ndtri(0.5 + 0.5 * level)) * np.sqrt((1.0 - observed / rows) / observed)
    return Interval(value, value * float(np.exp(-reach)), value * float(np.exp(reach)), float(level))


def _exact_ends(observed: float, rows: float, level: float) -> tuple[float, float]:
    tail = 0.5 * (1.0 - level)
    low = special.betaincinv(observed, rows - observed + 1.0, tail) if observed > 0.0 else 0.0
    high = special.betaincinv(observed + 1.0, rows - observed, 1.0 - tail) if observed < rows else 1.0
    return float(low), float(high)
