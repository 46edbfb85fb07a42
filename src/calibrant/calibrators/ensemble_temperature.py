"""Ensemble temperature scaling: the tempered score, the score and a coin, mixed."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from calibrant._kernels import links, simplex
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.isotonic import IsotonicCalibration
from calibrant.calibrators.temperature import TemperatureScaling
from calibrant.errors import InvalidInputError
from calibrant.map_functions import Chain, Identity, MapFunction, Mixture, Step
from calibrant.maps import CalibrationMap
from calibrant.tally import Tally

__all__ = ["EnsembleTemperatureScaling"]

COMPOSED = (None, "isotonic")
WEIGHT_CELLS = 4096  # so many cells decide two numbers as well as all rows do


class EnsembleTemperatureScaling(Calibrator):
    """w₁ · expit(logit(s) / T) + w₂ · s + w₃ · ½, with the T and then the weights of maximum likelihood.

    The weights are non-negative and sum to one (Mix-n-Match, eq. 8). The first part corrects over- or
    under-confidence, the other two hold on to the score and to caution. The map never decreases.

    Parameters
    ----------
    composed : None or "isotonic"
        Run isotonic regression on the result, as Mix-n-Match composes a parametric and a non-parametric step
        (section 4.3): accurate on large samples, with the ensemble's order between equal values.

    Attributes
    ----------
    temperature_ : float
        T, fitted alone.
    weights_ : ndarray of shape (3,)
        Of the tempered score, the score and ½.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import EnsembleTemperatureScaling
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(20000)
    >>> y = rng.random(20000) < 0.8 * scores + 0.1  # the score with probability .8, a coin otherwise
    >>> EnsembleTemperatureScaling().fit(scores, y).predict([0.0, 0.5, 1.0]).round(1).tolist()
    [0.1, 0.5, 0.9]
    """

    space = "probability"
    monotone = True
    reference: ClassVar[str] = "Zhang, Kailkhura and Han 2020 (Mix-n-Match)"

    def __init__(self, *, composed: str | None = None) -> None:
        self.composed = composed

    def fit_map(self, tally: Tally) -> CalibrationMap:
        if self.composed not in COMPOSED:
            raise InvalidInputError(f"`composed` must be None or 'isotonic'; got {self.composed!r}.")
        tempered = TemperatureScaling().fit_tally(tally)
        self.temperature_ = tempered.temperature_
        parts = (tempered.map_.function, Identity(), Step(np.empty(0), np.array([0.5])))
        cells = tally.coarsen(WEIGHT_CELLS)
        table = links.clip(np.array([part(cells.scores) for part in parts]))
        self.weights_ = simplex.mixture_weights(table, cells.positives, cells.totals)
        function: MapFunction = Mixture(self.weights_, parts)
        if self.composed == "isotonic":
            after = IsotonicCalibration().fit_tally(tally.rescored(function(tally.scores)))
            function = Chain((function, after.map_.function))
        return CalibrationMap(function, self.space, self.monotone, type(self).__name__)
