"""Temperature scaling of a whole matrix, as a map that can be saved."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats, Ints
from calibrant.calibrators.temperature import LOG_BOUND
from calibrant.maps.matrix import MatrixMap, MatrixMember, log_scores
from calibrant.multiclass.base import MatrixCalibrator

__all__ = ["MatrixTemperature"]


class MatrixTemperature(MatrixCalibrator):
    """``softmax(logits / T)`` with the T of maximum likelihood, for two classes or more, a column for each.

    `TemperatureScaling` hands matrices to this class.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are: class probabilities, whose logarithms are scaled, or logits.

    Attributes
    ----------
    temperature_ : float
        T, within exp(−10) … exp(10). Above 1 the scores were too sure of themselves.

    Examples
    --------
    >>> from calibrant.multiclass.temperature import MatrixTemperature
    >>> scores, y = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]] * 10, [0, 1, 2] * 9 + [1, 2, 0]
    >>> round(MatrixTemperature().fit(scores, y).temperature_, 3)
    0.719
    """

    name: ClassVar[str] = "temperature"
    title: ClassVar[str] = "temperature scaling"
    description: ClassVar[str] = "one temperature for all classes"
    reference: ClassVar[str] = "Guo, Pleiss, Sun and Weinberger 2017"

    def fit_map(self, scores: np.ndarray[Any, Any], labels: Ints, weights: Floats) -> MatrixMap:
        logits = log_scores(scores, self.space, links.EPS)
        bounds = float(np.exp(-LOG_BOUND)), float(np.exp(LOG_BOUND))
        inverse = links.fit_inverse_temperature(logits, labels, weights, *bounds)
        self.temperature_ = float(1.0 / inverse)
        classes, member = tuple(self.classes_.tolist()), MatrixMember(1.0)
        return MatrixMap(classes, self.space, inverse, (member,), floor=links.EPS, method=type(self).__name__)
