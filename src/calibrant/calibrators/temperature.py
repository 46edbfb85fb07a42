"""Temperature scaling: one number that makes every logit larger or smaller."""

from typing import Any, Self

import numpy as np

from calibrant import _validation
from calibrant._numerics import links, softmax
from calibrant._typing import ArrayLike, Floats
from calibrant.calibrators.base import Calibrator
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Sigmoid
from calibrant.maps.score import CalibrationMap
from calibrant.tally import Tally

SPACES = ("probability", "decision")
LOG_BOUND = 10.0  # of |ln T|, as in scikit-learn


class TemperatureScaling(Calibrator):
    """``expit(logit / T)`` of two classes, ``softmax(logits / T)`` of more, with the T of maximum likelihood.

    Scores of shape (n,), (n, 1) or (n, 2) are of two classes. A matrix of three or more columns, one for each
    class in sorted order, is fitted as a whole; then `predict_proba` gives a matrix of the same shape and there is
    no ``map_`` to save. Neither the ranking of two-class scores nor the most likely class ever changes.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are: probabilities, whose logits (for more classes, logarithms) are scaled; or logits.

    Attributes
    ----------
    temperature_ : float
        T, within exp(−10) … exp(10). Above 1 the scores were too sure of themselves.
    classes_ : ndarray
        The labels of the columns, when a matrix was fitted.

    Examples
    --------
    >>> from calibrant import TemperatureScaling
    >>> calibrator = TemperatureScaling().fit([0.1, 0.1, 0.9, 0.9, 0.9], [0, 1, 0, 1, 1])
    >>> round(calibrator.temperature_, 3)
    5.419
    >>> calibrator.predict([0.9]).round(3).tolist()
    [0.6]
    """

    name = "temperature"
    title = "temperature scaling"
    description = "one temperature, binary or for any number of classes"
    reference = "Guo, Pleiss, Sun and Weinberger 2017"
    space: str = "probability"
    monotone = True
    takes_matrix = True

    def __init__(self, *, space: str = "probability") -> None:
        self.space = space

    def fit(
        self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, pos_label: Any = None
    ) -> Self:
        """Learn the temperature from scores of two classes, or from an (n, K) matrix, and labels.

        Parameters
        ----------
        scores : array-like of shape (n,), (n, 1), (n, 2) or (n, K)
            Scores of the positive class, or a column for each class.
        y : array-like of shape (n,)
            Labels; the columns of a matrix are the sorted labels.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.
        pos_label : label, optional
            The positive one of two classes, where the labels do not tell; not for a matrix.

        Returns
        -------
        self
        """
        if not _validation.is_class_matrix(scores):
            return super().fit(scores, y, sample_weight, pos_label=pos_label)
        if pos_label is not None:
            raise InvalidInputError("`pos_label` is for scores of two classes; got a column for each of several.")
        _validation.check_choice("space", self.space, SPACES)
        matrix = _validation.check_class_matrix(scores, probabilities=self.space == "probability")
        labels, self.classes_ = _validation.encode_classes(y, matrix.shape[1])
        _validation.check_same_length(len(matrix), len(labels), "y")
        weights = _validation.check_weights(sample_weight, len(matrix))
        weights = np.ones(len(matrix)) if weights is None else weights
        low, high = np.exp(-LOG_BOUND), np.exp(LOG_BOUND)
        inverse = softmax.fit_inverse_temperature(self._logits(matrix), labels, weights, low, high)
        self.temperature_ = 1.0 / inverse
        self.n_features_in_ = matrix.shape[1]
        self.__dict__.pop("map_", None)
        return self

    def predict_proba(self, scores: ArrayLike) -> Floats:
        """Probabilities of all classes: (n, 2), or (n, K) after a matrix of K columns was fitted."""
        if not self._takes_columns():
            return super().predict_proba(scores)
        matrix = _validation.check_class_matrix(scores, probabilities=self.space == "probability")
        if matrix.shape[1] != self.n_features_in_:
            raise InvalidInputError(
                f"`scores` must have the {self.n_features_in_} columns of the fit; got {matrix.shape[1]}."
            )
        return softmax.softmax(self._logits(matrix) / self.temperature_)

    def fit_map(self, tally: Tally) -> Sigmoid:
        from calibrant._numerics import logistic

        _validation.check_choice("space", self.space, SPACES)
        on_logits = self.space == "probability"
        z = links.logit(tally.scores) if on_logits else tally.scores
        scale = max(float(np.abs(z[[0, -1]]).max()), logistic.SMALLEST_SCALE) if z.any() else 1.0
        features = (z / scale)[:, None]
        # The prior mean is for scores of ½ only, which say nothing about T: it stays 1.
        found = logistic.fit_logistic(features, tally.positives, tally.totals, prior_mean=1.0).coefficients[0]
        # The loss is convex in 1/T, so the best within the bounds is the best of all, moved to the nearest bound.
        inverse = float(np.clip(found / scale, np.exp(-LOG_BOUND), np.exp(LOG_BOUND)))
        self.temperature_ = 1.0 / inverse
        return Sigmoid(inverse, 0.0, "logit" if on_logits else "identity")

    def _logits(self, matrix: Floats) -> Floats:
        return np.log(links.clip(matrix)) if self.space == "probability" else matrix

    def _takes_columns(self) -> bool:
        """Whether it was fitted to a column for each of several classes, which no map describes."""
        return hasattr(self, "temperature_") and not hasattr(self, "map_")

    def _fitted_map(self) -> CalibrationMap:
        if self._takes_columns():
            raise InvalidInputError(
                "A map, which `predict` applies and `save` writes, is for two classes; this TemperatureScaling was "
                f"fitted to {self.n_features_in_} columns. Use `predict_proba`."
            )
        return super()._fitted_map()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "temperature_")
