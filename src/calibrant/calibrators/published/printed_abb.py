"""ABB as its paper prints it: eq. 2.9 with the best binnings on either side, and a cache of equal cells."""

from collections.abc import Sequence

import numpy as np

from calibrant import _limits, _validation
from calibrant._numerics import bins
from calibrant.calibrators.abb import ABB, BinningPosterior
from calibrant.calibrators.published.sbb import counts
from calibrant.maps.functions import Linear, MapFunction, Step
from calibrant.tally import Tally

AVERAGINGS = ("max", "sum")


class PrintedABB(ABB):
    """Averaging over Bayesian Binnings by the formulas of the paper; `ABB` is what they are meant to compute.

    Intervals and draws are those of `ABB`.

    Parameters
    ----------
    lam : "average", float or sequence of float
        As for `ABB`.
    averaging : {"max", "sum"}
        "max" is eq. 2.9 as printed, where V^f and V^b are the scores of the best binnings on either side; straight
        lines between cells. "sum" is the average over all binnings, eq. 2.8, as in `ABB`.
    n_cache : int, optional
        Keep only the values at the centres of this many equal cells of [0, 1], as at the end of section 2.4.
    max_cells : int
        As for `ABB`.

    Examples
    --------
    >>> from calibrant.calibrators.published.printed_abb import PrintedABB
    >>> calibrator = PrintedABB(n_cache=4).fit([0.1, 0.2, 0.3, 0.6, 0.7, 0.9], [0, 0, 0, 1, 1, 1])
    >>> calibrator.predict([0.01, 0.2, 0.99]).round(2).tolist()
    [0.29, 0.29, 0.7]
    """

    name = "printed_abb"
    title = "ABB as printed"
    description = "the average of binnings by the paper's formulas"
    reference = "Naeini, Cooper and Hauskrecht 2015 (SDM), eq. 2.9"

    def __init__(
        self,
        *,
        lam: float | str | Sequence[float] = "average",
        averaging: str = "max",
        n_cache: int | None = None,
        max_cells: int = _limits.BINNING_CELLS,
    ) -> None:
        super().__init__(lam=lam, max_cells=max_cells)
        self.averaging = averaging
        self.n_cache = n_cache

    def fit_map(self, tally: Tally) -> MapFunction:
        _validation.check_choice("averaging", self.averaging, AVERAGINGS)
        mean = super().fit_map(tally)
        if self.averaging == "max":
            mean = _average_best_binnings(self._posterior)
        if self.n_cache is None:
            return mean
        n_cells = _validation.check_count("n_cache", self.n_cache)
        _validation.check_unit_interval(tally.scores, "scores", "PrintedABB with `n_cache`")
        centres = (np.arange(n_cells) + 0.5) / n_cells
        return Step(bins.equal_width_edges(n_cells), mean(centres))


def _average_best_binnings(posterior: BinningPosterior) -> Linear:
    """Eq. 2.9 with V^f and V^b as the best scores; normalised over the bins that contain the score."""
    from calibrant._compiled import partitions

    cells = posterior.cells
    given = (posterior.x, *counts(cells), posterior.lam, posterior.alpha, posterior.beta)
    log_v, _ = partitions.forward(*given, True)
    sums = []
    for what in (partitions.MEAN, partitions.ONE):
        _, starts, ends = partitions.backward(*given, log_v, True, what)
        sums.append(np.cumsum(starts, axis=1) - np.cumsum(ends, axis=1) + ends)
    return Linear(cells.scores, posterior.lam_posterior @ (sums[0] / sums[1]))
