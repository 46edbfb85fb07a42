"""Temperature scaling: one number that makes every logit larger or smaller."""

import numpy as np

from calibrant._numerics import links
from calibrant.calibrators.base import Calibrator
from calibrant.maps.functions import Sigmoid
from calibrant.tally import Tally

LOG_BOUND = 10.0  # of |ln T|, as in scikit-learn


class TemperatureScaling(Calibrator):
    """``expit(logit / T)`` of two classes, ``softmax(logits / T)`` of more, with the T of maximum likelihood.

    A matrix of three or more columns, one for each class in sorted order, is fitted as a whole. Neither the ranking
    of two-class scores nor the most likely class ever changes.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are: probabilities, whose logits (for more classes, logarithms) are scaled; or logits.

    Attributes
    ----------
    temperature_ : float
        T, within exp(−10) … exp(10). Above 1 the scores were too sure of themselves.

    Examples
    --------
    >>> from calibrant import TemperatureScaling
    >>> calibrator = TemperatureScaling().fit([0.1, 0.1, 0.9, 0.9, 0.9], [0, 1, 0, 1, 1])
    >>> round(calibrator.temperature_, 3)
    5.419
    >>> calibrator.predict([0.9]).round(3).tolist()
    [0.6]
    """

    name = "temperature"
    title = "temperature scaling"
    description = "one temperature, binary or for any number of classes"
    reference = "Guo, Pleiss, Sun and Weinberger 2017"
    space: str = "probability"
    monotone = True

    def __init__(self, *, space: str = "probability") -> None:
        self.space = space

    def fit_map(self, tally: Tally) -> Sigmoid:
        from calibrant._numerics import logistic

        on_logits = self.space == "probability"
        z = links.logit(tally.scores) if on_logits else tally.scores
        scale = max(float(np.abs(z[[0, -1]]).max()), logistic.SMALLEST_SCALE) if z.any() else 1.0
        features = (z / scale)[:, None]
        # The prior mean is for scores of ½ only, which say nothing about T: it stays 1.
        found = logistic.fit_logistic(features, tally.positives, tally.totals, prior_mean=1.0).coefficients[0]
        # The loss is convex in 1/T, so the best within the bounds is the best of all, moved to the nearest bound.
        inverse = float(np.clip(found / scale, np.exp(-LOG_BOUND), np.exp(LOG_BOUND)))
        self.temperature_ = 1.0 / inverse
        return Sigmoid(inverse, 0.0, "logit" if on_logits else "identity")
