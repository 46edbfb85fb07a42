"""Ensemble temperature scaling: the tempered score, the score and a coin, mixed."""

import numpy as np

from calibrant import _limits, _validation
from calibrant._numerics import linear_pool, links
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.isotonic import IsotonicCalibration
from calibrant.calibrators.temperature import TemperatureScaling
from calibrant.maps.functions import Chain, Identity, MapFunction, Step
from calibrant.maps.tabulate import mix, tabulate_logits
from calibrant.tally import Tally

COMPOSED = (None, "isotonic")
PRIOR_ROWS = 1e-6  # of each part, so that the best weights are positive; it moves none by more than it is worth
TABLE_TOLERANCE = 1e-6


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

    Notes
    -----
    The fitted map is a table of straight pieces on the logit scale within 1e-6 of the formula.

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

    name = "ets"
    title = "ensemble temperature scaling"
    description = "Mix-n-Match: temperature, identity and uniform mixed; isotonic variant"
    reference = "Zhang, Kailkhura and Han 2020 (Mix-n-Match)"
    space = "probability"
    monotone = True

    def __init__(self, *, composed: str | None = None) -> None:
        self.composed = composed

    def fit_map(self, tally: Tally) -> MapFunction:
        _validation.check_choice("composed", self.composed, COMPOSED)
        tempered = TemperatureScaling().fit_tally(tally)
        self.temperature_ = tempered.temperature_
        parts = (tempered.map_.function, Identity(), Step(np.empty(0), np.array([0.5])))
        cells = tally.coarsen(_limits.WEIGHT_CELLS)
        p = links.clip(np.column_stack([part(cells.scores) for part in parts]))
        outcomes, rows = np.concatenate((p, 1.0 - p)), np.concatenate((cells.positives, cells.negatives))
        self.weights_ = linear_pool.pool_weights(outcomes, rows, np.full(len(parts), PRIOR_ROWS))
        mixture = tabulate_logits(mix(self.weights_, parts), tolerance=TABLE_TOLERANCE)
        if self.composed is None:
            return mixture
        after = IsotonicCalibration().fit_tally(tally.rescored(mixture(tally.scores)))
        return Chain((mixture, after.map_.function))
