"""The posterior of the identity-centred spline: a mixture of Gaussians over the coefficients of curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from calibrant._kernels import links, spline_basis
from calibrant._typing import Floats, Ints
from calibrant.tally import Tally

__all__ = ["Curves", "SplinePosterior", "fit_posterior"]

LINE_SCALES = (0.1, 0.5, 2.5)  # t1, of intercept and slope
ROUGH_SCALES = {2: (12.0, 6.0, 3.0, 1.5, 0.6, 0.2, 0.05), 1: (6.0, 3.0, 1.5, 0.6)}  # t2, of the curve, by order
LINE_TYPICAL, ROUGH_TYPICAL = 0.5, 1.0  # medians of the half-Cauchy priors of t1 and t2
ORDERS = {2: 0.75, 1: 0.25}  # prior shares of smooth curves (second derivative) and of rough ones (first)
COUPLING = 0.5  # a rough curve has an uncertain straight part: its scale is at least this share of t2
DENSITY = 0.4  # share of the knots' spacing that follows the mass
RESERVE = 1e-4  # scores nearer to 0 and 1 may mean no more than this: half of the prior reads them so
NEGLIGIBLE = 1e-3  # components with less weight than this share of the heaviest are dropped


@dataclass(frozen=True)
class Curves:
    """Gaussian curves logit p = x + basis(x) · c, x = logit(score) within ±limit, that share their knots.

    `modes` (C, K) are the means of c; `roots` (C, K, K) hold R with covariance RᵀR.
    """

    limit: float
    knots: Floats
    weights: Floats
    modes: Floats
    roots: Floats

    def moments(self, z: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the logit of p under each component, (C, n) each."""
        from calibrant._kernels import logistic_normal

        x, values, first, beyond = self._design(z)
        means, spreads = logistic_normal.curve_moments(values, first, beyond, self._slope(), self.modes, self.roots)
        return x + means, spreads

    def curves(self, z: Floats, coefficients: Floats) -> Floats:
        """The logit of p on curves with the given coefficients, (d, n) for (d, K)."""
        x, values, first, beyond = self._design(z)
        columns = first[:, None] + np.arange(values.shape[1])
        local = np.einsum("na,dna->dn", values, coefficients[:, columns])
        out: Floats = x + local + np.outer(coefficients @ self._slope(), beyond)
        return out

    def _design(self, z: Floats) -> tuple[Floats, Floats, Ints, Floats]:
        """The offsets, the local basis, and how far each point is outside the knots: there curves go on straight."""
        x = np.clip(z, -self.limit, self.limit)
        values, first = spline_basis.local_basis(x, self.knots)
        return x, values, first, x - np.clip(x, self.knots[0], self.knots[-1])

    def _slope(self) -> Floats:
        slope: Floats = spline_basis.line_reader(spline_basis.centres(self.knots))[1]
        return slope


@dataclass(frozen=True)
class SplinePosterior:
    """A mixture of `Curves`; all weights together sum to one."""

    parts: tuple[Curves, ...]

    @property
    def weights(self) -> Floats:
        """The posterior weight of every component."""
        return np.concatenate([part.weights for part in self.parts])

    def moments(self, z: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the logit of p under each component, (C, n) each."""
        means, spreads = zip(*(part.moments(z) for part in self.parts), strict=True)
        return np.concatenate(means), np.concatenate(spreads)

    def mean(self, z: Floats) -> Floats:
        """The logit of the posterior mean of p, within a component exactly, not at its mode."""
        from calibrant._kernels import logistic_normal

        return logistic_normal.mean_logit(self.weights, *self.moments(z))

    def quantile(self, z: Floats, probability: float) -> Floats:
        """The quantile of the logit of p at each z, by bisection of the mixture's distribution function."""
        means, spreads = self.moments(z)
        low, high = (means - 9.0 * spreads).min(axis=0), (means + 9.0 * spreads).max(axis=0)
        spreads = np.maximum(spreads, np.finfo(float).tiny)
        for _ in range(40):
            middle = 0.5 * (low + high)
            below = self.weights @ ndtr((middle - means) / spreads) < probability
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        out: Floats = 0.5 * (low + high)
        return out

    def draws(self, z: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Logits of whole maps drawn from the posterior, (n_draws, n)."""
        component = rng.choice(len(self.weights), size=n_draws, p=self.weights)
        noise = rng.standard_normal((n_draws, self.parts[0].modes.shape[1]))
        out = np.empty((n_draws, len(z)))
        start = 0
        for part in self.parts:
            own = np.flatnonzero((component >= start) & (component < start + len(part.weights)))
            local = component[own] - start
            coefficients = part.modes[local] + np.einsum("dj,djk->dk", noise[own], part.roots[local])
            out[own] = part.curves(z, coefficients)
            start += len(part.weights)
        return out


class _Grid(NamedTuple):
    """All fits of one order with one reading of the scores."""

    limit: float
    knots: Floats
    evidence: Floats
    modes: Floats
    factors: Floats


def fit_posterior(tally: Tally, n_basis: int, max_cells: int) -> SplinePosterior:
    """Fit every pair of scales, for both orders and both readings of extreme scores; weigh them by their evidence."""
    from calibrant._kernels import laplace

    cells = tally.coarsen(max_cells)
    z = links.logit(cells.scores)
    reserve, exact = float(links.logit(np.array(1.0 - RESERVE))), float(links.logit(np.array(1.0)))
    grids = [_fit_grid(z, cells, reserve, n_basis, order) for order in ORDERS]
    if np.abs(z).max() <= reserve:
        # Both readings fit alike; they differ only in what they say of extreme scores to come.
        grids += [grid._replace(limit=exact) for grid in grids]
    else:
        grids += [_fit_grid(z, cells, exact, n_basis, order) for order in ORDERS]
    best = max(float(grid.evidence.max()) for grid in grids)
    kept = [(grid, np.flatnonzero(grid.evidence > best + np.log(NEGLIGIBLE))) for grid in grids]
    total = sum(float(np.exp(grid.evidence[own] - best).sum()) for grid, own in kept)
    return SplinePosterior(
        tuple(
            Curves(
                grid.limit,
                grid.knots,
                np.exp(grid.evidence[own] - best) / total,
                grid.modes[own],
                laplace.inverses(grid.factors[own]),
            )
            for grid, own in kept
            if len(own)
        )
    )


def _fit_grid(z: Floats, cells: Tally, limit: float, n_basis: int, order: int) -> _Grid:
    from calibrant._kernels import laplace

    x = np.clip(z, -limit, limit)
    knots = spline_basis.knot_vector(x, cells.totals, n_basis, DENSITY)
    # The unit of length of the priors: a quarter of the range, at least half a unit of the logit.
    centre = spline_basis.centres(knots) / (0.25 * max(2.0, knots[-1] - knots[0]))
    reader, rough = spline_basis.line_reader(centre), spline_basis.roughness(centre, order)
    line_scales, rough_scales = np.array(LINE_SCALES), np.array(ROUGH_SCALES[order])
    evidence, modes, factors = laplace.evidence_grid(
        *spline_basis.local_basis(x, knots),
        x,
        cells.positives,
        cells.totals,
        reader.T @ reader,
        rough,
        line_scales,
        rough_scales,
        COUPLING,
        np.log(np.outer(_half_cauchy(line_scales, LINE_TYPICAL), _half_cauchy(rough_scales, ROUGH_TYPICAL))),
    )
    # What the kernel leaves out, the constant of the prior's determinant: lines and the rest are orthogonal.
    log_det = np.linalg.slogdet(reader @ reader.T)[1] + np.log(np.linalg.eigvalsh(rough)[2:]).sum()
    evidence = evidence.ravel() + np.log(ORDERS[order]) + 0.5 * log_det
    size = modes.shape[-1]
    return _Grid(limit, knots, evidence, modes.reshape(-1, size), factors.reshape(-1, size, size))


def _half_cauchy(scales: Floats, typical: float) -> Floats:
    """Prior masses of scales on a geometric grid: half-Cauchy density times the spacing of the logarithms."""
    t = scales / typical
    out: Floats = np.abs(np.gradient(np.log(scales))) * t / (1.0 + t**2)
    return out
