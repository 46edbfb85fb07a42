"""The baseline of several classes: class probabilities, or the softmax of logits, as they are."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats, Ints
from calibrant.maps.matrix import MatrixMap, MatrixMember
from calibrant.multiclass.base import MatrixCalibrator

__all__ = ["MatrixIdentity"]


class MatrixIdentity(MatrixCalibrator):
    """Leave class probabilities as they are; of logits, take the softmax.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are: class probabilities, or decision scores: logits.

    Examples
    --------
    >>> from calibrant.multiclass.identity import MatrixIdentity
    >>> scores = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    >>> MatrixIdentity().fit(scores, [0, 1, 2]).predict(scores[:1]).round(3).tolist()
    [[0.8, 0.1, 0.1]]
    """

    name: ClassVar[str] = "identity"
    title: ClassVar[str] = "do nothing"
    description: ClassVar[str] = "nothing: the baseline that every method must beat"
    reference: ClassVar[str] = "the raw score"

    def fit_map(self, scores: np.ndarray[Any, Any], labels: Ints, weights: Floats) -> MatrixMap:  # noqa: ARG002
        classes = tuple(self.classes_.tolist())
        return MatrixMap(classes, self.space, 1.0, (MatrixMember(1.0),), floor=links.EPS, method=type(self).__name__)
