"""Bayesian temperature scaling with lapses: how steep the score should be, and how often it means nothing."""

from typing import NamedTuple

import numpy as np

from calibrant import _limits
from calibrant._numerics import links
from calibrant._numerics.piecewise import straight_pieces
from calibrant._typing import Floats, Ints
from calibrant.calibrators.base import BayesianCalibrator, quantile_ends
from calibrant.maps.functions import LogitLinear
from calibrant.tally import Tally

EXTREME = float(links.logit(np.array(1.0)))
# Nodes of the tabulated map over every logit that a score can have, dense around 0 where the curve bends.
NODES = EXTREME * np.sinh(np.linspace(-6.0, 6.0, 401)) / np.sinh(6.0)

SLOPES = (-4.0, 3.0)  # of τ: from nearly flat to twenty times as steep, which the votes of boosted stumps need
SLOPE_SCALE = 0.5  # of the Cauchy prior of τ around 0, the identity
LAPSES = (0.005, 0.99)  # of ε, log-uniform between, where there are lapses at all
NO_LAPSE, ONLY_LAPSES = 0.5, 0.1  # prior probabilities of ε = 0 and of ε = 1, a score that says nothing
N_SLOPES, N_LAPSES = 60, 16
POSSIBLE = 1e-5  # a margin of the grid with less posterior mass than this is cut off
NEGLIGIBLE = 1e-12  # a point with less weight than this is left out
MAX_ZOOMS = 8
INTERVAL_DRAWS = 2000


class BayesianTemperature(BayesianCalibrator):
    """The posterior mean of (1 − ε) expit(e^τ z) + ε m, where z is the logit of the score and m the share of positives.

    The slope e^τ is the inverse of a temperature; the lapse rate ε is the share of rows on which the score says
    nothing, so that they are like all rows, and a score of exactly 0 or 1 is not taken at its word. Both are averaged
    over their posterior; m is (positives + 1) / (rows + 2). The prior is centred on the identity, so a handful of rows
    changes little. It is the Bayesian relative of `EnsembleTemperatureScaling`, and the member of `Blend` that speaks
    first when data are few.

    Attributes
    ----------
    temperature_ : float
        Posterior mean of the temperature, on the log scale.
    lapse_ : float
        Posterior mean of ε.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import BayesianTemperature
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.beta(2, 2, 3000)
    >>> y = rng.random(3000) < truth
    >>> overconfident = truth**2 / (truth**2 + (1 - truth) ** 2)
    >>> calibrator = BayesianTemperature().fit(overconfident, y)
    >>> calibrator.predict([0.1, 0.5, 0.9]).round(1).tolist()
    [0.2, 0.5, 0.8]
    """

    name = "bayes_temperature"
    title = "Bayesian temperature scaling"
    description = "a temperature and a lapse rate, averaged over their posterior; intervals"
    reference = "this library, after Guo et al. 2017 and Zhang et al. 2020"
    space = "probability"
    monotone = True

    def fit_map(self, tally: Tally) -> LogitLinear:
        cells = tally.coarsen(_limits.SMOOTH_CELLS)
        self._seen = tally.total_positive + 1.0, tally.total - tally.total_positive + 1.0
        self._level = self._seen[0] / sum(self._seen)
        self._grid = grid_posterior(links.logit(cells.scores), cells.positives, cells.totals, self._level)
        self.temperature_ = float(np.exp(-self._grid.weights @ np.log(self._grid.slopes)))
        self.lapse_ = float(self._grid.weights @ self._grid.lapses)
        slopes, which = np.unique(self._grid.slopes, return_inverse=True)
        heard = np.bincount(which, self._grid.weights * (1.0 - self._grid.lapses))  # the weight of each curve
        mean = heard @ links.expit(slopes[:, None] * NODES) + self.lapse_ * self._level
        x, y = straight_pieces(NODES, links.logit(mean), NODES[[0, -1]])
        return LogitLinear(x, y, 0.0, 0.0)

    def _maps(self, z: Floats, points: Ints | slice = slice(None)) -> Floats:
        """The map of each point of the grid, (points, n); points with one slope share a curve."""
        slopes, which = np.unique(self._grid.slopes[points], return_inverse=True)
        lapses = self._grid.lapses[points, None]
        return (1.0 - lapses) * links.expit(slopes[:, None] * z)[which] + self._level * lapses

    def draw_maps(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draws of the whole map, evaluated at `scores`, (n_draws, n): of the slope, the lapse rate and the level m."""
        chosen = rng.choice(len(self._grid.weights), size=n_draws, p=self._grid.weights)
        moved = rng.beta(self._seen[0], self._seen[1], (n_draws, 1)) - self._level
        return self._maps(links.logit(scores), chosen) + self._grid.lapses[chosen, None] * moved

    def interval_ends(self, scores: Floats, level: float) -> tuple[Floats, Floats]:
        """Quantiles of draws at the nodes, joined by straight lines."""
        draws = self.sample_maps(links.expit(NODES), INTERVAL_DRAWS)
        low, high = (np.interp(links.logit(scores), NODES, ends) for ends in quantile_ends(level, draws, draws))
        return low, high

    def leave_one_out(self, tally: Tally) -> tuple[Floats, Floats]:
        """Predict each row from the posterior without it; exact on the grid, but for its part in m."""
        maps = links.clip(self._maps(links.logit(tally.scores)))
        weights = self._grid.weights * np.stack((np.ones(len(maps)), self._grid.lapses / (tally.total + 1.0)))
        (positive, lapsed), (negative, lapsed_negative) = weights @ (1.0 / maps), weights @ (1.0 / (1.0 - maps))
        said = (1.0 - (1.0 - self._level) * lapsed) / positive
        return links.clip(said), links.clip((1.0 - self._level * lapsed_negative) / negative)


class Grid(NamedTuple):
    """Points of the posterior with their weights, which sum to one."""

    slopes: Floats
    lapses: Floats
    weights: Floats


def grid_posterior(logits: Floats, positives: Floats, totals: Floats, level: float = 0.5) -> Grid:
    """The posterior on at most (N_LAPSES + 1) × N_SLOPES points. O(points · cells) for each of a few zooms.

    The grid is laid again around what the data leave possible until it is finer than the posterior, so that few rows
    and many rows are served by the same number of points.
    """
    slope_range, lapse_range = SLOPES, LAPSES
    for _ in range(MAX_ZOOMS):
        edges = np.linspace(*slope_range, N_SLOPES + 1)
        tau, log_tau = 0.5 * (edges[1:] + edges[:-1]), np.log(edges[1] - edges[0])  # middles of cells of equal width
        rates, log_rates = _lapse_axis(*lapse_range)
        log_joint = _log_likelihood(logits, positives, totals, tau, rates, level)
        log_joint += log_rates[:, None] + (log_tau - np.log1p((tau / SLOPE_SCALE) ** 2))
        joint = np.exp(log_joint - log_joint.max())
        joint /= joint.sum()
        narrower = _possible(tau, joint.sum(axis=0)), _possible(rates[1:-1], joint[1:-1].sum(axis=1))
        if not (_much_narrower(narrower[0], slope_range) or _much_narrower(np.log(narrower[1]), np.log(lapse_range))):
            break
        slope_range, lapse_range = narrower
    slopes, lapses = np.broadcast_arrays(np.exp(tau), rates[:, None])
    heavy = joint > NEGLIGIBLE
    return Grid(slopes[heavy], lapses[heavy], joint[heavy] / joint[heavy].sum())


def _lapse_axis(low: float, high: float) -> tuple[Floats, Floats]:
    """No lapse, a log-uniform grid of lapses, and only lapses, with the logarithm of the prior mass of each point."""
    edges = np.geomspace(low, high, N_LAPSES + 1)
    share = np.log(edges[1] / edges[0]) / np.log(LAPSES[1] / LAPSES[0])
    between = np.full(N_LAPSES, (1.0 - NO_LAPSE - ONLY_LAPSES) * share)
    mass = np.concatenate(([NO_LAPSE], between, [ONLY_LAPSES]))
    return np.concatenate(([0.0], np.sqrt(edges[1:] * edges[:-1]), [1.0])), np.log(mass)


def _log_likelihood(z: Floats, positives: Floats, totals: Floats, tau: Floats, rates: Floats, level: float) -> Floats:
    steep = links.expit(np.exp(tau)[:, None] * z)
    out = np.empty((len(rates), len(tau)))
    for row, rate in enumerate(rates):
        p = links.clip((1.0 - rate) * steep + level * rate)
        out[row] = np.log(p) @ positives + np.log(1.0 - p) @ (totals - positives)
    return out


def _possible(points: Floats, mass: Floats) -> tuple[float, float]:
    """The range of points outside of which little is left, two points wider on both sides."""
    kept = np.flatnonzero(mass > POSSIBLE * max(mass.sum(), np.finfo(np.float64).tiny))
    low, high = (kept[0], kept[-1]) if len(kept) else (0, len(points) - 1)
    return float(points[max(low - 2, 0)]), float(points[min(high + 2, len(points) - 1)])


def _much_narrower(found: tuple[float, float] | Floats, before: tuple[float, float] | Floats) -> bool:
    return bool(found[1] - found[0] < 0.5 * (before[1] - before[0]))
