"""How many rows a validation takes, and how many the development of a model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._numerics import bins, links
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.samples import fill_weights
from calibrant.metrics.scores import roc_auc
from calibrant.tally import Tally


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
    >>> from calibrant.metrics import required_rows
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
    >>> from calibrant.metrics import required_rows
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


def auc_variance(auc: float, positives: Any, negatives: Any) -> Any:
    """The variance of the AUC of so many rows, by Newcombe's formula."""
    pairs, spread = positives * negatives, _auc_spread(auc)
    return auc * (1.0 - auc) * (1.0 + (0.5 * (positives + negatives) - 1.0) * spread) / pairs


def _auc_spread(auc: float) -> float:
    return (1.0 - auc) / (2.0 - auc) + auc / (1.0 + auc)


def _rows_for_auc(auc: float, rate: float, error: float) -> float:
    """Rows for the AUC by its standard error: Newcombe's variance is its square at the root of a quadratic equation."""
    scale, spread = auc * (1.0 - auc) / (rate * (1.0 - rate) * error**2), _auc_spread(auc)
    middle = 0.25 * scale * spread
    return max(middle + float(np.sqrt(middle**2 + scale * (1.0 - spread))), 4.0)


def required_development_rows(
    parameters: int, rate: float, *, r_squared: float | None = None, auc: float | None = None, shrinkage: float = 0.9
) -> dict[str, int]:
    """The rows needed to develop a model with so many candidate parameters, by Riley's three criteria.

    Parameters
    ----------
    parameters : int
        Number of candidate parameters: a predictor of k categories has k − 1.
    rate : float
        Expected share of positives.
    r_squared : float, optional
        Expected R² of Cox and Snell, such as that of an earlier model after correction for optimism.
    auc : float, optional
        Expected area under the ROC curve instead; R² follows if the linear predictor is normal in each class.
    shrinkage : float
        The calibration slope to expect in new rows: 0.9 is little overfitting.

    Returns
    -------
    dict of str to int
        Rows for "shrinkage"; for an optimism of at most 0.05 in Nagelkerke's "r_squared"; for the overall "rate" within
        0.05 at 95 %; and the largest of these, "rows".

    References
    ----------
    Riley, Snell, Ensor, Burke, Harrell, Moons, Collins 2019, "Minimum sample size for developing a multivariable
    prediction model: part II". Riley, Van Calster, Collins 2021, "A note on estimating the Cox–Snell R² from a reported
    C statistic".

    Examples
    --------
    >>> from calibrant.metrics import required_development_rows
    >>> required_development_rows(24, 0.174, r_squared=0.288)
    {'shrinkage': 623, 'r_squared': 662, 'rate': 221, 'rows': 662}
    """
    _validation.check_count("parameters", parameters)
    if (r_squared is None) == (auc is None):
        raise InvalidInputError("One of `r_squared` and `auc` must be given; got both or neither.")
    _validation.check_number("rate", rate, "rate")
    none = rate * np.log(rate) + (1.0 - rate) * np.log(1.0 - rate)
    explained = _explained(auc, rate, none) if r_squared is None else r_squared
    in_new_rows = explained / (explained + 0.05 * (1.0 - np.exp(2.0 * none)))
    sizes = {
        name: parameters / ((slope - 1.0) * np.log(1.0 - explained / slope))
        for name, slope in (("shrinkage", shrinkage), ("r_squared", in_new_rows))
    }
    sizes["rate"] = (special.ndtri(0.975) / 0.05) ** 2 * rate * (1.0 - rate)
    whole = {name: int(np.ceil(size - 1e-9)) for name, size in sizes.items()}
    return whole | {"rows": max(whole.values())}


def _explained(auc: Any, rate: float, none: float) -> float:
    """R² of Cox and Snell where the linear predictor is normal with variance 1 in each class, from the AUC."""
    apart = np.sqrt(2.0) * special.ndtri(_validation.check_number("auc", auc, "rate"))
    x = np.linspace(-9.0, 9.0, 2001)
    density = np.exp(-0.5 * x * x) / np.exp(-0.5 * x * x).sum()
    odds = np.log(rate / (1.0 - rate)) - 0.5 * apart**2
    positive = density @ np.logaddexp(0.0, -(odds + apart * (x + apart)))
    negative = density @ np.logaddexp(0.0, odds + apart * x)
    return float(1.0 - np.exp(2.0 * (rate * positive + (1.0 - rate) * negative + none)))
