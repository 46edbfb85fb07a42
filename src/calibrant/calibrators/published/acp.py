"""Adaptive calibration of predictions: each prediction's confidence interval is its bin."""

from typing import Literal

import numpy as np
from scipy.special import ndtri

from calibrant import _limits, _validation
from calibrant._numerics import links
from calibrant._numerics.piecewise import nearest_monotone
from calibrant._typing import ArrayLike, Floats
from calibrant.calibrators.base import Calibrator
from calibrant.maps.functions import Step
from calibrant.tally import Tally


class ACP(Calibrator):
    """The share of positives among the calibration rows inside the confidence interval of the prediction.

    The model that made the scores must say how sure it is of each: `predict_between` takes its intervals. The map has
    none of them; its interval around a score is the one that a logistic regression on this single score would have,
    fitted to the calibration rows: narrow, since one coefficient is known better than many.

    Parameters
    ----------
    level : float
        Confidence level of the intervals of the map.
    max_cells : int
        The map is made from at most this many cells of equal mass.

    Notes
    -----
    The method leaves open what to do with an interval that holds no calibration row; here it is widened to the
    nearest rows below and above. Shares of 0 and 1 stay as they are.

    Examples
    --------
    >>> from calibrant import ACP
    >>> scores, y = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 0, 1, 1]
    >>> ACP().fit(scores, y).predict_between([0.15, 0.25], lower=[0.05, 0.15], upper=[0.25, 0.35]).tolist()
    [0.0, 0.5]
    """

    name = "acp"
    title = "ACP (adaptive calibration of predictions)"
    description = "the share of positives within each prediction's confidence interval"
    reference = "Jiang, Osl, Kim and Ohno-Machado 2012"
    space = "probability"

    def __init__(self, *, level: float = 0.95, max_cells: int = _limits.ACP_CELLS) -> None:
        self.level = level
        self.max_cells = max_cells

    def fit_map(self, tally: Tally) -> Step:
        _validation.check_level(self.level)
        cells = tally.coarsen(self.max_cells)
        self.cells_ = cells
        x, lower, upper = _own_intervals(cells, self.level)
        # A row enters the bin where the upper end reaches it, and leaves it where the lower end passes it.
        # Bins of a map are closed on the right, so it enters one double early.
        enter, leave = _crossing(x, upper, cells.scores, "left"), _crossing(x, lower, cells.scores, "right")
        edges = np.unique(np.concatenate((np.nextafter(enter, -np.inf), leave)))
        bounds = np.concatenate(([edges.min(initial=0.0)], edges, [edges.max(initial=1.0)]))
        middles = 0.5 * (bounds[1:] + bounds[:-1])  # a score inside each bin
        values = self._share(np.interp(middles, x, lower), np.interp(middles, x, upper), middles)
        return Step(edges, values)

    def predict_between(self, scores: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Floats:
        """Calibrate rows whose own intervals are known: the method as published.

        Parameters
        ----------
        scores, lower, upper : array-like of shape (n,)
            Each row's score and the ends of its interval.

        Returns
        -------
        ndarray of shape (n,)
        """
        self._fitted_map()
        columns = [_validation.check_scores(c, n) for c, n in ((scores, "scores"), (lower, "lower"), (upper, "upper"))]
        for name, column in (("lower", columns[1]), ("upper", columns[2])):
            _validation.check_same_length(len(columns[0]), len(column), name)
        return self._share(columns[1], columns[2], columns[0])

    def _share(self, lower: Floats, upper: Floats, scores: Floats) -> Floats:
        """The share of positives among the cells in [lower, upper], or else in the nearest ones around `scores`."""
        cells = self.cells_
        first = np.searchsorted(cells.scores, lower, side="left")
        stop = np.searchsorted(cells.scores, upper, side="right")
        after = np.searchsorted(cells.scores, scores, side="left")
        empty = stop <= first
        first = np.where(empty, np.maximum(after - 1, 0), first)
        stop = np.where(empty, np.minimum(after + 1, len(cells)), stop)
        positives = np.concatenate(([0.0], np.cumsum(cells.positives)))
        totals = np.concatenate(([0.0], np.cumsum(cells.totals)))
        return np.clip((positives[stop] - positives[first]) / (totals[stop] - totals[first]), 0.0, 1.0)


def _own_intervals(cells: Tally, level: float) -> tuple[Floats, Floats, Floats]:
    """Around each cell's score, the interval of a logistic regression on its logit, by the delta method."""
    from calibrant._numerics.logistic import fit_logistic

    z = links.logit(cells.scores)
    features = np.column_stack((np.ones(len(z)), z - np.average(z, weights=cells.totals)))
    # One row's worth of prior on each coefficient keeps classes that do not overlap from an infinite interval.
    precision = fit_logistic(features, cells.positives, cells.totals, ridge=1.0).precision
    # The standard error of the linear predictor of each row x is √(x' precision⁻¹ x).
    deviations = np.sqrt(np.einsum("ij,ij->i", features, np.linalg.solve(precision, features.T).T))
    reach = float(ndtri(0.5 + 0.5 * level)) * deviations
    lower, upper = (nearest_monotone(links.expit(z + sign * reach)) for sign in (-1.0, 1.0))
    return cells.scores, lower, upper


def _crossing(x: Floats, end: Floats, scores: Floats, side: Literal["left", "right"]) -> Floats:
    """Find where the non-decreasing straight lines (x, end) first reach (left) or last keep to (right) each score."""
    inside = (scores >= end[0]) & (scores <= end[-1]) if len(x) > 1 else np.zeros(len(scores), dtype=bool)
    wanted = scores[inside]
    right = np.clip(np.searchsorted(end, wanted, side=side), 1, len(x) - 1)
    low, rise = end[right - 1], end[right] - end[right - 1]
    share = np.where(rise > 0.0, (wanted - low) / np.where(rise > 0.0, rise, 1.0), float(side == "right"))
    return x[right - 1] + share * (x[right] - x[right - 1])
