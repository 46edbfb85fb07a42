"""Logits as they are, or scaled: by a temperature, by a weight for each class, or by a matrix."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from calibrant._numerics import links
from calibrant._numerics.temperature import fit_inverse_temperature
from calibrant._typing import Floats, Ints
from calibrant.maps.matrix import MatrixMap, MatrixMember, log_scores
from calibrant.multiclass.base import MatrixCalibrator
from calibrant.multiclass.feature_fit import BETA_LIMITS
from calibrant.multiclass.posterior import MultinomialCalibrator


class MatrixIdentity(MatrixCalibrator):
    """Leave class probabilities as they are; of logits, take the softmax.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are: class probabilities, or decision scores: logits.

    Examples
    --------
    >>> from calibrant.multiclass.scaling import MatrixIdentity
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
    >>> from calibrant.multiclass.scaling import MatrixTemperature
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
        inverse = fit_inverse_temperature(logits, labels, weights, *BETA_LIMITS)
        self.temperature_ = float(1.0 / inverse)
        classes, member = tuple(self.classes_.tolist()), MatrixMember(1.0)
        return MatrixMap(classes, self.space, inverse, (member,), floor=links.EPS, method=type(self).__name__)


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
    >>> from calibrant.multiclass.scaling import VectorScaling
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


class MatrixScaling(MultinomialCalibrator):
    """``softmax(W logits + b)`` with a full matrix.

    Published with maximum likelihood, which overfits unless rows are many. Here the diagonal, the rest of the matrix
    and the intercepts vary around temperature scaling, each with a scale that the data set, and predictions average
    over their posterior. The matrix has K² entries: more than some 50 classes take long.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are; of logits the log-softmax is taken, of probabilities the logarithm.

    Examples
    --------
    >>> from calibrant.multiclass.scaling import MatrixScaling
    >>> scores = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.5, 0.4]] * 40
    >>> calibrator = MatrixScaling().fit(scores, [0, 1, 2] * 40)
    >>> calibrator.predict([[0.1, 0.5, 0.4]]).argmax(axis=1).tolist()
    [2]
    """

    name: ClassVar[str] = "matrix_scaling"
    title: ClassVar[str] = "matrix scaling"
    description: ClassVar[str] = "a linear map of all logits, with learned shrinkage towards temperature scaling"
    reference: ClassVar[str] = "Guo, Pleiss, Sun and Weinberger 2017"
    models: ClassVar[Mapping[str, tuple[str, ...]]] = {"matrix": ("slope", "bias", "vector", "matrix")}
    centers: ClassVar[Mapping[str, float]] = {"slope": 0.5, "bias": 0.35, "vector": 0.3, "matrix": 0.25}
