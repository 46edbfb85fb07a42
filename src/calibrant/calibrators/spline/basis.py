"""Cubic B-splines on the cells of a tally: knots, design and roughness."""

import numpy as np
from scipy.interpolate import BSpline

from calibrant._typing import Floats, Ints

DEGREE = 3
NARROW = 0.02  # a range that counts as one place; knots in less than a fifth of it cost too many digits


def knot_vector(x: Floats, mass: Floats, n_basis: int, density: float) -> Floats:
    """Knots of `n_basis` cubic B-splines over the sorted points `x`, with the ends repeated.

    A share `density` of the spacing follows the mass, the rest is even, so that knots are close where data are
    and nowhere far apart. Points at one place get an interval of width one around it.
    """
    low, high = float(x[0]), float(x[-1])
    if high - low < NARROW:
        low, high = low - 0.5, high + 0.5
    share = np.linspace(0.0, 1.0, n_basis - DEGREE + 1)
    ends = np.cumsum(mass)
    inner = density * np.interp(share, (ends - 0.5 * mass) / ends[-1], x) + (1.0 - density) * (
        low + share * (high - low)
    )
    return np.concatenate((np.full(DEGREE + 1, low), inner[1:-1], np.full(DEGREE + 1, high)))


def local_basis(x: Floats, knots: Floats) -> tuple[Floats, Ints]:
    """The four B-splines that are not zero at each point, (m, 4), and the number of the first, (m,).

    Points outside the knots are moved to the nearest end.
    """
    table = BSpline.design_matrix(np.clip(x, knots[0], knots[-1]), knots, DEGREE)
    return table.data.reshape(-1, DEGREE + 1), table.indices.reshape(-1, DEGREE + 1)[:, 0].astype(np.intp)


def centres(knots: Floats) -> Floats:
    """Where each B-spline sits (Greville abscissae): coefficients a + b·centre make the straight line a + b·x."""
    out: Floats = (knots[1:-3] + knots[2:-2] + knots[3:-1]) / DEGREE
    return out


def line_reader(centre: Floats) -> Floats:
    """The matrix (2, K) that reads intercept and slope of the closest straight line off the coefficients."""
    middle = centre.mean()
    slope = (centre - middle) / np.sum((centre - middle) ** 2)
    return np.stack((1.0 / len(centre) - middle * slope, slope))


def roughness(centre: Floats, order: int, bend: tuple[float, float] | None = None, ease: float = 1.0) -> Floats:
    """The penalty (K, K) whose quadratic form is the integral of the squared derivative of that order, 1 or 2.

    Straight lines cost nothing, whatever the order: they have a prior of their own. `bend` names a stretch of the
    basis, as shares of it, where a second derivative costs only as much as one `ease` times smaller elsewhere.
    """
    gap = np.diff(centre)
    slope = np.diff(np.eye(len(centre)), axis=0) / gap[:, None]
    if order == 1:
        rows = slope * np.sqrt(gap)[:, None]
        line = np.column_stack((np.ones(len(centre)), centre))
        rows = rows - (rows @ line) @ line_reader(centre)
    else:
        wide = 0.5 * (gap[1:] + gap[:-1])
        rows = np.diff(slope, axis=0) / np.sqrt(wide)[:, None]
        if bend is not None:
            middle = (np.arange(len(rows)) + 0.5) / len(rows)
            rows[(bend[0] <= middle) & (middle < bend[1])] /= ease
    return rows.T @ rows
