"""Histogram binning: the share of positives in each bin."""

import numpy as np

from calibrant import _validation
from calibrant._numerics import bins
from calibrant.calibrators.base import Calibrator
from calibrant.maps.functions import Step
from calibrant.maps.score import CalibrationMap
from calibrant.tally import Tally

STRATEGIES = ("uniform", "quantile")


class HistogramBinning(Calibrator):
    """The share of positives in the score's bin. Bins are closed on the right.

    Parameters
    ----------
    n_bins : int
        The number of bins; at most that many with "quantile", since tied scores are never parted.
    strategy : {"uniform", "quantile"}
        Bins of equal width on [0, 1], which needs probabilities; or of nearly equal mass, cut midway between
        neighbouring scores, which takes any scores.

    Notes
    -----
    A bin of equal width in which no row fell returns its midpoint: nothing is known there, so the score is
    believed as far as a bin can. Bins of equal mass are never empty.

    Examples
    --------
    >>> from calibrant import HistogramBinning
    >>> calibrator = HistogramBinning(n_bins=4).fit([0.1, 0.2, 0.3, 0.9], [0, 1, 1, 1])
    >>> calibrator.predict([0.25, 0.26, 0.6, 1.0]).tolist()
    [0.5, 1.0, 0.625, 1.0]
    """

    name = "histogram"
    title = "histogram binning"
    description = "bins of equal width or equal mass"
    reference = "Zadrozny and Elkan 2001"

    def __init__(self, *, n_bins: int = 10, strategy: str = "uniform") -> None:
        self.n_bins = n_bins
        self.strategy = strategy

    @property
    def space(self) -> str:  # type: ignore[override]  # a fact of the strategy, not of the class
        """The scores that the strategy takes."""
        return "decision" if self.strategy == "quantile" else "probability"

    def fit_map(self, tally: Tally) -> CalibrationMap:
        strategy = _validation.check_choice("strategy", self.strategy, STRATEGIES)
        n_bins = _validation.check_count("n_bins", self.n_bins)
        function = _equal_width(tally, n_bins) if strategy == "uniform" else _equal_mass(tally, n_bins)
        never_falls = bool((np.diff(function.values) >= 0.0).all())
        return self._as_map(function, never_falls)


def _equal_width(tally: Tally, n_bins: int) -> Step:
    edges = bins.equal_width_edges(n_bins)
    number = bins.bin_of(tally.scores, edges)
    positives = np.bincount(number, tally.positives, n_bins)
    totals = np.bincount(number, tally.totals, n_bins)
    midpoints = (np.arange(n_bins) + 0.5) / n_bins
    return Step(edges, np.divide(positives, totals, out=midpoints, where=totals > 0.0))


def _equal_mass(tally: Tally, n_bins: int) -> Step:
    starts = bins.equal_mass_starts(tally.totals, n_bins)
    edges = bins.cuts_between(tally.scores[starts[1:] - 1], tally.scores[starts[1:]])
    return Step(edges, np.add.reduceat(tally.positives, starts) / np.add.reduceat(tally.totals, starts))
