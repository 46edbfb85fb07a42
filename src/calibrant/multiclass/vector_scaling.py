"""Vector scaling: a slope and an intercept for the logit of each class, shrunk towards temperature scaling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from calibrant.multiclass.posterior import MultinomialCalibrator

__all__ = ["VectorScaling"]


class VectorScaling(MultinomialCalibrator):
    """``softmax(w · logits + b)`` with a weight and an intercept for each class.

    Published with maximum likelihood, which needs many rows of every class. Here the weights and the intercepts vary
    around temperature scaling with scales that the data set, and predictions average over their posterior.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are; of logits the log-softmax is taken, of probabilities the logarithm.

    Examples
    --------
    >>> from calibrant.multiclass.vector_scaling import VectorScaling
    >>> scores = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.5, 0.4]] * 40
    >>> calibrator = VectorScaling().fit(scores, [0, 1, 2] * 40)
    >>> calibrator.predict([[0.1, 0.5, 0.4]]).argmax(axis=1).tolist()
    [2]
    """

    name: ClassVar[str] = "vector_scaling"
    title: ClassVar[str] = "vector scaling"
    description: ClassVar[str] = "a slope and an intercept for the logit of each class, with learned shrinkage"
    reference: ClassVar[str] = "Guo, Pleiss, Sun and Weinberger 2017"
    models: ClassVar[Mapping[str, tuple[str, ...]]] = {"vector": ("slope", "bias", "vector")}
    centers: ClassVar[Mapping[str, float]] = {"slope": 0.5, "bias": 0.35, "vector": 0.3}
    tempered: ClassVar[bool] = False
    standardised: ClassVar[bool] = False
