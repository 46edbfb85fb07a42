"""Averaging over Bayesian binnings: the mean of all 2^(m−1) histograms of m cells, weighted by their posterior."""

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from calibrant import _limits, _validation
from calibrant._numerics.piecewise import interpolate
from calibrant._typing import Floats, RandomState
from calibrant.calibrators import abb_posterior as posterior
from calibrant.calibrators.base import BayesianCalibrator, quantile_ends
from calibrant.calibrators.published.sbb import check_binning_parameters, counts, lam_grid, unit_range
from calibrant.maps.functions import MapFunction, Step
from calibrant.tally import Tally

INTERVALS = ("akaike", "posterior")


class ABB(BayesianCalibrator):
    """Averaging over Bayesian Binnings: no bin boundary is chosen, all of them are averaged, exactly.

    The map need not be monotone, so a score that ranks wrongly is repaired as well.

    Parameters
    ----------
    lam : "average", float or sequence of float
        λ of eq. 2.5, the expected number of bin boundaries a priori. "average" averages over the grid 1, 2, 4 … 256
        by evidence; so does a sequence, over its values.
    alpha, beta : float
        Parameters of the Beta prior of each bin's probability; the paper has 1 and 1.
    max_cells : int
        More distinct scores than this are first merged into so many cells of nearly equal mass.
    interval : {"akaike", "posterior"}
        What `predict_interval` is made of: "posterior" is the exact posterior of the published model; "akaike" is a
        less sparing model, whose intervals cover smooth truths as often as they say. The interval always contains
        the prediction.
    n_draws : int
        Number of draws behind an interval.
    random_state : int, Generator, RandomState or None
        Seed of those draws.

    Attributes
    ----------
    cells_ : Tally
        The cells over whose binnings the average runs.
    boundary_probability_ : ndarray of shape (m - 1,)
        Posterior probability of a bin boundary in each gap between neighbouring cells: where the data want a cut.
    evidence_ : float
        ln P(data), averaged over binnings and λ.
    lam_grid_, lam_posterior_ : ndarray
        The values of λ and their posterior probabilities; a priori they are equally probable.

    Notes
    -----
    The fitted map is a table of straight pieces within 1e-5 of the posterior mean (eq. 2.8), constant outside the
    scores. `calibrators.published.printed_abb` has eq. 2.9 as the paper prints it, and its cache of cells.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import ABB
    >>> scores = np.arange(40) / 40
    >>> calibrator = ABB().fit(scores, (scores > 0.3) & (scores < 0.7))
    >>> calibrator.predict([0.1, 0.5, 0.9]).round(2).tolist()
    [0.08, 0.92, 0.09]
    >>> int(calibrator.boundary_probability_.argmax())  # between 12/40 and 13/40
    12
    """

    name = "abb"
    title = "ABB (average of binnings)"
    description = "exact average over all binnings, any shape; intervals"
    reference = "Naeini, Cooper and Hauskrecht 2015 (SDM), section 2.4"

    def __init__(
        self,
        *,
        lam: float | str | Sequence[float] = "average",
        alpha: float = 1.0,
        beta: float = 1.0,
        max_cells: int = _limits.BINNING_CELLS,
        interval: str = "akaike",
        n_draws: int = 1000,
        random_state: RandomState = 0,
    ) -> None:
        self.lam = lam
        self.alpha = alpha
        self.beta = beta
        self.max_cells = max_cells
        self.interval = interval
        self.n_draws = n_draws
        self.random_state = random_state

    def fit_map(self, tally: Tally) -> MapFunction:
        from calibrant._compiled import partitions

        grid = self._checked_grid()
        cells = tally.coarsen(self.max_cells)
        x, _ = unit_range(cells.scores)
        alpha, beta = float(self.alpha), float(self.beta)
        log_f, _ = partitions.forward(x, *counts(cells), grid, alpha, beta, False)
        log_evidence = log_f[:, -1]
        self.cells_ = cells
        self.lam_grid_ = grid
        self.lam_posterior_ = softmax(log_evidence)
        self.evidence_ = float(np.logaddexp.reduce(log_evidence) - np.log(len(grid)))
        filled = posterior.filled_gaps(tally, cells)
        given = (cells, x, grid, self.lam_posterior_, log_f, filled, alpha, beta)
        exact = self._posterior = posterior.BinningPosterior(*given)
        akaike = posterior.AkaikePosterior.of(exact, tally)
        self._interval_model = exact if self.interval == "posterior" else akaike
        mean, self.boundary_probability_ = posterior.average_binnings(exact)
        return mean if isinstance(mean, Step) else mean.tabulated()

    def _checked_grid(self) -> Floats:
        check_binning_parameters(self.alpha, self.beta, self.max_cells)
        _validation.check_choice("interval", self.interval, INTERVALS)
        _validation.check_count("n_draws", self.n_draws)
        return lam_grid(self.lam, "average")

    def draw_maps(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draws of the whole map from the exact posterior, evaluated at `scores`, (n_draws, n).

        λ, the binning given λ, the level of each bin and the places of the boundaries within their gaps are drawn in
        turn, so the draws are independent and exact.
        """
        return self._posterior.draw(scores, n_draws, rng)

    def leave_one_out(self, tally: Tally) -> tuple[Floats, Floats]:
        """Predict each row from the posterior without it: exact at the cells of the fit."""
        self._fitted_map()
        return self._posterior.leave_one_out(tally.scores)

    def interval_ends(self, scores: Floats, level: float) -> tuple[Floats, Floats]:
        """Quantiles of `n_draws` draws at the cells, straight lines between them."""
        drawn_at, *bounds = self._interval_model.bounds(self.n_draws, _validation.generator(self.random_state))
        low, high = quantile_ends(level, *bounds)
        return interpolate(scores, drawn_at, low), interpolate(scores, drawn_at, high)

    def interval_draws(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Maps whose lower and upper quantiles are the ends of intervals, by the model that `interval` names."""
        drawn_at, *bounds = self._interval_model.bounds(n_draws, rng)
        low, high = (np.stack([interpolate(scores, drawn_at, draw) for draw in draws]) for draws in bounds)
        return low, high
