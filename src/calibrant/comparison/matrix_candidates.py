"""The methods of a comparison of several classes: calibrators of the matrix, and views of it as binary problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from calibrant._numerics.softmax import softmax
from calibrant._typing import ArrayLike, Floats
from calibrant._validation import as_floats, check_choice, check_weights
from calibrant.calibrators import registry
from calibrant.classifier.views import ClassScores, OneVsRest, TopLabel, View
from calibrant.comparison.candidates import RAW
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import number_repeated
from calibrant.multiclass.base import MatrixCalibrator
from calibrant.multiclass.blend import MatrixBlend
from calibrant.multiclass.dirichlet import DirichletCalibration
from calibrant.multiclass.matrix_scaling import MatrixScaling
from calibrant.multiclass.temperature import MatrixTemperature
from calibrant.multiclass.vector_scaling import VectorScaling

__all__ = [
    "MATRIX_CALIBRATORS",
    "MATRIX_DEFAULT",
    "MatrixMethods",
    "MatrixView",
    "RawMatrix",
    "default_methods",
    "name_matrix_candidates",
]

#: The method that is taken for several classes where none is named.
MATRIX_DEFAULT = MatrixBlend.name
WHOLE_MATRIX_UP_TO = 30  # classes for which methods with K² coefficients are tried unasked
#: The methods whose fit is one map of the whole matrix, which can be saved.
MATRIX_CALIBRATORS: dict[str, type[MatrixCalibrator]] = {
    cls.name: cls for cls in (MatrixTemperature, MatrixBlend, VectorScaling, MatrixScaling, DirichletCalibration)
}
VIEWS: dict[str, type[View]] = {"one_vs_rest": OneVsRest, "top_label": TopLabel}

MatrixMethods: TypeAlias = Iterable[str | Any] | Mapping[str, Any]


class RawMatrix(BaseEstimator):  # type: ignore[misc]
    """The scores as they are; of logits the softmax.

    Examples
    --------
    >>> from calibrant.comparison.matrix_candidates import RawMatrix
    >>> RawMatrix(space="logits").predict_proba([[0.0, 0.0]]).tolist()
    [[0.5, 0.5]]
    """

    title: ClassVar[str] = "raw probabilities"

    def __init__(self, *, space: str = "probability") -> None:
        self.space = space

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Learn nothing."""
        self.n_features_in_ = as_floats(scores, "scores").shape[1]
        return self

    def predict_proba(self, scores: ArrayLike) -> Floats:
        """Probabilities of all classes, (n, K)."""
        return _probabilities(scores, self.space)


class MatrixView(BaseEstimator):  # type: ignore[misc]
    """A binary method for each class against the rest, normalised, or for the predicted class alone.

    Parameters
    ----------
    view : {"one_vs_rest", "top_label"}
        Which.
    method : str
        The name of the binary method.
    space : {"probability", "logits"}
        What the scores are.

    Examples
    --------
    >>> from calibrant.comparison.matrix_candidates import MatrixView
    >>> scores, y = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 9, [0, 1, 2] * 9
    >>> MatrixView("one_vs_rest", "beta").fit(scores, y).predict_proba(scores).shape
    (27, 3)
    """

    def __init__(self, view: str = "one_vs_rest", method: str = "blend", *, space: str = "probability") -> None:
        self.view = view
        self.method = method
        self.space = space

    @property
    def title(self) -> str:
        """The method in words."""
        return f"{self.method}, {'each class against the rest' if self.view == 'one_vs_rest' else 'top label'}"

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit column numbers `y`."""
        check_choice("view", self.view, list(VIEWS))
        matrix = self._scores(scores)
        weights = check_weights(sample_weight, len(matrix.values))
        self.n_features_in_ = matrix.values.shape[1]
        self.view_ = VIEWS[self.view].fit(registry.create(self.method), matrix, np.asarray(y), weights)
        return self

    def predict_proba(self, scores: ArrayLike) -> Floats:
        """Probabilities of all classes, (n, K)."""
        return self.view_.predict_proba(self._scores(scores))

    def _scores(self, scores: ArrayLike) -> ClassScores:
        matrix = np.minimum(_probabilities(scores, self.space), 1.0)
        return ClassScores(matrix, np.ones(matrix.shape[1], dtype=bool))


def _probabilities(scores: ArrayLike, space: str) -> Floats:
    matrix = as_floats(scores, "scores")
    return softmax(matrix) if space == "logits" else matrix


def _create(name: str, space: str) -> MatrixCalibrator:
    return MATRIX_CALIBRATORS[name](space=space)


MAKERS: dict[str, Callable[[str], Any]] = {
    RAW: lambda space: RawMatrix(space=space),
    **{name: partial(_create, name) for name in MATRIX_CALIBRATORS},
    "one_vs_rest": lambda space: MatrixView("one_vs_rest", registry.DEFAULT_METHOD, space=space),
    "top_label": lambda space: MatrixView("top_label", registry.DEFAULT_METHOD, space=space),
}


def name_matrix_candidates(methods: MatrixMethods | str | None, n_classes: int, space: str) -> dict[str, Any]:
    """The methods by name, the raw probabilities first; objects are named by their method or else by their class."""
    if isinstance(methods, Mapping):
        named = {str(name): one for name, one in methods.items()}
    else:
        given = [methods] if isinstance(methods, str) else list(methods or default_methods(n_classes))
        names = number_repeated(one if isinstance(one, str) else _name_of(one) for one in given)
        made = [
            MAKERS[check_choice("methods", one, list(MAKERS))](space) if isinstance(one, str) else one for one in given
        ]
        named = dict(zip(names, made, strict=True))
    return {RAW: named.pop(RAW, None) or RawMatrix(space=space)} | named


def default_methods(n_classes: int) -> list[str]:
    """The methods that are compared where none are named."""
    slow = (MatrixScaling.name, DirichletCalibration.name)
    return [name for name in MAKERS if n_classes <= WHOLE_MATRIX_UP_TO or name not in slow]


def _name_of(method: Any) -> str:
    if not (hasattr(method, "fit") and hasattr(method, "predict_proba")):
        raise InvalidInputError(
            f"`methods` must be names of methods or calibrators of several classes; got {method!r}."
        )
    if isinstance(method, MatrixView):
        return method.view
    return method.name if isinstance(method, MatrixCalibrator) else type(method).__name__
