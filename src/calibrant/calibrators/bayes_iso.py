"""Bayes-Iso: the posterior mean over all non-decreasing maps, with its uncertainty."""

from typing import Any

import numpy as np

from calibrant import _limits, _validation
from calibrant._numerics.piecewise import interpolate
from calibrant._typing import Floats
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.calibrators.bayes_iso_posterior import integrate
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Linear
from calibrant.tally import Tally

# The error of a rising map falls with the cube root of the rows, so cells may become more numerous still more slowly.
CELLS_PER_ROOT, LEAST_CELLS = 5.0, 11


class BayesIso(BayesianCalibrator):
    """The mean of all non-decreasing maps, weighted by how well they explain the labels.

    The prior has no parameters: pick a rank, give it a probability that is uniform between its neighbours, go on to
    both sides. Its posterior mean is as flexible as isotonic regression, but smoother, and never claims 0 or 1.

    Parameters
    ----------
    max_cells : int, optional
        Scores are merged into at most this many cells of equal mass. By default about ten times the fifth root of the
        number of rows, 27 at 100 rows, 41 at 1000, and 55 from 5000 on; at 40 rows or fewer half their number. Fewer
        cells give a smoother map. At most 201: the cost grows with the cube of this number.

    Attributes
    ----------
    diagnostics_ : dict
        ``n_cells``; ``n_levels``, of the grid; and ``edge``, the largest posterior mass at the edge of the levels that
        were summed over for a cell.

    Notes
    -----
    Between cells the map is linear in the score; outside of the range of the cells it is constant.

    The posterior is summed over a grid of probabilities for each cell, without draws: there is no Monte-Carlo error, no
    seed, and no cost that grows with the number of rows. What the grid leaves is within 0.005 of the mean at every
    cell, and a few hundredths of the posterior's standard deviation. Exchanging the labels and reversing the scores
    gives one minus the map. `calibrators.published.sampled_bayes_iso` has the paper's importance sampler.

    References
    ----------
    Allikivi and Kull 2019, "Non-parametric Bayesian Isotonic Calibration: Fighting Over-confidence in Binary
    Classification".

    Examples
    --------
    >>> from calibrant import BayesIso
    >>> calibrator = BayesIso().fit([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1])
    >>> calibrator.predict([1, 3.5, 6]).round(1).tolist()
    [0.2, 0.5, 0.8]
    >>> low, high = calibrator.predict_interval([3.5], level=0.9)
    >>> bool(low[0] < 0.3), bool(high[0] > 0.7)
    (True, True)
    >>> calibrator.diagnostics_["n_cells"]
    6
    """

    name = "bayes_iso"
    title = "Bayes-Iso (Bayesian isotonic)"
    description = "posterior mean over all non-decreasing maps, any number of rows; intervals"
    reference = "Allikivi and Kull 2019"
    monotone = True

    def __init__(self, *, max_cells: int | None = None) -> None:
        self.max_cells = max_cells

    def fit_map(self, tally: Tally) -> Linear:
        cells = tally.coarsen(self._n_cells(tally))
        self._scores, self._posterior = cells.scores, self._find_posterior(cells)
        return Linear(cells.scores, self._posterior.mean)

    def _n_cells(self, tally: Tally) -> int:
        if self.max_cells is None:
            # More cells than this change the map by less than its own uncertainty. An odd number: then no row of equal
            # mass lies on a boundary, where its place would depend on the direction.
            half = min(CELLS_PER_ROOT * min(tally.total, _limits.MONOTONE_CELLS**5) ** 0.2, tally.total / 4.0)
            return min(max(2 * round(half) + 1, LEAST_CELLS), _limits.MONOTONE_CELLS)
        max_cells = _validation.check_count("max_cells", self.max_cells)
        if max_cells > _limits.MOST_MONOTONE_CELLS:
            raise InvalidInputError(f"`max_cells` must be at most {_limits.MOST_MONOTONE_CELLS}; got {max_cells}.")
        return max_cells

    def _find_posterior(self, cells: Tally) -> Any:
        """What has the `mean`, `mean_inverses`, `quantiles` and draws (`draw`) of the value of each cell."""
        found = integrate(cells.positives, cells.totals)
        self.diagnostics_: dict[str, Any] = {
            "n_cells": len(cells),
            "n_levels": len(found.levels.p),
            "edge": found.edge,
        }
        return found

    def draw_maps(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Independent draws of the whole map from its posterior, evaluated at `scores`, (n_draws, n)."""
        return interpolate(scores, self._scores, self._posterior.draw(n_draws, rng))

    def leave_one_out(self, tally: Tally) -> tuple[Floats, Floats]:
        """Predict each row from the posterior without it, at the cells of the fit."""
        self._fitted_map()
        inverses = self._posterior.mean_inverses()
        positive, negative = (1.0 / interpolate(tally.scores, self._scores, inverse) for inverse in inverses)
        return positive, negative

    def interval_ends(self, scores: Floats, level: float) -> tuple[Floats, Floats]:
        """Quantiles at the cells, joined by straight lines as the map is."""
        tail = 0.5 * (1.0 - level)
        low, high = self._posterior.quantiles(tail), self._posterior.quantiles(1.0 - tail)
        return interpolate(scores, self._scores, low), interpolate(scores, self._scores, high)
