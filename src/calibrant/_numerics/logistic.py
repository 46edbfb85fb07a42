"""Weighted binomial logistic regression on cells, with offsets and an independent Gaussian prior per coefficient.

It minimises Σ n ln(1 + exp(η)) − k η + ½ Σ ridge (w − prior_mean)², where η = X w + offsets, by damped Newton
steps. A pass over m cells with c coefficients costs O(m c²). `adjust_curves` does many small ones at once.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from calibrant._numerics import links
from calibrant._numerics.bins import equal_mass_starts
from calibrant._typing import Floats

TINY_RIDGE = 1e-11  # betacal's C = 1e11: too weak to be seen, strong enough to keep separable data finite
COARSE_CELLS = 2048
BLOCK_CELLS = 8192
MAX_STEPS = 100
TOLERANCE = 1e-15  # gain that a step must promise, relative to the mass of the cells; less is rounding
RANK_TOLERANCE = 1e-13
WELL_CONDITIONED = 1e-8  # square of the least diagonal entry of a factor of a matrix with unit diagonal
SMALLEST_SCALE = 1e-290  # keeps a slope per unit of score within the doubles
STEPS = 4
LONGEST = 1.0  # a step of Newton's method, in logits, which a curve far from the labels would overshoot
MOST_OF_THE_WAY = 0.95  # to a bound: a step may not go further
#: The value of a function, its gradient and its second derivatives.
Derivatives: TypeAlias = Callable[[Floats], tuple[float, Floats, Floats]]


class Fit(NamedTuple):
    """The minimum, and the matrix of second derivatives there: the precision of the Laplace posterior."""

    coefficients: Floats
    precision: Floats


class _Problem(NamedTuple):
    features: Floats
    positives: Floats
    totals: Floats
    offsets: Floats
    ridge: Floats
    mean: Floats


def fit_logistic(
    features: Floats,
    positives: Floats,
    totals: Floats,
    *,
    ridge: Floats | float = TINY_RIDGE,
    prior_mean: Floats | float = 0.0,
    offsets: Floats | None = None,
    start: Floats | None = None,
) -> Fit:
    """Coefficients for `features` of shape (m, c), an intercept being a column of ones.

    Rows are cells ordered by score; columns that lie together in memory (Fortran order) are fastest. Many cells are
    first joined to 2048 of equal mass, whose solution is so near that two or three passes over all cells remain. A
    direction in which the data say nothing and the prior is weaker than rounding keeps its starting value.
    """
    m, c = features.shape
    ridges = np.broadcast_to(np.asarray(ridge, dtype=np.float64), c)
    mean = np.broadcast_to(np.asarray(prior_mean, dtype=np.float64), c)
    problem = _Problem(features, positives, totals, np.zeros(m) if offsets is None else offsets, ridges, mean)
    if start is None:
        start = mean
        if m > 4 * COARSE_CELLS:
            start = newton(partial(_derivatives, _coarse(problem)), start, totals.sum()).coefficients
    return newton(partial(_derivatives, problem), start, totals.sum())


def fit_outcomes(features: Floats, counts: Floats, totals: Floats, offsets: Floats) -> Fit:
    """Multinomial regression, ln P(outcome k) / P(reference) = features_k @ w_k + offsets_k, on cells.

    Features are (q, m, c); numbers of rows with each outcome but the reference, and offsets, are (m, q). Coefficients
    stand outcome by outcome, and the precision (q c, q c) likewise. With one outcome it is a logistic regression.
    """
    q, _, c = features.shape
    if q == 1:
        return fit_logistic(features[0], counts[:, 0], totals, offsets=offsets[:, 0])

    def derivatives(w: Floats) -> tuple[float, Floats, Floats]:
        eta = np.einsum("kmc,kc->mk", features, w.reshape(q, c)) + offsets
        height = links.log_sum(eta)
        p = np.exp(eta - height[:, None])
        gradient = np.einsum("kmc,mk->kc", features, totals[:, None] * p - counts)
        spread = totals[:, None, None] * (p[:, :, None] * np.eye(q) - p[:, :, None] * p[:, None, :])
        hessian = np.einsum("jmc,mjk,kmd->jckd", features, spread, features, optimize=True)
        loss = float(totals @ height - (counts * eta).sum()) + 0.5 * TINY_RIDGE * float(w @ w)
        return loss, gradient.ravel() + TINY_RIDGE * w, hessian.reshape(q * c, q * c) + TINY_RIDGE * np.eye(q * c)

    return newton(derivatives, np.zeros(q * c), totals.sum())


def _coarse(fine: _Problem) -> _Problem:
    """Equal-mass cells with the sums of counts and the mean features and offsets."""
    starts = equal_mass_starts(fine.totals, COARSE_CELLS)
    mass = np.add.reduceat(fine.totals, starts)
    return fine._replace(
        features=np.add.reduceat(fine.features * fine.totals[:, None], starts, axis=0) / mass[:, None],
        positives=np.add.reduceat(fine.positives, starts),
        totals=mass,
        offsets=np.add.reduceat(fine.offsets * fine.totals, starts) / mass,
    )


def newton(derivatives: Derivatives, start: Floats, mass: float, lowest: float = -np.inf) -> Fit:
    """The minimum of a convex function of numbers above `lowest` from its derivatives; `mass` is its scale."""
    w = np.array(start, dtype=np.float64)
    enough = TOLERANCE * float(mass)
    objective, gradient, hessian = derivatives(w)
    for _ in range(MAX_STEPS):
        step = _solve(hessian, gradient)
        promised = 0.5 * float(gradient @ step)
        if not promised > enough:
            # Errors square with every step, so the last one is worth taking but not worth another look.
            return Fit(w - step, hessian)
        longest = min(1.0, MOST_OF_THE_WAY * float(((w - lowest) / np.maximum(step, SMALLEST_SCALE)).min()))
        for length in longest * 0.5 ** np.arange(40):
            tried = derivatives(w - length * step)
            # Armijo's rule; Newton's full step almost always passes.
            if tried[0] <= objective - 0.2 * length * promised + enough:
                break
        w = w - length * step
        objective, gradient, hessian = tried
    return Fit(w, hessian)


def _derivatives(problem: _Problem, w: Floats) -> tuple[float, Floats, Floats]:
    """Objective, gradient and second derivatives, summed over blocks of cells that stay in the cache."""
    loss, gradient, hessian = 0.0, np.zeros(len(w)), np.zeros((len(w), len(w)))
    for begin in range(0, len(problem.totals), BLOCK_CELLS):
        x, k, n, offsets = (column[begin : begin + BLOCK_CELLS] for column in problem[:4])
        eta = x @ w + offsets
        small = np.exp(-np.abs(eta))
        upper = 1.0 / (1.0 + small)
        p = np.where(eta >= 0.0, upper, small * upper)
        loss += float(n @ (np.log1p(small) + np.maximum(eta, 0.0)) - k @ eta)
        gradient += (n * p - k) @ x
        hessian += x.T @ (x * (n * (small * upper * upper))[:, None])
    away = problem.ridge * (w - problem.mean)
    return loss + 0.5 * float(away @ (w - problem.mean)), gradient + away, hessian + np.diag(problem.ridge)


def _solve(hessian: Floats, gradient: Floats) -> Floats:
    """H⁻¹ g on a scale where H has a unit diagonal, leaving out directions that are zero but for rounding."""
    from scipy.linalg.lapack import dposv  # saved maps, which fit nothing, need numpy alone

    scale = np.sqrt(np.where(np.diag(hessian) > 0.0, np.diag(hessian), 1.0))
    scaled, right = hessian / np.outer(scale, scale), gradient / scale
    factor, found, failed = dposv(scaled, right)
    if failed or np.diag(factor).min() ** 2 < WELL_CONDITIONED:
        found = np.linalg.pinv(scaled, rcond=RANK_TOLERANCE, hermitian=True) @ right
    return np.asarray(found / scale)


def standardise(column: Floats, totals: Floats) -> tuple[float, float]:
    """Weighted mean and deviation (1 where it is 0) of a non-decreasing column, without overflow. O(m)."""
    span = 0.5 * column[-1] - 0.5 * column[0]
    if not span > 0.0:
        return float(column[0]), 1.0
    scale = max(float(span), SMALLEST_SCALE)
    relative = (0.5 * column - 0.5 * column[0]) / scale
    middle = float(relative @ totals / totals.sum())
    spread = float(np.sqrt(np.square(relative - middle) @ totals / totals.sum()))
    spread = spread if spread > 0.0 else 1.0
    return float(2.0 * (0.5 * column[0] + middle * scale)), 2.0 * spread * scale


def adjust_curves(
    offsets: Floats, features: Floats, positives: Floats, totals: Floats, *, scale: float, noise: Floats
) -> Floats:
    """Coefficients w of expit(offset + features @ w) for each row of `offsets`, (d, m); returns (d, c).

    Their prior is normal with mean 0 and deviation `scale`. With standard normal `noise`, (d, c), they are draws from
    Laplace's approximation of the posterior; where it is 0, the mode. Features are (m, c). Where labels scatter about a
    curve by more than its probabilities say, since its shape is wrong, they count for so much less (quasi-likelihood).
    """
    columns = features.shape[1]
    squares = (features[:, :, None] * features[:, None, :]).reshape(len(features), -1)
    prior = np.eye(columns) / scale**2
    out = np.zeros((len(offsets), columns))
    for _ in range(STEPS):
        p = links.expit(offsets + out @ features.T)
        variances = totals * p * (1.0 - p)
        scatter = (p * p) @ (totals - positives) + ((1.0 - p) * (1.0 - p)) @ positives
        trust = np.minimum(1.0, variances.sum(axis=1) / scatter)[:, None]
        gradient = trust * ((positives - totals * p) @ features) - out / scale**2
        precision = ((trust * variances) @ squares).reshape(-1, columns, columns) + prior
        out = out + np.clip(np.linalg.solve(precision, gradient[:, :, None])[:, :, 0], -LONGEST, LONGEST)
    root = np.linalg.cholesky(np.linalg.inv(precision))
    return out + (root @ noise[:, :, None])[:, :, 0]
