"""Bayes-Iso: the posterior mean over all non-decreasing maps, with its uncertainty."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant import _limits, _validation
from calibrant._kernels import links
from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.calibrators.base import BayesianCalibrator, central_interval
from calibrant.map_functions import Linear
from calibrant.tally import Tally

if TYPE_CHECKING:
    from calibrant._kernels import monotone_posterior

SAMPLERS = ("tree", "importance")
BOUNDS = ("paper", "code", None)
R_HAT_LIMIT = 1.1  # of the worst cell, with split chains; the mean of the map is far better than that
LEAST_EFFECTIVE = 30.0  # independent draws of the worst cell; typical cells have five times as many
# The error of a rising map falls with the cube root of the rows, so cells may become more numerous still more slowly.
CELLS_PER_ROOT, LEAST_CELLS = 4.0, 11
LARGEST_ERROR = 0.0045  # the Monte-Carlo standard error of the mean at the worst cell; its estimate runs a little low


class BayesIso(BayesianCalibrator):
    """The mean of all non-decreasing maps, weighted by how well they explain the labels.

    The prior has no parameters: pick a rank, give it a probability that is uniform between its neighbours, go on to
    both sides. Its posterior mean is as flexible as isotonic regression, but smoother, and never claims 0 or 1.

    Parameters
    ----------
    sampler : {"tree", "importance"}
        How the posterior is computed. "tree" is a Markov chain on cells of neighbouring scores, whose cost does not
        grow with the number of rows. "importance" is the paper's Algorithm 1 on every distinct score; it is reliable
        for small samples only, and says so in `diagnostics_`.
    max_cells : int, optional
        Scores are merged into at most this many cells of equal mass. By default no merging for the importance sampler;
        for the tree sampler about eight times the fourth root of the number of rows, 27 at 100 rows, 45 at 1000, and
        101 from 25 000 on; at 40 rows or fewer half their number. Fewer cells give a smoother map.
    n_draws : int, optional
        Draws of the map: by default at least 1000 for the tree sampler, of which so many are kept for intervals, and
        the paper's 10000 candidates for the other.
    bounds : {"code", "paper", None}
        For the importance sampler: candidates are drawn within the bounds of the authors' program, within those of
        the paper's section 4.3, or without bounds.
    max_sweeps : int
        For the tree sampler: how long each chain may run before the fit warns that it has not converged.
    random_state : int, Generator, RandomState or None
        The seed of the draws.

    Attributes
    ----------
    diagnostics_ : dict
        For the tree sampler: the largest ``r_hat`` and the smallest and median effective sample size (``ess``,
        ``ess_median``) over cells, the largest standard error of the mean (``error``), ``acceptance``, ``n_chains``,
        ``n_sweeps``, ``n_draws``, ``n_cells`` and ``converged``.
        For the importance sampler: ``ess``, and ``dominated``, the paper's flag that one candidate outweighs all
        others together.

    Notes
    -----
    Between cells the map is linear in the score; outside of the range of the cells it is constant.

    The chains run until the Monte-Carlo standard error of the mean is about 0.005 at every cell, or until they have
    given three times `n_draws`; ``diagnostics_["error"]`` is what they reached. Exchanging the labels and reversing the
    scores gives one minus the map, without noise.

    References
    ----------
    Allikivi and Kull 2019, "Non-parametric Bayesian Isotonic Calibration: Fighting Over-confidence in Binary
    Classification".

    Examples
    --------
    >>> from calibrant import BayesIso
    >>> calibrator = BayesIso().fit([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1])
    >>> low, middle, high = calibrator.predict([1, 3.5, 6])
    >>> bool(0.1 < low < 0.25 and 0.45 < middle < 0.55 and 0.75 < high < 0.9)
    True
    >>> low, high = calibrator.predict_interval([3.5], level=0.9)
    >>> bool(low[0] < 0.3), bool(high[0] > 0.7)
    (True, True)
    >>> calibrator.diagnostics_["converged"]
    True
    """

    name = "bayes_iso"
    title = "Bayes-Iso (Bayesian isotonic)"
    description = "posterior mean over all non-decreasing maps, any number of rows; intervals"
    reference = "Allikivi and Kull 2019"
    monotone = True
    # R-hat, effective draws and the error; wider ones, without the error, do for a small part of a mixture
    _convergence: tuple[float, ...] = (R_HAT_LIMIT, LEAST_EFFECTIVE, LARGEST_ERROR)

    def __init__(
        self,
        *,
        sampler: str = "tree",
        max_cells: int | None = None,
        n_draws: int | None = None,
        bounds: str | None = "code",
        max_sweeps: int = 5000,
        random_state: RandomState = 0,
    ) -> None:
        self.sampler = sampler
        self.max_cells = max_cells
        self.n_draws = n_draws
        self.bounds = bounds
        self.max_sweeps = max_sweeps
        self.random_state = random_state

    def fit_map(self, tally: Tally) -> Linear:
        _validation.check_choice("sampler", self.sampler, SAMPLERS)
        _validation.check_choice("bounds", self.bounds, BOUNDS)
        tree = self.sampler == "tree"
        max_cells = _or_default("max_cells", self.max_cells, 1, _enough_cells(tally.total) if tree else len(tally))
        cells = tally.coarsen(max_cells)
        rng = _validation.generator(self.random_state)
        mean = self._by_tree(cells, rng) if tree else self._by_importance(cells, rng)
        self._scores = cells.scores
        return Linear(cells.scores, mean)

    def _by_tree(self, cells: Tally, rng: np.random.Generator) -> Floats:
        from calibrant._kernels import monotone_posterior

        n_draws = _or_default("n_draws", self.n_draws, 100, 1000)
        max_sweeps = _validation.check_count("max_sweeps", self.max_sweeps)
        limits = monotone_posterior.Limits(*self._convergence)
        found = monotone_posterior.sample(cells.positives, cells.totals, rng, n_draws, limits, max_sweeps)
        draws = found.draws.reshape(-1, len(cells))
        self._keep(draws, -(-len(draws) // n_draws))
        self.diagnostics_: dict[str, Any] = {
            "r_hat": float(found.r_hat.max()),
            "ess": float(found.effective.min()),
            "ess_median": float(np.median(found.effective)),
            "error": float(found.error.max()),
            "acceptance": found.acceptance,
            "n_chains": len(found.draws),
            "n_sweeps": found.n_sweeps,
            "n_draws": len(self._draws),
            "n_cells": len(cells),
            "converged": found.converged,
        }
        # Who set limits of its own has no use for advice about parameters that its users cannot reach.
        if not found.converged and self._convergence is type(self)._convergence:
            self._warn(limits)
        return found.mean

    def _keep(self, draws: Floats, every: int = 1) -> None:
        """Some of the draws for intervals, and what leaving rows out needs of all of them."""
        inside = links.clip(draws)
        self._inverses = (1.0 / inside).mean(axis=0), (1.0 / (1.0 - inside)).mean(axis=0)
        self._draws = draws[::every]

    def _warn(self, limits: "monotone_posterior.Limits") -> None:
        found = self.diagnostics_
        error = f", standard error of the mean {found['error']:.4f}, should be below {limits.error}"
        warnings.warn(
            f"BayesIso: the chains do not agree after {found['n_sweeps']} sweeps (R-hat {found['r_hat']:.2f}, should "
            f"be below {limits.r_hat}; effective sample size {found['ess']:.0f}, should be above {limits.effective:.0f}"
            f"{error if np.isfinite(limits.error) else ''}). Raise `max_sweeps`, or lower `max_cells`.",
            ConvergenceWarning,
            stacklevel=2,
        )

    def _by_importance(self, cells: Tally, rng: np.random.Generator) -> Floats:
        from calibrant._kernels import monotone_importance

        n_draws = _or_default("n_draws", self.n_draws, 1, 10_000)
        found = monotone_importance.sample(cells.positives, cells.totals, rng, n_draws, self.bounds)
        self._keep(found.resampled)
        weights = np.exp(found.log_weights - found.log_weights.max())
        dominated = bool(weights.sum() < 2.0)  # the largest weight is 1
        self.diagnostics_ = {
            "ess": float(weights.sum() ** 2 / (weights**2).sum()),
            "dominated": dominated and n_draws > 1,
            "n_draws": n_draws,
            "n_cells": len(cells),
        }
        if self.diagnostics_["dominated"]:
            warnings.warn(
                "BayesIso: one candidate map outweighs all others together, so the importance sampler is not reliable "
                'here. Use sampler="tree", or raise `n_draws`.',
                ConvergenceWarning,
                stacklevel=2,
            )
        return found.mean

    def sample_maps(self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of the whole map from its posterior, evaluated at `scores`, (n_draws, n).

        They are picked from the draws of the fit; with repetitions where more are wanted than there are.
        """
        at, count = self._fitted_map().check_scores(scores), _validation.check_count("n_draws", n_draws)
        rng = _validation.generator(random_state)
        picked = rng.choice(len(self._draws), size=count, replace=count > len(self._draws))
        return np.stack([np.interp(at, self._scores, draw) for draw in self._draws[picked]])

    def leave_one_out(self, tally: Tally) -> tuple[Floats, Floats]:
        """Predict each row from the posterior without it, by all draws of the fit at its cells."""
        self._fitted_map()
        positive, negative = (1.0 / np.interp(tally.scores, self._scores, inverse) for inverse in self._inverses)
        return positive, negative

    def predict_interval(self, scores: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the central credible interval of each calibrated probability.

        They are quantiles of the draws at the cells, joined by straight lines as the map is.
        """
        array = self._fitted_map().check_scores(scores)
        return central_interval(array, level, self._scores, self._draws, self._draws)


def _enough_cells(n_rows: float) -> int:
    """More cells than this change the map by less than its own uncertainty, but each makes the chains slower."""
    # An odd number: then no row of equal mass lies on a boundary, where its place would depend on the direction.
    half = float(min(CELLS_PER_ROOT * min(n_rows, _limits.MONOTONE_CELLS**4) ** 0.25, n_rows / 4.0))
    return min(max(2 * round(half) + 1, LEAST_CELLS), _limits.MONOTONE_CELLS)


def _or_default(name: str, value: int | None, least: int, default: int) -> int:
    return default if value is None else _validation.check_count(name, value, least)
