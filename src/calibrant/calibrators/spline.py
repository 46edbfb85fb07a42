"""A Bayesian spline: a smooth curve around the identity."""

from itertools import pairwise

import numpy as np

from calibrant import _limits, _validation
from calibrant._numerics import links
from calibrant._numerics.piecewise import interpolate, nearest_monotone, straight_pieces
from calibrant._typing import ArrayLike, Floats
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.calibrators.spline_posterior import SplinePosterior, fit_posterior
from calibrant.maps.functions import LogitLinear
from calibrant.tally import Tally

LEAST_BASIS = 6
BETWEEN_KNOTS = 10  # nodes of the exact mean in each gap; a cubic spline runs through them
OUTSIDE_KNOTS = 33  # nodes of it in each stretch without knots
CLOSE = 1e-6
EXTREME = float(links.logit(np.array(1.0)))


class SplineCalibration(BayesianCalibrator):
    """A smooth curve, near the identity unless the data say otherwise, with its uncertainty.

    It models logit p = z + a + b z + f(z), where z is the logit of the score. A Gaussian prior of scale t1
    holds the straight part near zero and one of scale t2 holds the curve f near zero, through its second or its
    first derivative; or through its second derivative with one stretch, a fifth of the curve, free to bend ten times
    as sharply. All scales and kinds of curve are averaged by their evidence, so a small sample returns the score
    nearly unchanged and a large one any curve that it can prove, rising or not, with a sharp bend where there is
    one. The calibrated probability is the posterior mean.

    Scores very near 0 and 1, such as the votes of a forest, often say less than they seem to: the model averages,
    again by evidence, over reading scores as they are and reading all beyond 0.0001 and 0.9999 as these; or beyond
    1 / (m + 2) from an end at which m rows are tied, since they can prove no more.

    Scores must be probabilities. Map decision scores by the logistic function first.

    Parameters
    ----------
    monotone : bool
        Replace the curve, and every curve of the posterior, by the nearest non-decreasing one.
    n_basis : int
        How many B-splines make f.

    Attributes
    ----------
    posterior_ : SplinePosterior
        The mixture of Gaussian curves.

    Notes
    -----
    The fitted map consists of straight pieces on the logit scale that differ from the posterior mean by at most
    1e-6. Fitting costs the same for any number of rows beyond the sort.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import SplineCalibration
    >>> rng = np.random.default_rng(2)
    >>> truth = rng.beta(2, 2, 4000)
    >>> y = rng.random(4000) < truth
    >>> overconfident = truth**2 / (truth**2 + (1 - truth) ** 2)
    >>> calibrator = SplineCalibration().fit(overconfident, y)
    >>> calibrator.predict([0.1, 0.9]).round(2).tolist()
    [0.25, 0.75]
    >>> low, high = calibrator.predict_interval([0.9])
    >>> bool(low[0] < 0.75 < high[0])
    True
    """

    name = "spline"
    title = "Bayesian spline"
    description = "smooth curve around the identity, averaged by evidence; intervals"
    reference = "this library"
    space = "probability"

    def __init__(self, *, monotone: bool = False, n_basis: int = 28) -> None:
        self.monotone = monotone
        self.n_basis = n_basis

    def fit_map(self, tally: Tally) -> LogitLinear:
        _validation.check_count("n_basis", self.n_basis, LEAST_BASIS)
        self._ends: dict[float, Floats] = {}
        self.posterior_ = fit_posterior(tally.coarsen(_limits.SMOOTH_CELLS), self.n_basis)
        x, y = _tabulate(self.posterior_)
        return LogitLinear(x, self._shaped(y), 0.0, 0.0)

    def interval_ends(self, scores: Floats, level: float) -> tuple[Floats, Floats]:
        """Quantiles on a grid of logits, joined by straight lines."""
        grid, z = self._logits(scores)
        if level not in self._ends:
            tails = (0.5 - 0.5 * level, 0.5 + 0.5 * level)
            self._ends[level] = self._shaped(np.array([self.posterior_.quantile(grid, tail) for tail in tails]))
        low, high = (links.expit(np.interp(z, grid, end)) for end in self._ends[level])
        return low, high

    def draw_maps(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draws of the whole map from its posterior, evaluated at `scores`, (n_draws, n)."""
        grid, z = self._logits(scores)
        if not self.monotone and len(z) < len(grid):
            return links.expit(self.posterior_.draws(z, n_draws, rng))
        drawn = self._shaped(self.posterior_.draws(grid, n_draws, rng))
        return links.expit(interpolate(z, grid, drawn))

    def leave_one_out(self, tally: Tally) -> tuple[Floats, Floats]:
        """Predict each row from the posterior without it, in closed form."""
        if self.monotone:
            return super().leave_one_out(tally)
        _, z = self._logits(tally.scores)
        return self.posterior_.leave_one_out(z)

    def _logits(self, scores: ArrayLike) -> tuple[Floats, Floats]:
        """The logits at which the map is tabulated, and those of `scores`."""
        function = self._fitted_map().function
        assert isinstance(function, LogitLinear)
        return function.x, links.logit(self.map_.check_scores(scores))

    def _shaped(self, curves: Floats) -> Floats:
        return nearest_monotone(curves) if self.monotone else curves


def _tabulate(posterior: SplinePosterior) -> tuple[Floats, Floats]:
    """Straight pieces for the posterior mean, over every logit that a score can have."""
    breaks = _breaks(posterior)
    # Close together at both ends, where curves turn into their continuations.
    unit = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, OUTSIDE_KNOTS))
    nodes = [breaks, *(a + (b - a) * unit[1:-1] for a, b in pairwise(breaks))]
    for knots in {part.knots.tobytes(): part.knots for part in posterior.parts}.values():
        inner = np.unique(knots)
        steps = np.arange(BETWEEN_KNOTS) / BETWEEN_KNOTS
        nodes.append((inner[:-1, None] + np.diff(inner)[:, None] * steps).ravel())
    x = np.unique(np.concatenate(nodes))
    x = x[(x >= -EXTREME) & (x <= EXTREME)]
    return straight_pieces(x, posterior.mean(x), breaks)


def _breaks(posterior: SplinePosterior) -> Floats:
    """Logits where curves may bend: the ends of the knots, and where extreme scores begin to be read as one."""
    limits = [end for part in posterior.parts for reading in part.readings for end in reading]
    inner = np.unique([*limits, *(end for part in posterior.parts for end in (part.knots[0], part.knots[-1]))])
    # Breaks too close for a curve between them are one.
    inner = inner[np.diff(inner, prepend=-np.inf) > CLOSE]
    inner = inner[np.abs(inner) < EXTREME - CLOSE]
    return np.concatenate(([-EXTREME], inner, [EXTREME]))
