"""Venn-Abers prediction: isotonic regression with the new row counted once as negative and once as positive."""

import numpy as np

from calibrant._typing import ArrayLike, Floats
from calibrant.calibrators.base import Calibrator
from calibrant.maps.functions import Step
from calibrant.maps.score import CalibrationMap
from calibrant.tally import Tally


class VennAbers(Calibrator):
    """Two probabilities for each score, one of which is calibrated, and the single one that they merge to.

    For a new score, isotonic regression is fitted to the calibration rows and the new row, once labelled 0 and once
    labelled 1. The two fits at the new score are p0 and p1. Whatever the distribution of the data, the one that
    belongs to the true label is perfectly calibrated (when rows are exchangeable). `predict` merges the two to
    ``p1 / (1 - p0 + p1)``, the minimax choice for log-loss. All pairs are computed in one pass, so fitting costs no
    more than a sort.

    With weights, the new row counts as a row of weight 1.

    Attributes
    ----------
    lower_map_, upper_map_ : CalibrationMap
        The maps from a score to p0 and to p1.

    References
    ----------
    Vovk and Petej 2014, "Venn-Abers predictors"; Vovk, Petej and Fedorova 2015, "Large-scale probabilistic predictors
    with and without guarantees of validity", for the fast algorithm (1–4) and the merging (section 4).

    Examples
    --------
    >>> from calibrant import VennAbers
    >>> calibrator = VennAbers().fit([1, 2, 3, 4], [0, 1, 0, 1])
    >>> low, high = calibrator.predict_interval([2.5])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.333], [0.667])
    >>> calibrator.predict([2.5]).round(3).tolist()
    [0.5]
    """

    name = "venn_abers"
    title = "Venn-Abers"
    description = "two isotonic fits for each score: p0, p1 and their merger"
    reference = "Vovk and Petej 2014; Vovk, Petej and Fedorova 2015"
    monotone = True
    takes_grades = False  # every prediction adds a row of each label

    def fit_map(self, tally: Tally) -> CalibrationMap:
        from calibrant._compiled import venn_abers

        p0, p1 = venn_abers.pair(tally.positives, tally.totals)
        # Between two cells a negative row joins the cell below and a positive one the cell above it, so p0 jumps at
        # each score and p1 after it. A jump at a score is a jump after the double before it.
        before = np.nextafter(tally.scores, np.finfo(np.float64).min)
        edges = np.column_stack((before, tally.scores)).ravel()
        low = np.concatenate(([0.0], np.repeat(p0, 2)))
        high = np.concatenate((np.repeat(p1, 2), [1.0]))
        self.lower_map_ = self._steps(edges, low)
        self.upper_map_ = self._steps(edges, high)
        return self._steps(edges, high / (1.0 - low + high))

    def _steps(self, edges: Floats, values: Floats) -> CalibrationMap:
        jumps = np.flatnonzero(values[1:] != values[:-1])
        return self._as_map(Step(edges[jumps], np.append(values[jumps], values[-1])))

    def predict_interval(self, scores: ArrayLike) -> tuple[Floats, Floats]:
        """The pair p0 ≤ p1 of each score.

        This is a multiprobability, not an interval of some confidence, and so it has no level: it narrows to a
        point as rows are added, faster than the error of the map does. On the task of the Bayes-Iso paper it covers
        the true probability at 53 % of scores with 100 rows and at 13 % with 30000. For an interval that covers,
        use `BayesIso`.
        """
        self._fitted_map()
        return self.lower_map_.predict(scores), self.upper_map_.predict(scores)
