"""Bayes-Iso: the posterior mean over all non-decreasing maps, with its uncertainty."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant import _limits, _validation
from calibrant._numerics.interpolation import interpolate
from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.calibrators.bayes_iso import posterior
from calibrant.calibrators.published import bayes_iso_sampler
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Linear
from calibrant.tally import Tally

METHODS = ("levels", "importance")
BOUNDS = ("paper", "code", None)
# The error of a rising map falls with the cube root of the rows, so cells may become more numerous still more slowly.
CELLS_PER_ROOT, LEAST_CELLS = 5.0, 11


class BayesIso(BayesianCalibrator):
    """The mean of all non-decreasing maps, weighted by how well they explain the labels.

    The prior has no parameters: pick a rank, give it a probability that is uniform between its neighbours, go on to
    both sides. Its posterior mean is as flexible as isotonic regression, but smoother, and never claims 0 or 1.

    Parameters
    ----------
    method : {"levels", "importance"}
        How the posterior is computed. "levels" sums it over a grid of probabilities for each of some cells of
        neighbouring scores, without draws; its cost does not grow with the number of rows. "importance" is the paper's
        Algorithm 1 on every distinct score; it is reliable for small samples only, and says so in `diagnostics_`.
    max_cells : int, optional
        Scores are merged into at most this many cells of equal mass. By default no merging for "importance"; for
        "levels" about ten times the fifth root of the number of rows, 27 at 100 rows, 41 at 1000, and 55 from 5000
        on; at 40 rows or fewer half their number. Fewer cells give a smoother map. At most 201 for "levels", whose cost
        grows with the cube of this number.
    n_draws : int
        For "importance": the candidate maps.
    bounds : {"code", "paper", None}
        For "importance": candidates are drawn within the bounds of the authors' program, within those of the paper's
        section 4.3, or without bounds.
    random_state : int, Generator, RandomState or None
        For "importance": the seed of the draws.

    Attributes
    ----------
    diagnostics_ : dict
        ``n_cells``; for "levels" also ``n_levels``, of the grid, and ``edge``, the largest posterior mass at the edge
        of the levels that were summed over for a cell. For "importance" ``n_draws``, the effective number of them
        ``ess``, and ``dominated``, the paper's flag that one candidate outweighs all others together.

    Notes
    -----
    Between cells the map is linear in the score; outside of the range of the cells it is constant.

    With "levels" there is no Monte-Carlo error, and no seed. What the grid leaves is within 0.005 of the mean at every
    cell, and a few hundredths of the posterior's standard deviation. Exchanging the labels and reversing the scores
    gives one minus the map.

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

    def __init__(
        self,
        *,
        method: str = "levels",
        max_cells: int | None = None,
        n_draws: int = 10_000,
        bounds: str | None = "code",
        random_state: RandomState = 0,
    ) -> None:
        self.method = method
        self.max_cells = max_cells
        self.n_draws = n_draws
        self.bounds = bounds
        self.random_state = random_state

    def fit_map(self, tally: Tally) -> Linear:
        _validation.check_choice("method", self.method, METHODS)
        _validation.check_choice("bounds", self.bounds, BOUNDS)
        _validation.check_count("n_draws", self.n_draws)
        cells = tally.coarsen(self._check_cells(tally))
        self._posterior: posterior.Posterior | bayes_iso_sampler.Weighted
        self._posterior = self._sum_levels(cells) if self.method == "levels" else self._draw_candidates(cells)
        self._scores = cells.scores
        return Linear(cells.scores, self._posterior.mean)

    def _check_cells(self, tally: Tally) -> int:
        levels = self.method == "levels"
        if self.max_cells is None:
            return _enough_cells(tally.total) if levels else len(tally)
        max_cells = _validation.check_count("max_cells", self.max_cells)
        if levels and max_cells > _limits.MOST_MONOTONE_CELLS:
            raise InvalidInputError(
                f'`max_cells` must be at most {_limits.MOST_MONOTONE_CELLS} for method="levels"; got {max_cells}.'
            )
        return max_cells

    def _sum_levels(self, cells: Tally) -> posterior.Posterior:
        found = posterior.integrate(cells.positives, cells.totals)
        self.diagnostics_: dict[str, Any] = {
            "n_cells": len(cells),
            "n_levels": len(found.levels.p),
            "edge": found.edge,
        }
        return found

    def _draw_candidates(self, cells: Tally) -> bayes_iso_sampler.Weighted:
        rng = _validation.generator(self.random_state)
        found = bayes_iso_sampler.sample(cells.positives, cells.totals, rng, self.n_draws, self.bounds)
        weights = np.exp(found.log_weights - found.log_weights.max())
        dominated = bool(weights.sum() < 2.0)  # the largest weight is 1
        self.diagnostics_ = {
            "ess": float(weights.sum() ** 2 / (weights**2).sum()),
            "dominated": dominated and self.n_draws > 1,
            "n_draws": self.n_draws,
            "n_cells": len(cells),
        }
        if self.diagnostics_["dominated"]:
            warnings.warn(
                "BayesIso: one candidate map outweighs all others together, so importance sampling is not reliable "
                'here. Use method="levels", or raise `n_draws`.',
                ConvergenceWarning,
                stacklevel=2,
            )
        return found

    def sample_maps(self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of the whole map from its posterior, evaluated at `scores`, (n_draws, n).

        With "levels" they are independent; with "importance" they are picked from a thousand candidates.
        """
        at, count = self._fitted_map().check_scores(scores), _validation.check_count("n_draws", n_draws)
        draws = self._posterior.draw(count, _validation.generator(random_state))
        return np.stack([interpolate(at, self._scores, draw) for draw in draws])

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


def _enough_cells(n_rows: float) -> int:
    """More cells than this change the map by less than its own uncertainty, but cost grows with their cube."""
    # An odd number: then no row of equal mass lies on a boundary, where its place would depend on the direction.
    half = float(min(CELLS_PER_ROOT * min(n_rows, _limits.MONOTONE_CELLS**5) ** 0.2, n_rows / 4.0))
    return min(max(2 * round(half) + 1, LEAST_CELLS), _limits.MONOTONE_CELLS)
