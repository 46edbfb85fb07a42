"""The spline through cumulative differences of labels and scores of Gupta et al. 2021, for comparison."""

import numpy as np
from scipy.interpolate import CubicSpline

from calibrant._typing import Floats
from calibrant.calibrators.base import Calibrator
from calibrant.maps.functions import Linear
from calibrant.tally import Tally

N_KNOTS = 6  # as in the paper
MOST_CELLS = 1000  # a curve of six knots needs no finer table


class CumulativeSpline(Calibrator):
    """The score plus the derivative of a natural cubic spline through cumulative differences of labels and scores."""

    name = "cumulative_spline"
    title = "Cumulative spline"
    description = "natural cubic spline through cumulative differences of labels and scores"
    reference = "Gupta et al. 2021"
    space = "probability"

    def fit_map(self, tally: Tally) -> Linear:
        """Straight lines between the corrected scores of cells."""
        cells = tally.coarsen(MOST_CELLS)
        added = cumulative_corrections(cells.scores, cells.positives, cells.totals, N_KNOTS)
        return Linear(cells.scores, np.clip(cells.scores + added, 0.0, 1.0))


def cumulative_corrections(scores: Floats, positives: Floats, totals: Floats, n_knots: int) -> Floats:
    """How much the spline of Gupta et al. (2021) adds to the score of each cell, for cells sorted by score.

    With t the share of rows up to a score, h(t) is the cumulative sum of (label - score) divided by N. A natural
    cubic spline with evenly spaced knots is fitted to h by least squares over the rows; since
    h'(t) = P(y = 1 | s(t)) - s(t), its derivative is the correction. O(m · knots²).
    """
    total = totals.sum()
    ends = np.concatenate(([0.0], np.cumsum(totals) / total))
    heights = np.concatenate(([0.0], np.cumsum(positives - scores * totals) / total))
    knots = np.linspace(0.0, 1.0, min(n_knots, len(scores) + 1))
    if len(knots) == 2:
        return np.full(len(scores), heights[-1])
    basis = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")
    weight = np.sqrt(np.concatenate((totals[:1], totals)))
    coefficients = np.linalg.lstsq(basis(ends) * weight[:, None], heights * weight, rcond=None)[0]
    middle = 0.5 * (ends[1:] + ends[:-1])
    return basis(middle, 1) @ coefficients
