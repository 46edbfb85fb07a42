"""Platt scaling: a logistic curve, fitted by maximum likelihood to corrected targets."""

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.calibrators.base import Calibrator
from calibrant.maps.functions import Chain, Linear, Sigmoid
from calibrant.maps.score import CalibrationMap
from calibrant.tally import Tally


class PlattScaling(Calibrator):
    """The logistic curve ``expit(slope · t + intercept)``.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are. Of probabilities, t is the logit, so that the identity is one of the curves (slope 1,
        intercept 0); of decision scores, such as a margin, t is the score itself.
    target_correction : bool
        Replace the labels 0 and 1 by Platt's corrected targets, as scikit-learn does. Without it this is plain
        logistic regression.

    Attributes
    ----------
    slope_, intercept_ : float
        The curve. A negative slope says that higher scores mean fewer positives; it is kept, not hidden.

    Notes
    -----
    Probabilities of exactly 0 and 1, of which forests give many, have no logit. They are moved halfway to the nearest
    other score of the fit, and so is what lies beyond when the map is used.

    Examples
    --------
    >>> from calibrant import PlattScaling
    >>> calibrator = PlattScaling(space="decision").fit([-2.0, -1.0, 1.0, 2.0], [0, 1, 0, 1])
    >>> calibrator.predict([-2.0, 0.0, 2.0]).round(3).tolist()
    [0.4, 0.5, 0.6]
    """

    name = "platt"
    title = "Platt scaling"
    description = "logistic curve, on logits or on decision scores, with Platt's target correction"
    reference = "Platt 1999"
    space: str = "probability"

    def __init__(self, *, space: str = "probability", target_correction: bool = True) -> None:
        self.space = space
        self.target_correction = target_correction

    def fit_map(self, tally: Tally) -> CalibrationMap:
        from calibrant._numerics import logistic

        on_logits = self.space == "probability"
        clamp = _clamp(tally.scores) if on_logits else None
        scores = tally.scores if clamp is None else clamp(tally.scores)
        t = links.logit(scores) if on_logits else scores
        positives = links.platt_targets(tally.positives, tally.totals) if self.target_correction else tally.positives
        centre, scale = logistic.standardise(t, tally.totals)
        features = np.stack(((t - centre) / scale, np.ones(len(t)))).T
        slope, height = logistic.fit_logistic(features, positives, tally.totals).coefficients
        self.slope_ = float(slope / scale)
        self.intercept_ = float(height - slope * (centre / scale))
        function = Sigmoid(self.slope_, self.intercept_, "logit" if on_logits else "identity")
        return self._as_map(function if clamp is None else Chain((clamp, function)), self.slope_ >= 0.0)


def _clamp(scores: Floats) -> Linear | None:
    """Moves 0 and 1 halfway to the nearest other score: a forest that says 0 means "below what I can count".

    As logits they would be ±36 and outweigh all other rows.
    """
    inside = scores[(scores > 0.0) & (scores < 1.0)]
    if len(inside) == len(scores) or len(inside) == 0:
        return None
    low = 0.5 * float(inside[0]) if scores[0] == 0.0 else 0.0
    high = 0.5 + 0.5 * float(inside[-1]) if scores[-1] == 1.0 else 1.0
    return Linear(np.array([low, high]), np.array([low, high]))
