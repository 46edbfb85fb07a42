"""Exact limits of binomial proportions (Clopper–Pearson); counts need not be whole."""

from __future__ import annotations

import numpy as np
from scipy import special

from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError

__all__ = ["clopper_pearson", "lower_limit"]


def clopper_pearson(positives: ArrayLike, total: ArrayLike, level: float) -> tuple[Floats, Floats]:
    """Ends of the exact central interval of a binomial proportion.

    Examples
    --------
    >>> from calibrant._numerics.binomial_limits import clopper_pearson
    >>> low, high = clopper_pearson([0.0], [10.0], 0.9)
    >>> low.tolist(), high.round(4).tolist()
    ([0.0], [0.2589])
    """
    if not 0.0 < level < 1.0:
        raise InvalidInputError(f"`level` must lie strictly between 0 and 1, such as 0.9; got {level!r}.")
    k, n = np.asarray(positives, dtype=np.float64), np.asarray(total, dtype=np.float64)
    tail = 0.5 * (1.0 - level)
    return lower_limit(k, n, tail), upper_limit(k, n, tail)


def lower_limit(positives: Floats, total: Floats, tail: float) -> Floats:
    """The exact lower limit, wrong with probability `tail`: a quantile of the beta distribution, or 0."""
    k = np.where(positives > 0.0, positives, 1.0)
    inside = special.betaincinv(k, np.maximum(total - k, 0.0) + 1.0, tail)
    limit: Floats = np.where(positives > 0.0, inside, 0.0)
    return limit


def upper_limit(positives: Floats, total: Floats, tail: float) -> Floats:
    """The exact upper limit, wrong with probability `tail`, or 1."""
    left = np.where(positives < total, total - positives, 1.0)
    limit: Floats = np.where(positives < total, special.betaincinv(positives + 1.0, left, 1.0 - tail), 1.0)
    return limit
