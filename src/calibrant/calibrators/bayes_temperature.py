"""Bayesian temperature scaling with lapses: how steep the score should be, and how often it means nothing."""

import numpy as np

from calibrant import _limits
from calibrant._numerics import links
from calibrant._numerics.straight_pieces import straight_pieces
from calibrant._typing import Floats, Ints
from calibrant.calibrators import lapse_grid
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.maps.functions import LogitLinear
from calibrant.tally import Tally

EXTREME = float(links.logit(np.array(1.0)))
# Nodes of the tabulated map over every logit that a score can have, dense around 0 where the curve bends.
NODES = EXTREME * np.sinh(np.linspace(-6.0, 6.0, 401)) / np.sinh(6.0)


class BayesianTemperature(BayesianCalibrator):
    """The posterior mean of (1 − ε) expit(e^τ z) + ε / 2, where z is the logit of the score.

    The slope e^τ is the inverse of a temperature; the lapse rate ε is the share of rows on which the score says
    nothing, so that a score of exactly 0 or 1 is not taken at its word. Both are averaged over their posterior. The
    prior is centred on the identity, so a handful of rows changes little. It is the Bayesian relative of
    `EnsembleTemperatureScaling`, and the member of `Blend` that speaks first when data are few.

    Parameters
    ----------
    max_cells : int
        The model is fitted to at most this many cells of equal mass.

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

    def __init__(self, *, max_cells: int = _limits.SMOOTH_CELLS) -> None:
        self.max_cells = max_cells

    def fit_map(self, tally: Tally) -> LogitLinear:
        cells = tally.coarsen(self.max_cells)
        self._grid = lapse_grid.posterior(links.logit(cells.scores), cells.positives, cells.totals)
        self.temperature_ = float(np.exp(-self._grid.weights @ np.log(self._grid.slopes)))
        self.lapse_ = float(self._grid.weights @ self._grid.lapses)
        x, y = straight_pieces(NODES, links.logit(self._mean(NODES)), NODES[[0, -1]])
        return LogitLinear(x, y, 0.0, 0.0)

    def _mean(self, z: Floats) -> Floats:
        """The posterior mean; points of the grid with one slope share a curve."""
        slopes, which = np.unique(self._grid.slopes, return_inverse=True)
        shares = np.bincount(which, self._grid.weights * (1.0 - self._grid.lapses))
        out: Floats = shares @ links.expit(slopes[:, None] * z) + 0.5 * self.lapse_
        return out

    def _maps(self, z: Floats, points: Ints) -> Floats:
        """The map of each point of the grid, (points, n)."""
        slopes, which = np.unique(self._grid.slopes[points], return_inverse=True)
        lapses = self._grid.lapses[points, None]
        return (1.0 - lapses) * links.expit(slopes[:, None] * z)[which] + 0.5 * lapses

    def draw_maps(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draws of the whole map from its posterior, evaluated at `scores`, (n_draws, n)."""
        chosen = rng.choice(len(self._grid.weights), size=n_draws, p=self._grid.weights)
        return self._maps(links.logit(scores), chosen)

    def interval_ends(self, scores: Floats, level: float) -> tuple[Floats, Floats]:
        """Weighted quantiles over the grid of temperatures."""
        z = links.logit(scores)
        maps = self._maps(NODES, np.arange(len(self._grid.weights)))
        order = np.argsort(maps, axis=0)
        below = np.cumsum(self._grid.weights[order], axis=0)
        ends = []
        for tail in (0.5 - 0.5 * level, 0.5 + 0.5 * level):
            at = np.minimum((below < tail).sum(axis=0), len(maps) - 1)
            ends.append(np.interp(z, NODES, maps[order[at, np.arange(len(NODES))], np.arange(len(NODES))]))
        return ends[0], ends[1]

    def leave_one_out(self, tally: Tally) -> tuple[Floats, Floats]:
        """Predict each row from the posterior without it; exact on the grid."""
        maps = links.clip(self._maps(links.logit(tally.scores), np.arange(len(self._grid.weights))))
        return 1.0 / (self._grid.weights @ (1.0 / maps)), 1.0 / (self._grid.weights @ (1.0 / (1.0 - maps)))
