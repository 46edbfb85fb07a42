"""Local polynomial regression with tricube weights (Cleveland's loess) on sorted cells."""

import numpy as np

from calibrant._typing import Floats

try:
    import cython
except ImportError:
    from calibrant._compiled import fallback as cython

_SINGULAR = 1e-10


def fit(x: Floats, y: Floats, mass: Floats, span: float, degree: int) -> Floats:
    """Fitted values at every `x` (increasing); each fit sees the nearest cells that hold a `span` of all mass.

    Where too few distinct cells have weight for the degree, a lower degree takes over. O(m²) for m cells.
    """
    m = len(x)
    out = np.empty(m)
    needed = span * np.sum(mass) * (1.0 - 1e-12)
    with cython.nogil:
        for i in range(m):
            out[i] = _fit_at(i, x, y, mass, needed, degree)
    return np.asarray(out)


def _fit_at(i: int, x: Floats, y: Floats, mass: Floats, needed: float, degree: int) -> float:
    """The fitted value at x[i]."""
    m = len(x)
    low, high, inside = i, i, mass[i]
    while inside < needed and (low > 0 or high < m - 1):
        if high == m - 1 or (low > 0 and x[i] - x[low - 1] <= x[high + 1] - x[i]):
            low -= 1
            inside += mass[low]
        else:
            high += 1
            inside += mass[high]
    reach = max(x[i] - x[low], x[high] - x[i])
    if reach <= 0.0:
        return y[i]
    s0 = s1 = s2 = s3 = s4 = t0 = t1 = t2 = 0.0
    for j in range(low, high + 1):
        u = (x[j] - x[i]) / reach
        a = abs(u)
        b = 1.0 - a * a * a
        w = mass[j] * b * b * b
        s0 += w
        t0 += w * y[j]
        w *= u
        s1 += w
        t1 += w * y[j]
        w *= u
        s2 += w
        t2 += w * y[j]
        w *= u
        s3 += w
        s4 += w * u
    return _value_at_zero(s0, s1, s2, s3, s4, t0, t1, t2, degree)


def _value_at_zero(
    s0: float, s1: float, s2: float, s3: float, s4: float, t0: float, t1: float, t2: float, degree: int
) -> float:
    """The intercept of a weighted polynomial, by Cramer's rule on its moments."""
    if degree >= 2:
        a, b, c = s2 * s4 - s3 * s3, s1 * s4 - s2 * s3, s1 * s3 - s2 * s2
        determinant = s0 * a - s1 * b + s2 * c
        if determinant > _SINGULAR * s0 * s2 * s4:
            return (t0 * a - t1 * b + t2 * c) / determinant
    if degree >= 1:
        determinant = s0 * s2 - s1 * s1
        if determinant > _SINGULAR * s0 * s2:
            return (t0 * s2 - t1 * s1) / determinant
    return t0 / s0
