"""Matrix scaling: logits become linear combinations of all logits, shrunk towards temperature scaling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from calibrant.multiclass.posterior import MultinomialCalibrator

__all__ = ["MatrixScaling"]


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
    >>> from calibrant.multiclass.matrix_scaling import MatrixScaling
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
    tempered: ClassVar[bool] = False
    standardised: ClassVar[bool] = False
