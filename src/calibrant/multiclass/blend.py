"""Matrix blend: Bayesian corrections of a whole probability matrix, averaged by how they can be expected to predict."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from calibrant._numerics.links import log_softmax
from calibrant._typing import Floats, Ints
from calibrant.maps.matrix import MatrixMap, chunks, log_scores
from calibrant.metrics.verdict import Verdict
from calibrant.multiclass.features import JOINT_UP_TO
from calibrant.multiclass.posterior import MultinomialCalibrator

MATRIX_UP_TO = 30  # classes with a matrix of their logarithms
CONFUSION_UP_TO = 20  # classes with a matrix of their probabilities, too
CURVES_UP_TO = 250  # classes with a curve of their own
DESCRIPTIONS = {
    "temperature": "a temperature",
    "curve": "a temperature with a curve",
    "bias": "class frequencies",
    "vector": "a slope and a curve for each class",
    "matrix": "a matrix between classes",
    "full": "curves and matrices together",
    "joint": "a smooth function of all classes together",
}
NOUNS = {
    "slope": "temperature",
    "curve": "common curve",
    "gate": "temperature by confidence",
    "bias": "class biases",
    "vector": "class slopes",
    "class_curve": "class curves",
    "matrix": "matrix",
    "confusion": "matrix of probabilities",
    "joint": "function of all classes",
}
_VECTOR = ("slope", "curve", "gate", "bias", "vector", "class_curve")
_FULL = (*_VECTOR, "matrix", "confusion")


class MatrixBlend(MultinomialCalibrator):
    """The method for several classes: corrections of the whole probability matrix, as many as the data can carry.

    It starts from temperature scaling and adds, model by model, one curve for all classes, class frequencies, a slope
    and a curve for each class, matrices between classes and, up to thirty classes, a smooth function of all of them
    together. Every kind of correction has Gaussian coefficients around zero whose typical size the data set, so few
    rows mean a temperature and many let it follow any of these shapes. The models are weighed by the fit that new rows
    can be expected to have, and predictions average over their posteriors.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are: class probabilities, or logits whose softmax they are.

    Attributes
    ----------
    map_ : MatrixMap
        The frozen map.
    classes_ : ndarray
        The labels of the columns.
    weights_ : dict of str to float
        The weight of each model: "temperature", "curve", "bias", "vector", "matrix", "full", "joint".
    scales_ : dict of str to float
        The learned size of each kind of correction in the model with the largest weight, in nats of the logit.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.multiclass.blend import MatrixBlend
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.dirichlet([0.5, 0.5, 0.5], size=1000)
    >>> y = np.array([rng.choice(3, p=p) for p in truth])
    >>> scores = truth**2 / (truth**2).sum(axis=1, keepdims=True)  # too sure of themselves
    >>> blend = MatrixBlend().fit(scores, y)
    >>> bool(np.abs(blend.predict_proba(scores) - truth).mean() < 0.02)
    True
    >>> low, high = blend.predict_interval(scores[:1], level=0.9)
    >>> low.shape
    (1, 3)
    """

    name: ClassVar[str] = "blend"
    title: ClassVar[str] = "matrix blend"
    description: ClassVar[str] = "temperature, curves, biases and matrices for several classes, by expected fit"
    reference: ClassVar[str] = "this library"
    models: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "temperature": ("slope",),
        "curve": ("slope", "curve"),
        "bias": ("slope", "curve", "bias"),
        "vector": _VECTOR,
        "matrix": ("slope", "bias", "vector", "matrix"),
        "full": _FULL,
        "joint": (*_FULL, "joint"),
    }
    centers: ClassVar[Mapping[str, float]] = {
        "slope": 0.5,
        "curve": 0.7,
        "gate": 0.3,
        "bias": 0.35,
        "vector": 0.3,
        "class_curve": 0.35,
        "matrix": 0.25,
        "confusion": 0.3,
        "joint": 1.0,
    }
    adapted: ClassVar[bool] = True
    lapses: ClassVar[float] = 0.2

    def fit_map(self, scores: np.ndarray[Any, Any], labels: Ints, weights: Floats) -> MatrixMap:
        map_ = super().fit_map(scores, labels, weights)
        raw, rows = 0.0, float(weights.sum())
        for part in chunks(scores):  # of the scores as they are, an exact zero read as the map reads it
            log_p = log_softmax(log_scores(scores[part], self.space, map_.floor))
            raw += float(weights[part] @ log_p[np.arange(len(log_p)), labels[part]])
        self._verdict = Verdict(
            n_rows=rows,
            base_rate=float(np.bincount(labels, weights).max() / rows),
            p_value=None,
            shape="matrix",
            log_odds=self._evidence - raw,
        )
        return map_

    def models_for(self, n_classes: int) -> dict[str, tuple[str, ...]]:
        limits = {"confusion": CONFUSION_UP_TO, "class_curve": CURVES_UP_TO}
        return {
            name: tuple(b for b in blocks if n_classes <= limits.get(b, n_classes))
            for name, blocks in self.models.items()
            if n_classes <= (JOINT_UP_TO if "joint" in blocks else MATRIX_UP_TO if "matrix" in blocks else n_classes)
        }

    def summary(self) -> str:
        """Say in a few lines whether calibration was needed and which corrections carry it."""
        map_ = self._fitted_map()
        ranked = sorted(self.weights_.items(), key=lambda item: -item[1])
        shape = ", ".join(f"{DESCRIPTIONS[name]} {100 * weight:.0f} %" for name, weight in ranked if weight >= 0.005)
        sizes = ", ".join(f"{NOUNS[block]} {scale:.2f}" for block, scale in self.scales_.items())
        verdict = self._verdict
        needed = "Calibration was needed" if verdict.calibrate else "The data do not show that calibration was needed"
        return (
            f"{needed}: {verdict.change} than with the raw scores.\n"
            f"Its temperature is {1.0 / map_.inverse_temperature:.3g}; its shape: {shape}.\n"
            f"Typical sizes of the corrections, in nats of the logit: {sizes}."
        )
