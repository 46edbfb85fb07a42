"""What every calibrator of a whole score matrix does: read a column for each class, and keep a frozen map."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats, Ints, RandomState
from calibrant._validation import as_numpy, read_matrix
from calibrant.calibrators.base import Estimator
from calibrant.maps.matrix import MatrixMap, MatrixMember
from calibrant.metrics.samples import fill_weights

__all__ = ["BayesianMatrixCalibrator", "MatrixCalibrator"]

INTERVAL_DRAWS = 400


class MatrixCalibrator(Estimator):
    """Base of the calibrators of several classes. A method is a subclass with its facts and one function, `fit_map`.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are: class probabilities, or decision scores: logits, whose softmax they are.

    Attributes
    ----------
    map_ : MatrixMap
        After fitting: the frozen map.
    classes_ : ndarray
        The labels of the columns.

    Examples
    --------
    >>> from calibrant.multiclass.base import MatrixCalibrator
    >>> from calibrant.multiclass.scaling import VectorScaling
    >>> scores, y = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 4, [0, 1, 1] * 4
    >>> calibrator = VectorScaling().fit(scores, y)
    >>> isinstance(calibrator, MatrixCalibrator), calibrator.predict_proba(scores).shape
    (True, (12, 3))
    """

    shape: ClassVar[str] = "matrix"

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
        self._check_labels_given(y)
        matrix = read_matrix(scores, self.space)
        labels, classes = _validation.encode_classes(as_numpy(y), matrix.shape[1])
        _validation.check_same_length(len(matrix), len(labels), "y")
        weights = fill_weights(as_numpy(sample_weight), len(matrix))
        if not weights.all():
            matrix, labels, weights = matrix[weights > 0.0], labels[weights > 0.0], weights[weights > 0.0]
        self.classes_, self.n_features_in_ = classes, matrix.shape[1]
        self.map_ = self.fit_map(matrix, labels, weights)
        return self

    @abstractmethod
    def fit_map(self, scores: np.ndarray[Any, Any], labels: Ints, weights: Floats) -> MatrixMap:
        """Fit checked rows whose labels are column numbers, and return the map."""


class BayesianMatrixCalibrator(MatrixCalibrator):
    """A calibrator of several classes with a posterior over maps.

    Examples
    --------
    >>> from calibrant.multiclass.scaling import VectorScaling
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
        count, rng = _validation.check_count("n_draws", n_draws), _validation.generator(random_state)
        return self._with_draws(count, rng).sample_maps(scores, count, rng)

    def predict_interval(self, scores: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the central credible interval of each class probability, (n, K) each."""
        return self.frozen_map().predict_interval(scores, level)

    def frozen_map(self) -> MatrixMap:
        return self._with_draws(INTERVAL_DRAWS, _validation.generator(0))

    def _with_draws(self, n_draws: int, rng: np.random.Generator) -> MatrixMap:
        map_: MatrixMap = self._fitted_map()
        return replace(map_, draws=tuple(self.draw_members(n_draws, rng)))
