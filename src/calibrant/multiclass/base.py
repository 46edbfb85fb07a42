"""What every calibrator of a whole score matrix is: a scikit-learn estimator that keeps a frozen map."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from calibrant import _validation
from calibrant._numerics.softmax import softmax
from calibrant._typing import ArrayLike, Floats, Ints, RandomState
from calibrant._validation.arrays import as_numpy, read_matrix
from calibrant.errors import InvalidInputError, NotFittedError
from calibrant.maps.matrix import MatrixMap, MatrixMember

__all__ = ["BayesianMatrixCalibrator", "MatrixCalibrator"]

INTERVAL_DRAWS = 400
INTERVAL_ENTRIES = 20_000_000  # draws × rows × classes held at once


class MatrixCalibrator(BaseEstimator):
    """Base of the calibrators of several classes. A method is a subclass with its facts and one function, `fit_map`.

    Parameters
    ----------
    space : {"probability", "logits"}
        What the scores are: class probabilities, or logits whose softmax they are.

    Attributes
    ----------
    map_ : MatrixMap
        After fitting: the frozen map.
    classes_ : ndarray
        The labels of the columns.

    Examples
    --------
    >>> from calibrant.multiclass.base import MatrixCalibrator
    >>> from calibrant.multiclass.vector_scaling import VectorScaling
    >>> scores, y = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 4, [0, 1, 1] * 4
    >>> calibrator = VectorScaling().fit(scores, y)
    >>> isinstance(calibrator, MatrixCalibrator), calibrator.predict_proba(scores).shape
    (True, (12, 3))
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    description: ClassVar[str] = ""
    reference: ClassVar[str] = ""
    takes_matrix: ClassVar[bool] = True
    bayesian: ClassVar[bool] = False

    def __init__(self, *, space: str = "probability") -> None:
        self.space = space

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the map from an (n, K) matrix and labels.

        Parameters
        ----------
        scores : array-like of shape (n, K)
            A column for each class; arrays of torch, JAX and CuPy are read, too.
        y : array-like of shape (n,)
            Labels; the columns are the sorted labels, or 0 … K−1 where some classes have no rows.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; weight 2 counts like the row twice.

        Returns
        -------
        self
        """
        if y is None:
            raise InvalidInputError(f"{type(self).__name__}.fit requires y to be passed, but the target y is None.")
        matrix = read_matrix(scores, self.space)
        labels, classes = _validation.encode_classes(as_numpy(y), matrix.shape[1])
        _validation.check_same_length(len(matrix), len(labels), "y")
        weights = _validation.check_weights(as_numpy(sample_weight), len(matrix))
        if weights is None:
            weights = np.ones(len(matrix))
        elif not weights.all():
            matrix, labels, weights = matrix[weights > 0.0], labels[weights > 0.0], weights[weights > 0.0]
        self.classes_, self.n_features_in_ = classes, matrix.shape[1]
        self.map_ = self.fit_map(matrix, labels, weights)
        return self

    @abstractmethod
    def fit_map(self, scores: np.ndarray[Any, Any], labels: Ints, weights: Floats) -> MatrixMap:
        """Fit checked rows whose labels are column numbers, and return the map."""

    def predict_proba(self, scores: ArrayLike) -> Floats:
        """Probabilities of all classes, (n, K)."""
        return self._fitted_map()(scores)

    def predict(self, scores: ArrayLike) -> np.ndarray[Any, Any]:
        """The label with the largest calibrated probability, (n,)."""
        out: np.ndarray[Any, Any] = self.classes_[self.predict_proba(scores).argmax(axis=1)]
        return out

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted map as JSON; `MatrixMap.load` reads it."""
        self._fitted_map().save(path)

    def _fitted_map(self) -> MatrixMap:
        if not hasattr(self, "map_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call `fit` before using it.")
        return self.map_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "map_")


class BayesianMatrixCalibrator(MatrixCalibrator):
    """A calibrator of several classes with a posterior over maps.

    Examples
    --------
    >>> from calibrant.multiclass.vector_scaling import VectorScaling
    >>> scores, y = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 4, [0, 1, 1] * 4
    >>> calibrator = VectorScaling().fit(scores, y)
    >>> low, high = calibrator.predict_interval(scores[:2], level=0.9)
    >>> low.shape, calibrator.sample_maps(scores[:2], n_draws=7).shape
    ((2, 3), (7, 2, 3))
    """

    bayesian: ClassVar[bool] = True

    @abstractmethod
    def draw_members(self, n_draws: int, rng: np.random.Generator) -> list[MatrixMember]:
        """Formulas drawn from the posterior, for the columns of the map."""

    def sample_maps(self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of the whole map from its posterior, evaluated at `scores`, (n_draws, n, K)."""
        map_ = self._fitted_map()
        count, rng = _validation.check_count("n_draws", n_draws), _validation.generator(random_state)
        ell = map_.tempered(map_.check(scores))
        return np.array([softmax(member.logits(map_, ell)) for member in self.draw_members(count, rng)])

    def predict_interval(self, scores: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the central credible interval of each class probability, (n, K) each."""
        tail = 0.5 * (1.0 - _validation.check_level(level))
        map_ = self._fitted_map()
        matrix = map_.check(scores)
        low, high = np.empty(matrix.shape), np.empty(matrix.shape)
        step = max(1, INTERVAL_ENTRIES // (INTERVAL_DRAWS * matrix.shape[1]))
        members = self.draw_members(INTERVAL_DRAWS, _validation.generator(0))
        for start in range(0, len(matrix), step):
            rows = slice(start, start + step)
            ell = map_.tempered(matrix[rows])
            draws = np.array([softmax(member.logits(map_, ell)) for member in members])
            low[rows], high[rows] = np.quantile(draws, [tail, 1.0 - tail], axis=0)
        predicted = map_(scores)
        return np.minimum(low, predicted), np.maximum(high, predicted)
