"""Dirichlet calibration: a linear map of the logarithms of the class probabilities."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from calibrant import _validation
from calibrant.multiclass.laplace import ScalePrior
from calibrant.multiclass.posterior import MultinomialCalibrator

REGULARISATIONS = ("learned", "odir")
FREE = 10.0  # a scale so wide that the coefficient is free, unless its class has no rows at all


class DirichletCalibration(MultinomialCalibrator):
    """``softmax(W log p + b)``: the map that is right when the scores of each class are Dirichlet distributed.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are; of logits the log-softmax is taken.
    regularisation : {"learned", "odir"}
        "learned": the entries of W − I and of b are Gaussian around zero, each kind with a scale that the data set,
        and predictions average over the posterior. "odir": the published penalty
        ``off_diagonal · mean of squared off-diagonal entries + intercept · mean of squared intercepts``, added to the
        mean log-loss, and the minimum of the sum.
    off_diagonal, intercept : float
        The strengths of "odir", positive; 1e-9 is hardly any penalty.

    Examples
    --------
    >>> from calibrant.multiclass.dirichlet import DirichletCalibration
    >>> scores = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.5, 0.4]] * 40
    >>> calibrator = DirichletCalibration(regularisation="odir").fit(scores, [0, 1, 2] * 40)
    >>> calibrator.predict([[0.1, 0.5, 0.4]]).argmax(axis=1).tolist()
    [2]
    """

    name: ClassVar[str] = "dirichlet"
    title: ClassVar[str] = "Dirichlet calibration"
    description: ClassVar[str] = "a linear map of the log-probabilities of all classes"
    reference: ClassVar[str] = "Kull, Perello-Nieto, Kängsepp, Silva Filho, Song and Flach 2019"
    models: ClassVar[Mapping[str, tuple[str, ...]]] = {"matrix": ("bias", "vector", "matrix")}
    centers: ClassVar[Mapping[str, float]] = {"bias": 0.35, "vector": 0.5, "matrix": 0.25}

    def __init__(
        self,
        *,
        space: str = "probability",
        regularisation: str = "learned",
        off_diagonal: float = 1e-3,
        intercept: float = 1e-3,
    ) -> None:
        super().__init__(space=space)
        self.regularisation = regularisation
        self.off_diagonal = off_diagonal
        self.intercept = intercept

    def scale_prior(self, n_rows: float, n_classes: int) -> ScalePrior:
        _validation.check_choice("regularisation", self.regularisation, REGULARISATIONS)
        if self.regularisation == "learned":
            return ScalePrior(self.centers)
        off_diagonal = _validation.check_number("off_diagonal", self.off_diagonal, "positive")
        intercept = _validation.check_number("intercept", self.intercept, "positive")
        # θ²/(2σ²) = n λ θ² / (entries): the mean log-loss times the rows is the log-likelihood.
        off = np.sqrt(n_classes * (n_classes - 1) / (2.0 * n_rows * off_diagonal))
        bias = np.sqrt(n_classes / (2.0 * n_rows * intercept))
        return ScalePrior({"bias": float(bias), "vector": FREE, "matrix": float(off)}, strength=np.inf)

    def draws_for(self, entries: float) -> int:
        return 0 if self.regularisation == "odir" else super().draws_for(entries)
