"""ENIR: an ensemble of nearly-isotonic regressions, averaged by BIC."""

import numpy as np

from calibrant._numerics.links import platt_targets
from calibrant.calibrators.base import Calibrator
from calibrant.maps.functions import Linear
from calibrant.tally import Tally


class ENIR(Calibrator):
    """The average of all nearly-isotonic fits, which may fall a little where the data insist.

    Nearly-isotonic regression penalises falls of the map by a price λ instead of forbidding them. ENIR takes every
    model of the path from λ = 0 (excluded: it repeats the labels) to isotonic regression, and averages them with
    weights exp(−BIC/2), where BIC counts one parameter for each run of equal values.

    Parameters
    ----------
    target_correction : bool
        Replace the labels 0 and 1 by Platt's corrected targets, so that no probability is 0 or 1. The Bayes-Iso
        paper (section 3) finds that it helps in over 90 % of cases.

    Attributes
    ----------
    n_models_ : int
        How many models of the path have a weight that is not negligible.

    Notes
    -----
    The path costs O(m log m) for m distinct scores, and only models that can have weight are computed, so the
    ensemble is exact and needs no pruning rule. Between scores the map is linear, outside of their range constant.

    References
    ----------
    Naeini and Cooper 2016, "Binary classifier calibration using an ensemble of near isotonic regression models";
    Tibshirani, Hoefling and Tibshirani 2011, "Nearly-isotonic regression".

    Examples
    --------
    >>> from calibrant import ENIR
    >>> calibrator = ENIR(target_correction=False).fit([1, 2, 3, 4], [0, 1, 0, 1])
    >>> calibrator.predict([1, 2.5, 4]).round(3).tolist()
    [0.0, 0.5, 1.0]
    """

    name = "enir"
    title = "ENIR (near-isotonic)"
    description = "average over the nearly-isotonic path"
    reference = "Naeini and Cooper 2016"

    def __init__(self, *, target_correction: bool = True) -> None:
        self.target_correction = target_correction

    def fit_map(self, tally: Tally) -> Linear:
        from calibrant.calibrators.published import near_isotonic

        positives = tally.positives
        if self.target_correction:
            positives = platt_targets(positives, tally.totals)
        values, self.n_models_ = near_isotonic.average(positives / tally.totals, tally.totals)
        # Inside a run of equal values no point is needed.
        jump = values[1:] != values[:-1]
        needed = np.concatenate(([True], jump)) | np.concatenate((jump, [True]))
        return Linear(tally.scores[needed], values[needed])
