"""Agreement of a judge with people beyond chance: Cohen's kappa, with an interval."""

from typing import Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval

__all__ = ["cohen_kappa"]


def cohen_kappa(first: ArrayLike, second: ArrayLike, *, level: float = 0.9) -> Interval:
    """Cohen's kappa of two raters of the same rows, such as a judge and people.

    0 is the agreement of raters who answer by chance, each with the shares that they have, and 1 is complete agreement.
    It falls as one answer becomes rare; say beside it how often both agree.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        The answers of each, of any number of categories.
    level : float
        Confidence level.

    Returns
    -------
    Interval
        Of large samples, on the scale of the inverse hyperbolic tangent; at complete agreement the lower end is that of
        the exact interval of agreement.

    References
    ----------
    Cohen 1960, "A coefficient of agreement for nominal scales". Fleiss, Cohen, Everitt 1969 for its variance.

    Examples
    --------
    >>> from calibrant.metrics import cohen_kappa
    >>> kappa = cohen_kappa([1, 1, 0, 0] * 25, [1, 1, 0, 1] * 25)
    >>> round(kappa.value, 3), kappa.low < 0.5 < kappa.high
    (0.5, True)
    """
    level = _validation.check_level(level)
    left, right = np.asarray(first), np.asarray(second)
    if left.ndim != 1 or left.shape != right.shape or len(left) < 2:
        raise InvalidInputError(
            f"Two raters must have answered the same rows, at least 2; got shapes {left.shape} and {right.shape}."
        )
    categories, codes = np.unique(np.concatenate((left, right)), return_inverse=True)
    a, b = np.split(codes, 2)
    counts = np.bincount(a * len(categories) + b, minlength=len(categories) ** 2).reshape(len(categories), -1)
    n_rows, shares = len(left), counts / len(left)
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    agreed, by_chance = float(np.trace(shares)), float(rows @ columns)
    if by_chance == 1.0:
        raise InvalidInputError("Kappa needs two different answers; all rows have the same one. Add rows.")
    kappa = (agreed - by_chance) / (1.0 - by_chance)
    if agreed == 1.0:
        low = float(special.betaincinv(n_rows, 1.0, 0.5 - 0.5 * level))
        return Interval(1.0, (low - by_chance) / (1.0 - by_chance), 1.0, level)
    error = np.sqrt(max(_variance(shares, rows, columns, kappa), 0.0) / n_rows) / (1.0 - by_chance)
    inside = max(kappa, -1.0 + 1e-9)  # complete disagreement is −1 at most
    half = float(special.ndtri(0.5 + 0.5 * level)) * error / (1.0 - inside**2)
    low, high = np.tanh(np.arctanh(inside) + np.array([-half, half]))
    return Interval(kappa, min(float(low), kappa), float(high), level)


def _variance(shares: Any, rows: Any, columns: Any, kappa: float) -> float:
    """The variance of kappa for one row, times the square of the disagreement by chance (Fleiss and others)."""
    by_chance = float(rows @ columns)
    margins = columns[:, None] + rows[None, :]  # of the answer of the one, given by the other
    on = np.diag(shares) @ (1.0 - np.diag(margins) * (1.0 - kappa)) ** 2
    off = (1.0 - kappa) ** 2 * float(((1.0 - np.eye(len(rows))) * shares * margins**2).sum())
    return float(on + off - (kappa - by_chance * (1.0 - kappa)) ** 2)
