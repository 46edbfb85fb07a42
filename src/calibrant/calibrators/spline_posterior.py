"""The posterior of the identity-centred spline: cubic B-splines, and a mixture of Gaussians over their coefficients."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.interpolate import BSpline
from scipy.special import ndtr

from calibrant._numerics import links
from calibrant._numerics.piecewise import halve, second_differences
from calibrant._typing import Floats, Ints
from calibrant.tally import Tally

DEGREE = 3
NARROW = 0.02  # a range that counts as one place; knots in less than a fifth of it cost too many digits
LINE_SCALES = (0.1, 0.5, 2.5)  # t1, of intercept and slope
LINE_TYPICAL, ROUGH_TYPICAL = 0.5, 1.0  # medians of the half-Cauchy priors of t1 and t2
COUPLING = 0.5  # a rough curve has an uncertain straight part: its scale is at least this share of t2
DENSITY = 0.4  # share of the knots' spacing that follows the mass
RESERVE = 1e-4  # scores nearer to 0 and 1 may mean no more than this: half of the prior reads them so
LEAST_CAVITY = 0.05  # share of the precision that a left-out row leaves at least
HALF_A_ROW = 0.5
NEGLIGIBLE = 1e-2  # components with less weight than this share of the heaviest are dropped
STRETCHES = 5
EASE = 10.0


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
    even = low + share * (high - low)
    inner = density * np.interp(share, (ends - 0.5 * mass) / ends[-1], x) + (1.0 - density) * even
    return np.concatenate((np.full(DEGREE + 1, low), inner[1:-1], np.full(DEGREE + 1, high)))


def local_basis(x: Floats, knots: Floats) -> tuple[Floats, Ints]:
    """The four B-splines that are not zero at each point, (m, 4), and the number of the first, (m,).

    Points outside the knots are moved to the nearest end.
    """
    table = BSpline.design_matrix(np.clip(x, knots[0], knots[-1]), knots, DEGREE)
    return table.data.reshape(-1, DEGREE + 1), table.indices.reshape(-1, DEGREE + 1)[:, 0].astype(np.intp)


def centres(knots: Floats) -> Floats:
    """Where each B-spline sits (Greville abscissae): coefficients a + b·centre make the straight line a + b·x."""
    return (knots[1:-3] + knots[2:-2] + knots[3:-1]) / DEGREE


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
    if order == 1:
        gap = np.diff(centre)[:, None]
        rows = np.diff(np.eye(len(centre)), axis=0) / gap * np.sqrt(gap)
        line = np.column_stack((np.ones(len(centre)), centre))
        rows = rows - (rows @ line) @ line_reader(centre)
    else:
        rows = second_differences(centre)
        if bend is not None:
            middle = (np.arange(len(rows)) + 0.5) / len(rows)
            rows[(bend[0] <= middle) & (middle < bend[1])] /= ease
    return rows.T @ rows


class Reading(NamedTuple):
    """How extreme scores are read: held within two logits."""

    low: float
    high: float

    def hold(self, z: Floats) -> Floats:
        """The logits of scores as they are read."""
        return np.clip(z, self.low, self.high)


class Kind(NamedTuple):
    """A family of curves: its prior share, the derivative that its prior holds near zero, and the scales t2 of it.

    A curve with a `bend` may turn `EASE` times as sharply in that stretch, given as shares of the basis: one scale
    for the whole curve would blur a sharp turn, or let the rest of the curve swing for its sake.
    """

    share: float
    order: int
    scales: tuple[float, ...]
    bend: tuple[float, float] | None = None


KINDS = (
    Kind(0.375, 2, (12.0, 6.0, 3.0, 1.5, 0.6, 0.2, 0.05)),
    Kind(0.25, 1, (6.0, 3.0, 1.5, 0.6)),
    *(
        Kind(0.375 / STRETCHES, 2, (3.0, 0.8, 0.2, 0.05), (i / STRETCHES, (i + 1) / STRETCHES))
        for i in range(STRETCHES)
    ),
)


@dataclass(frozen=True)
class Curves:
    """Gaussian curves logit p = x + basis(x) · c, where x is the logit of the score as it is read.

    `readings` of extreme scores are averaged with equal weights. `modes` (C, K) are the means of c; `roots` (C, K, K)
    hold R with covariance RᵀR; `weights` (C,) are posterior weights.
    """

    readings: tuple[Reading, ...]
    knots: Floats
    weights: Floats
    modes: Floats
    roots: Floats

    def moments(self, z: Floats, reading: Reading) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the logit of p under each component, (C, n) each."""
        from calibrant._compiled import logistic_normal

        x, values, first, beyond = self._design(z, reading)
        means, spreads = logistic_normal.curve_moments(values, first, beyond, self._slope(), self.modes, self.roots)
        return x + means, spreads

    def curves(self, z: Floats, reading: Reading, coefficients: Floats) -> Floats:
        """The logit of p on curves with the given coefficients, (d, n) for (d, K)."""
        x, values, first, beyond = self._design(z, reading)
        columns = first[:, None] + np.arange(values.shape[1])
        local = np.einsum("na,dna->dn", values, coefficients[:, columns])
        return x + local + np.outer(coefficients @ self._slope(), beyond)

    def _design(self, z: Floats, reading: Reading) -> tuple[Floats, Floats, Ints, Floats]:
        """The offsets, the local basis, and how far each point is outside the knots: there curves go on straight."""
        x = reading.hold(z)
        values, first = local_basis(x, self.knots)
        return x, values, first, x - np.clip(x, self.knots[0], self.knots[-1])

    def _slope(self) -> Floats:
        return line_reader(centres(self.knots))[1]


@dataclass(frozen=True)
class SplinePosterior:
    """A mixture of `Curves`; all weights together sum to one."""

    parts: tuple[Curves, ...]

    def mean(self, z: Floats) -> Floats:
        """The logit of the posterior mean of p, within a component exactly, not at its mode."""
        from calibrant._compiled import logistic_normal

        return self._piecewise(z, logistic_normal.mean_logit)

    def quantile(self, z: Floats, probability: float) -> Floats:
        """The quantile of the logit of p at each z."""
        return self._piecewise(z, partial(_mixture_quantile, probability))

    def leave_one_out(self, z: Floats) -> tuple[Floats, Floats]:
        """P(positive) of a positive row and P(negative) of a negative row at each z, had it not been seen."""
        return self._piecewise(z, partial(_without_row, 1.0)), self._piecewise(z, partial(_without_row, -1.0))

    def _piecewise(self, z: Floats, function: Callable[[Floats, Floats, Floats], Floats]) -> Floats:
        """Apply a function of (weights, means, spreads): readings agree, and are one, where no score is extreme."""
        every = [reading for part in self.parts for reading in part.readings]
        extreme = (z < max(reading.low for reading in every)) | (z > min(reading.high for reading in every))
        out = np.empty(len(z))
        for chosen, most in ((~extreme, 1), (extreme, None)):
            if chosen.any():
                out[chosen] = function(*self._mixture(z[chosen], most))
        return out

    def _mixture(self, z: Floats, most: int | None) -> tuple[Floats, Floats, Floats]:
        found = [
            (part.weights / len(part.readings[:most]), *part.moments(z, reading))
            for part in self.parts
            for reading in part.readings[:most]
        ]
        weights, means, spreads = (np.concatenate(column) for column in zip(*found, strict=True))
        return weights, means, spreads

    def draws(self, z: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Logits of whole maps drawn from the posterior, (n_draws, n)."""
        # A draw picks a component of the whole mixture; `owner` is the part that the component belongs to, `local` its
        # number there. Draws of one part and one reading of extreme scores are then evaluated together.
        owner = np.concatenate([np.full(len(part.weights), i) for i, part in enumerate(self.parts)])
        local = np.concatenate([np.arange(len(part.weights)) for part in self.parts])
        weights = np.concatenate([part.weights for part in self.parts])
        drawn = rng.choice(len(weights), size=n_draws, p=weights / weights.sum())
        which_reading = rng.random(n_draws)
        noise = rng.standard_normal((n_draws, self.parts[0].modes.shape[1]))
        out = np.empty((n_draws, len(z)))
        for i, part in enumerate(self.parts):
            for j, reading in enumerate(part.readings):
                of_reading = (which_reading * len(part.readings)).astype(int) == j
                chosen = np.flatnonzero((owner[drawn] == i) & of_reading)
                which = local[drawn[chosen]]
                coefficients = part.modes[which] + np.einsum("dj,djk->dk", noise[chosen], part.roots[which])
                out[chosen] = part.curves(z, reading, coefficients)
        return out


def _without_row(sign: float, weights: Floats, means: Floats, spreads: Floats) -> Floats:
    """P(label) of a row of label ± by the posterior without that row.

    Within a component the logit is Gaussian, and so is the row's part of it (its curvature p(1−p) and its pull 1−p),
    which is taken out again. Components lose the weight that the row gave them, hence the harmonic mean. The harmonic
    mean over the Gaussian itself would not do: its tails, which no likelihood has cut off, would rule it.
    """
    p = links.expit(sign * means)
    precision = 1.0 / spreads**2
    cavity = np.maximum(precision - p * (1.0 - p), LEAST_CAVITY * precision)
    centre = sign * means - (1.0 - p) / cavity
    foreseen = links.clip(links.expit(centre / np.sqrt(1.0 + np.pi / (8.0 * cavity))))
    return 1.0 / (weights @ (1.0 / foreseen))


def _mixture_quantile(probability: float, weights: Floats, means: Floats, spreads: Floats) -> Floats:
    """Bisection of the mixture's distribution function at each of n points."""
    low, high = (means - 9.0 * spreads).min(axis=0), (means + 9.0 * spreads).max(axis=0)
    spreads = np.maximum(spreads, np.finfo(np.float64).tiny)
    low, high = halve(lambda z: weights @ ndtr((z - means) / spreads) < probability, low, high, 40)
    return 0.5 * (low + high)


def fit_posterior(tally: Tally, n_basis: int) -> SplinePosterior:
    """Fit every pair of scales, for all kinds and both readings of extreme scores; weigh them by their evidence."""
    cells = _of_two_classes(tally)
    z = links.logit(cells.scores)
    readings = _readings(cells)
    # Without extreme scores both readings fit alike; they differ only in what they say of extreme scores to come.
    groups = [readings] if (readings[0].hold(z) == z).all() else [readings[:1], readings[1:]]
    fits = [_fit_kinds(group[0].hold(z), cells, n_basis) for group in groups]
    # Evidences of both readings are on one scale: a component counts among all, whichever reading it has.
    best = max(float(evidence.max()) for _, evidence, _, _ in fits)
    weights = [np.exp(evidence - best) for _, evidence, _, _ in fits]
    total = sum(float(weight[weight > NEGLIGIBLE].sum()) for weight in weights)
    parts = []
    for group, (knots, _, modes, factors), weight in zip(groups, fits, weights, strict=True):
        kept = weight > NEGLIGIBLE
        if kept.any():
            roots = np.asarray(np.linalg.inv(np.tril(factors[kept])), dtype=np.float64)
            parts.append(Curves(group, knots, weight[kept] / total, modes[kept], roots))
    return SplinePosterior(tuple(parts))


def _readings(cells: Tally) -> tuple[Reading, Reading]:
    """Extreme scores held where the rows tied at 0 and 1 can prove them, at least at the reserve; and as they are."""
    low, high = links.provable_ends(cells.scores, cells.totals)
    ends = np.array([[max(low, RESERVE), min(high, 1.0 - RESERVE)], [0.0, 1.0]])
    held, raw = links.logit(ends).tolist()
    return Reading(*held), Reading(*raw)


def _of_two_classes(cells: Tally) -> Tally:
    """Rows of one class with half a row of the other, spread over all of them.

    One class bounds the logit on one side only; a Gaussian fitted to that would reach far beyond the bound, and give
    to an outcome that 500 rows have not shown some per cent. With half a row it gives about one in 500.
    """
    if 0.0 < cells.total_positive < cells.total:
        return cells
    added = HALF_A_ROW * cells.totals / cells.total
    missing = cells.total_positive == 0.0
    return Tally(cells.scores, cells.positives + added * missing, cells.totals + added)


def _fit_kinds(x: Floats, cells: Tally, n_basis: int) -> tuple[Floats, Floats, Floats, Floats]:
    """The knots, and the evidence, the mode and the factor of the precision of all kinds of curves."""
    knots = knot_vector(x, cells.totals, n_basis, DENSITY)
    data = (*local_basis(x, knots), x, cells.positives, cells.totals)
    # The unit of length of the priors: a quarter of the range, at least half a unit of the logit.
    centre = centres(knots) / (0.25 * max(2.0, knots[-1] - knots[0]))
    grids = [_fit_kind(data, centre, kind) for kind in KINDS]
    evidence, modes, factors = (np.concatenate(columns) for columns in zip(*grids, strict=True))
    return knots, evidence, modes, factors


def _fit_kind(
    data: tuple[Floats, Ints, Floats, Floats, Floats], centre: Floats, kind: Kind
) -> tuple[Floats, Floats, Floats]:
    """The evidence, the mode and the factor of the precision for all scales of one kind of curve."""
    from calibrant._compiled import laplace

    reader = line_reader(centre)
    rough = roughness(centre, kind.order, kind.bend, EASE)
    line_scales, rough_scales = np.array(LINE_SCALES), np.array(kind.scales)
    scales = line_scales, rough_scales
    prior = np.outer(_half_cauchy(line_scales, LINE_TYPICAL), _half_cauchy(rough_scales, ROUGH_TYPICAL))
    given = (*data, reader.T @ reader, rough, *scales, COUPLING, np.log(prior))
    evidence, modes, factors = laplace.evidence_grid(*given)
    # What the kernel leaves out, the constant of the prior's determinant: lines and the rest are orthogonal.
    log_det = np.linalg.slogdet(reader @ reader.T)[1] + np.log(np.linalg.eigvalsh(rough)[2:]).sum()
    evidence = evidence.ravel() + np.log(kind.share) + 0.5 * log_det
    size = modes.shape[-1]
    return evidence, modes.reshape(-1, size), factors.reshape(-1, size, size)


def _half_cauchy(scales: Floats, typical: float) -> Floats:
    """Prior masses of scales on a geometric grid: half-Cauchy density times the spacing of the logarithms."""
    t = scales / typical
    return np.abs(np.gradient(np.log(scales))) * t / (1.0 + t**2)
