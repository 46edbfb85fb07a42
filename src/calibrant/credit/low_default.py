"""Upper bounds of default probabilities where defaults are rare or have never been seen."""

from __future__ import annotations

import numpy as np
from scipy import optimize, special

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError

__all__ = ["low_default_bounds"]

METHODS = ("pluto_tasche", "jeffreys")
# The common factor over all that a normal reaches; a fine grid, since the defaults of many rows follow it closely.
FACTOR = np.linspace(-8.0, 8.0, 4001)


def low_default_bounds(
    defaults: ArrayLike,
    totals: ArrayLike,
    *,
    level: float = 0.9,
    method: str = "pluto_tasche",
    correlation: float = 0.0,
) -> Floats:
    """Prudent upper bounds of the default probability of each grade, from the best to the worst.

    The most prudent guess that respects the order of the grades: a grade is at most as risky as all worse ones, so its
    bound may use their rows too. It is the upper confidence bound of the grade joined with all worse grades.

    Parameters
    ----------
    defaults, totals : array-like of shape (g,)
        Defaults and rows of each grade, the best grade first.
    level : float
        Confidence level of each bound.
    method : {"pluto_tasche", "jeffreys"}
        "pluto_tasche" is the exact upper confidence bound; "jeffreys" is the quantile of the posterior under the
        Jeffreys prior, which is less conservative.
    correlation : float
        Asset correlation of the one-factor model, in [0, 1); 0 takes defaults as independent. Only for "pluto_tasche".

    Returns
    -------
    ndarray of shape (g,)
        Never decreasing: where few defaults in worse grades would lower a bound, that of the better grade is kept.

    References
    ----------
    Pluto, Tasche 2005, "Estimating probabilities of default for low default portfolios".

    Examples
    --------
    >>> from calibrant.credit import low_default_bounds
    >>> (100 * low_default_bounds([0, 0, 0], [100, 400, 300], level=0.9)).round(2).tolist()  # per cent
    [0.29, 0.33, 0.76]
    >>> (100 * low_default_bounds([0, 0, 0], [100, 400, 300], level=0.9, correlation=0.12)).round(2).tolist()
    [0.86, 0.96, 1.89]
    """
    k, n = _check_grades(defaults, totals)
    _validation.check_level(level)
    _validation.check_choice("method", method, METHODS)
    if not 0.0 <= correlation < 1.0 or (correlation and method != "pluto_tasche"):
        raise InvalidInputError(
            f"`correlation` must lie from 0 to below 1, and be 0 with the Jeffreys bound; got {correlation!r}."
        )
    joined_k, joined_n = np.cumsum(k[::-1])[::-1], np.cumsum(n[::-1])[::-1]
    if method == "jeffreys":
        bounds = special.betaincinv(joined_k + 0.5, joined_n - joined_k + 0.5, level)
    elif correlation:
        bounds = np.array([_correlated(*counts, level, correlation) for counts in zip(joined_k, joined_n, strict=True)])
    else:
        # At the bound, so few defaults have the probability 1 − level.
        some_left = np.maximum(joined_n - joined_k, 1e-300)
        bounds = np.where(joined_k < joined_n, special.betaincinv(joined_k + 1.0, some_left, level), 1.0)
    out: Floats = np.maximum.accumulate(bounds)
    return out


def _check_grades(defaults: ArrayLike, totals: ArrayLike) -> tuple[Floats, Floats]:
    k, n = _validation.as_floats(defaults, "defaults"), _validation.as_floats(totals, "totals")
    if k.ndim != 1 or n.shape != k.shape or len(k) == 0:
        raise InvalidInputError(
            f"`defaults` and `totals` must have one entry for each grade; got shapes {k.shape} and {n.shape}."
        )
    if not ((k >= 0.0) & (k <= n) & (n > 0.0)).all():
        raise InvalidInputError("`totals` must be positive, and `defaults` must lie between 0 and `totals`.")
    return k, n


def _correlated(defaults: float, total: float, level: float, correlation: float) -> float:
    """The probability at which at most so many defaults have the probability 1 − level, given one common factor."""
    if defaults >= total:
        return 1.0
    weights = np.exp(-0.5 * np.square(FACTOR))
    weights = weights / weights.sum()

    def excess(threshold: float) -> float:
        given = special.ndtr((threshold + np.sqrt(correlation) * FACTOR) / np.sqrt(1.0 - correlation))
        return float(weights @ special.betainc(defaults + 1.0, total - defaults, given)) - level

    return float(special.ndtr(optimize.brentq(excess, -12.0, 8.0, xtol=1e-12)))
