"""The Beta distribution: exact limits of binomial proportions, and integrals over its density.

Integrals are taken in z = logit(s), where the density Beta(a, b) becomes expit(z)^a expit(−z)^b / B(a, b): smooth,
without the poles that it has at 0 and 1 for a, b < 1, and with exponential tails. So panels of Gauss–Legendre nodes
give nearly full precision.
"""

from collections.abc import Callable

import numpy as np
from scipy import special

from calibrant._numerics.piecewise import halve
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_TAIL = 40.0  # the mass left out beyond each end is e^-40 of the whole
_REACH = 600.0  # 1 − s = e^-600 is near the smallest double; beyond it a curve is as good as constant


def expectation(function: Callable[[Floats], Floats], a: float, b: float, kinks: Floats, n_panels: int = 64) -> float:
    """E[function(logit S)] for S ~ Beta(a, b); `kinks` are logits at which the function is not smooth.

    `n_panels` are laid evenly in the scale asinh(z), so that they are narrow where the density bends and wide in long
    tails; a few more stand around the mean of z, for densities narrower than that. O(20 · n_panels).
    """
    low, high = -min(_TAIL / a + 5.0, _REACH), min(_TAIL / b + 5.0, _REACH)
    even = np.sinh(np.linspace(np.arcsinh(low), np.arcsinh(high), n_panels + 1))
    mean = special.digamma(a) - special.digamma(b)
    deviation = np.sqrt(special.polygamma(1, a) + special.polygamma(1, b))
    inner = np.concatenate((mean + deviation * np.linspace(-9.0, 9.0, 13), kinks))
    edges = np.unique(np.concatenate((even, inner[(inner > low) & (inner < high)])))
    half = 0.5 * np.diff(edges)
    z = (edges[:-1] + half)[:, None] + half[:, None] * _NODES
    log_density = -a * np.logaddexp(0.0, -z) - b * np.logaddexp(0.0, z) - special.betaln(a, b)
    values = function(z.ravel()).reshape(z.shape) * np.exp(log_density)
    inside = float((half * (values @ _WEIGHTS)).sum())
    # Very flat tails reach beyond the last panel; the mass there keeps the function's value at the end.
    ends = function(np.array([low, high]))
    beyond = special.betainc((a, b), (b, a), special.expit(np.array([low, -high])))
    return inside + float(ends @ beyond)


def sign_changes(function: Callable[[Floats], Floats], low: float = -600.0, high: float = 600.0) -> Floats:
    """Where a smooth function of the logit crosses zero, found on a fine grid and refined by bisection."""
    grid = np.sinh(np.linspace(np.arcsinh(low), np.arcsinh(high), 2049))
    values = function(grid)
    crossed = np.flatnonzero(values[:-1] * values[1:] < 0.0)
    sign = np.sign(values[crossed])
    left, right = halve(lambda z: np.sign(function(z)) == sign, grid[crossed], grid[crossed + 1], 60)
    return 0.5 * (left + right)


def clopper_pearson(positives: ArrayLike, total: ArrayLike, level: float) -> tuple[Floats, Floats]:
    """Ends of the exact central interval of a binomial proportion.

    Examples
    --------
    >>> from calibrant._numerics.beta import clopper_pearson
    >>> low, high = clopper_pearson([0.0], [10.0], 0.9)
    >>> low.tolist(), high.round(4).tolist()
    ([0.0], [0.2589])
    """
    if not 0.0 < level < 1.0:
        raise InvalidInputError(f"`level` must lie strictly between 0 and 1, such as 0.9; got {level!r}.")
    k, n = np.asarray(positives, dtype=np.float64), np.asarray(total, dtype=np.float64)
    tail = 0.5 * (1.0 - level)
    return lower_limit(k, n, tail), 1.0 - lower_limit(n - k, n, tail)


def lower_limit(positives: Floats, total: Floats, tail: float) -> Floats:
    """The exact lower limit, wrong with probability `tail`: a quantile of the beta distribution, or 0."""
    k = np.where(positives > 0.0, positives, 1.0)
    inside = special.betaincinv(k, np.maximum(total - k, 0.0) + 1.0, tail)
    return np.where(positives > 0.0, inside, 0.0)
