"""Several classes as a view of the binary problem: what a model says about each class, and how that is calibrated.

A score matrix has one row for each sample and one column for each class, whether or not the model knows the class.
`one-vs-rest` calibrates each column by itself, `top-label` only the confidence in the predicted class, and a method
that takes the whole matrix (temperature) is left to do so.
"""
# ruff: noqa: N803 - X is how scikit-learn calls the features

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import clone

from calibrant import _validation
from calibrant._numerics.log_pool import fit_log_pool, pool_logs
from calibrant._typing import Bools, Floats, Ints
from calibrant.calibrators import registry
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.blend import Blend
from calibrant.classifier.models import Models
from calibrant.errors import InvalidInputError
from calibrant.multiclass.base import MatrixCalibrator
from calibrant.panel.calibrator import PanelCalibrator
from calibrant.segments.calibrator import SegmentedCalibrator
from calibrant.tally import Tally

Segment: TypeAlias = Mapping[str, np.ndarray[Any, Any]]  # a column for each key

RESPONSES = ("decision_function", "predict_proba")
VIEWS = ("auto", "one_vs_rest", "top_label")


@dataclass(frozen=True)
class ClassScores:
    """Scores of shape (n, n_classes), which of the classes the model knows, (n_classes,), and the rows' segments.

    Those of several models have shape (n, n_classes, models) and the `names` of the models.
    """

    values: Floats
    known: Bools
    segment: Segment | None = None
    names: tuple[str, ...] = ()

    def of(self, column: Any) -> Any:
        """What a calibrator takes: the scores of one class; of several models, by their names."""
        return dict(zip(self.names, self.values[:, column].T, strict=True)) if self.names else self.values[:, column]

    @classmethod
    def stacked(cls, parts: Sequence[ClassScores]) -> ClassScores:
        """The rows of several models below each other; a class is known if any of them knows it."""
        values, known = np.concatenate([part.values for part in parts]), np.any([part.known for part in parts], axis=0)
        segments = [part.segment for part in parts if part.segment is not None]
        names = segments[0] if segments else ()
        segment = {name: np.concatenate([one[name] for one in segments]) for name in names} or None
        return cls(values, known, segment, parts[0].names)


@dataclass(frozen=True)
class View(ABC):
    """A way from score matrices to class probabilities."""

    calibrators: tuple[Calibrator, ...]

    @classmethod
    @abstractmethod
    def fit(cls, calibrator: Calibrator, scores: ClassScores, codes: Ints, weights: Floats | None) -> Self:
        """Fit copies of `calibrator` to the scores of rows whose classes have the indices `codes`."""

    @abstractmethod
    def predict_proba(self, scores: ClassScores) -> Floats:
        """Probabilities of all classes, (n, n_classes); 0 for a class that the model does not know."""


def class_scores(
    model: Any, X: Any, response: Any, classes: np.ndarray[Any, Any], segment: Segment | None = None
) -> ClassScores:
    """Ask a fitted model for its scores of each of the sorted `classes`.

    One decision score d of a model of two classes becomes the columns -d and d. A class that the model does not know
    scores as low as can be: probability 0, or the lowest decision score of any row.
    """
    if isinstance(model, Models):
        parts = [class_scores(one, X, response[name], classes) for name, one in model.models.items()]
        known = np.any([part.known for part in parts], axis=0)
        return ClassScores(np.stack([part.values for part in parts], axis=2), known, segment, tuple(model.models))
    answer = _validation.as_floats(getattr(model, response)(X), response)
    own = np.asarray(getattr(model, "classes_", classes))
    if response == "decision_function" and len(own) == 2 and answer.size == len(answer):
        answer = np.column_stack((-answer.ravel(), answer.ravel()))
    if answer.ndim != 2 or answer.shape[1] != len(own):
        raise InvalidInputError(
            f"{response} must give one column for each of the {len(own)} classes that {type(model).__name__} knows; "
            f"got shape {answer.shape}. For one-vs-one scores choose the model's one-vs-rest option."
        )
    _validation.check_finite(answer.ravel(), response)
    place = {label: column for column, label in enumerate(classes.tolist())}
    strange = [label for label in own.tolist() if label not in place]
    if strange:
        raise InvalidInputError(
            f"The classifier's `classes_` must be among the labels {list(place)[:5]}; got {strange[0]!r}. "
            "A classifier that encodes labels by itself must report the original ones."
        )
    columns = [place[label] for label in own.tolist()]
    known = np.zeros(len(classes), dtype=bool)
    known[columns] = True
    # Averages of probabilities can leave [0, 1] by rounding; anything further out is left for validation to refuse.
    slack = _validation.ROW_SUM_TOLERANCE
    if response == "predict_proba" and ((answer >= -slack) & (answer <= 1.0 + slack)).all():
        answer = np.clip(answer, 0.0, 1.0)
    lowest = 0.0 if response == "predict_proba" or answer.size == 0 else answer.min()
    values = np.full((len(answer), len(classes)), lowest)
    values[:, columns] = answer
    return ClassScores(values, known, segment)


@dataclass(frozen=True)
class OneVsRest(View):
    """Each class against all others; one calibrator is enough for two classes."""

    columns: Ints

    @classmethod
    def fit(cls, calibrator: Calibrator, scores: ClassScores, codes: Ints, weights: Floats | None) -> Self:
        """Fit one tally for each class that the model knows."""
        columns = np.flatnonzero(scores.known)
        if len(scores.known) == 2:
            columns = columns[1:]
        fitted = tuple(_fitted(calibrator, scores.of(k), codes == k, weights, scores.segment) for k in columns)
        return cls(fitted, columns)

    def predict_proba(self, scores: ClassScores) -> Floats:
        """Calibrated columns, normalised."""
        proba = np.zeros(scores.values.shape[:2])
        for column, calibrator in zip(self.columns, self.calibrators, strict=True):
            proba[:, column] = _predicted(calibrator, scores.of(column), scores.segment)
        if len(scores.known) == 2 and len(self.columns):
            proba[:, 0] = 1.0 - proba[:, 1]
        return _normalised(proba, scores.known)


@dataclass(frozen=True)
class TopLabel(View):
    """The confidence in the predicted class; the others share the rest as they did in the raw probabilities."""

    @classmethod
    def fit(cls, calibrator: Calibrator, scores: ClassScores, codes: Ints, weights: Floats | None) -> Self:
        """Fit one tally of (confidence, hit)."""
        top = scores.values.argmax(axis=1)
        return cls((_fitted(calibrator, scores.values.max(axis=1), codes == top, weights, scores.segment),))

    def predict_proba(self, scores: ClassScores) -> Floats:
        """The calibrated confidence, and the rest in proportion."""
        rows, top = np.arange(len(scores.values)), scores.values.argmax(axis=1)
        others = np.tile(scores.known, (len(rows), 1))
        others[rows, top] = False
        confidence = _predicted(self.calibrators[0], scores.values[rows, top], scores.segment)
        proba = (1.0 - confidence)[:, None] * _normalised(scores.values * others, others)
        proba[rows, top] = confidence
        return _normalised(proba, scores.known)


@dataclass(frozen=True)
class WholeMatrix(View):
    """All classes at once, by a method that takes score matrices; those of several models are pooled to one first."""

    columns: Ints
    pool: Floats | None = None

    @classmethod
    def fit(cls, calibrator: Calibrator, scores: ClassScores, codes: Ints, weights: Floats | None) -> Self:
        """Fit the classes that the model knows, on the rows of these classes."""
        columns, kept = np.flatnonzero(scores.known), scores.known[codes]
        own_codes, own, pool = np.searchsorted(columns, codes[kept]), scores.values[kept][:, columns], None
        own_weights = None if weights is None else weights[kept]
        if scores.names:
            pool = fit_log_pool(own, own_codes, np.ones(len(own)) if own_weights is None else own_weights)
            calibrator, own = Blend(), pool_logs(own, pool)
        return cls((clone(calibrator).fit(own, own_codes, own_weights),), columns, pool)

    def matrix(self, scores: ClassScores) -> Floats:
        """What the method takes: the scores of the known classes, (n, columns)."""
        own: Floats = scores.values[:, self.columns]
        return own if self.pool is None else pool_logs(own, self.pool)

    def predict_proba(self, scores: ClassScores) -> Floats:
        """Put the probabilities of the method into the columns of the known classes."""
        proba = np.zeros(scores.values.shape[:2])
        proba[:, self.columns] = self.calibrators[0].predict_proba(self.matrix(scores))
        return proba


def _fitted(
    calibrator: Any, scores: Floats, positive: Bools, weights: Floats | None, segment: Segment | None
) -> Calibrator:
    copy: Any = clone(calibrator)
    if segment is not None:
        return copy.fit(scores, positive, weights, segment=segment)
    if copy.shape == "panel":
        return copy.fit(scores, positive, weights)
    return copy.fit_tally(Tally.from_arrays(scores, positive, weights))


def _predicted(calibrator: Any, scores: Floats, segment: Segment | None) -> Floats:
    return calibrator.predict(scores) if segment is None else calibrator.predict(scores, segment=segment)


def _normalised(proba: Floats, allowed: Bools) -> Floats:
    """Rows that sum to one; a row of zeros becomes uniform over the classes that are allowed, if there are any."""
    total = proba.sum(axis=1, keepdims=True)
    count = np.broadcast_to(allowed, proba.shape).sum(axis=1, keepdims=True)
    uniform = np.broadcast_to(allowed, proba.shape) / np.maximum(count, 1)
    return np.divide(proba, total, out=uniform, where=total > 0.0)


@dataclass(frozen=True)
class CalibratedModel:
    """A fitted classifier and the fitted view of its scores.

    Attributes
    ----------
    estimator : classifier
        The fitted classifier.
    view : View
        From its scores to probabilities.
    response : str
        The method of the classifier that gives the scores; of several classifiers, by their names.
    classes : ndarray of shape (n_classes,)
        All classes, sorted.
    known : ndarray of shape (n_classes,)
        Which of them the classifier was trained on.
    unproven : ndarray of shape (n_classes,)
        Which of them it knows, while no row to calibrate on was of that class and the view needs such rows.
    held_out : Tally, optional
        Where two classes share `view` with other models: the scores of its own split.
    """

    estimator: Any
    view: View
    response: Any
    classes: np.ndarray[Any, Any]
    known: Bools
    unproven: Bools
    held_out: Tally | None = None

    @property
    def calibrators(self) -> tuple[Calibrator, ...]:
        """The fitted calibrators: one, or one for each class."""
        return self.view.calibrators

    def predict_proba(self, X: Any, segment: Segment | None = None) -> Floats:
        """Calibrated probabilities, (n, n_classes)."""
        return self.view.predict_proba(class_scores(self.estimator, X, self.response, self.classes, segment))

    def sample_maps(self, X: Any, n_draws: int, random_state: int) -> Floats:
        """Draws of the probabilities of all classes from the posterior of a method for matrices, (d, n, n_classes)."""
        calibrator, columns = self.calibrators[0], np.flatnonzero(self.known)
        if not (isinstance(self.view, WholeMatrix) and calibrator.bayesian):
            raise InvalidInputError(
                "Intervals of several classes need a Bayesian method for the whole matrix, such as the default with "
                f"multiclass='auto'; got {type(calibrator).__name__} in a {type(self.view).__name__} view."
            )
        scores = class_scores(self.estimator, X, self.response, self.classes)
        draws = np.zeros((n_draws, len(scores.values), len(self.classes)))
        draws[:, :, columns] = calibrator.sample_maps(self.view.matrix(scores), n_draws, random_state)
        return draws

    def posterior(self, X: Any) -> tuple[Any, Any]:
        """The calibrator with a posterior, and the scores of the second of two classes."""
        if len(self.classes) != 2 or not self.known.all() or not isinstance(self.view, OneVsRest):
            raise InvalidInputError(
                f"Intervals need two classes and multiclass='one_vs_rest'; got {len(self.classes)} classes, "
                f"{self.known.sum()} of them in the training rows, and a {type(self.view).__name__} view."
            )
        calibrator = self.calibrators[0]
        if not calibrator.bayesian:
            raise InvalidInputError(f"Intervals need a Bayesian method; {type(calibrator).__name__} has no posterior.")
        return calibrator, class_scores(self.estimator, X, self.response, self.classes).of(1)


@dataclass(frozen=True)
class Recipe:
    """The way to calibrate: an unfitted calibrator, the scores that it takes, and the view of several classes."""

    calibrator: Calibrator
    response: Any  # of several models, by their names
    multiclass: str
    classes: np.ndarray[Any, Any]

    def scores(self, model: Any, X: Any, segment: Segment | None = None) -> ClassScores:
        """Ask a fitted model for its scores of each class."""
        return class_scores(model, X, self.response, self.classes, segment)

    def calibrate(self, model: Any, scores: ClassScores, codes: Ints, weights: Floats | None) -> CalibratedModel:
        """Calibrate a fitted model on the scores of rows whose classes have the indices `codes`."""
        view = self._view(scores).fit(self.calibrator, scores, codes, weights)
        # A method for the whole matrix, or for the predicted class, learns about each class from all of them.
        seen = np.bincount(codes, weights, len(self.classes)) > 0.0
        unproven = scores.known & ~seen if isinstance(view, OneVsRest) else np.zeros(len(seen), dtype=bool)
        return CalibratedModel(model, view, self.response, self.classes, scores.known, unproven)

    def _view(self, scores: ClassScores) -> type[View]:
        if self.multiclass == "top_label":
            return TopLabel
        if self.calibrator.shape == "matrix":
            return WholeMatrix
        several = self.multiclass == "auto" and scores.known.sum() > 2
        if self.calibrator.shape == "panel":
            return WholeMatrix if several and scores.segment is None else OneVsRest
        return WholeMatrix if several and self.calibrator.name in registry.names("matrix") else OneVsRest


def choose_recipe(
    method: Any,
    model: Any,
    requested: str,
    multiclass: str,
    classes: np.ndarray[Any, Any],
    *,
    segmented: bool = False,
) -> Recipe:
    """Find the calibrator and the scores that fit each other; a calibrator object is used as it is.

    A named method with a `space` is told which scores it gets: known from the response, never guessed from values.
    """
    _validation.check_choice("multiclass", multiclass, VIEWS)
    if isinstance(model, Models):
        return _choose_panel(method, model, requested, multiclass, classes)
    if segmented:
        calibrator, adapts = _pool_segments(method), True
        requested = _prefer_probabilities(model, requested)
    else:
        calibrator = _create(method)
        adapts = isinstance(method, str) and "space" in calibrator.get_params()
    top = multiclass == "top_label"
    needs = top or (calibrator.space == "probability" and not adapts)
    caller = "multiclass='top_label'" if top else type(calibrator).__name__
    response = _choose_response(model, requested, probabilities=needs, caller=caller)
    if adapts:
        calibrator.set_params(space="probability" if response == "predict_proba" else "decision")
    return Recipe(calibrator, response, multiclass, classes)


def _choose_panel(method: Any, models: Models, requested: str, multiclass: str, classes: Any) -> Recipe:
    """Probabilities of several models where they have them, to one `PanelCalibrator`."""
    calibrator = PanelCalibrator() if method == registry.DEFAULT_METHOD else method
    if not isinstance(calibrator, PanelCalibrator) or multiclass == "top_label":
        raise InvalidInputError(
            "Several classifiers must have the default `method`, or a PanelCalibrator, and `multiclass` 'auto' or "
            f"'one_vs_rest'; got {method!r} and {multiclass!r}."
        )
    pooled, caller = len(classes) > 2 and multiclass == "auto", "One matrix of several"
    responses = {
        name: _choose_response(one, _prefer_probabilities(one, requested), probabilities=pooled, caller=caller)
        for name, one in models.models.items()
    }
    spaces = {name: "probability" if one == "predict_proba" else "decision" for name, one in responses.items()}
    return Recipe(clone(calibrator).set_params(space=spaces), responses, multiclass, classes)


def _prefer_probabilities(model: Any, requested: str) -> str:
    return "predict_proba" if requested == "auto" and hasattr(model, "predict_proba") else requested


def _create(method: Any) -> Any:
    """A calibrator as it is, or a method by name; one that only takes matrices is found, too."""
    if isinstance(method, str):
        only_matrix = method not in registry.names() and method in registry.names("matrix")
        return registry.create(method, "matrix" if only_matrix else "score")
    if isinstance(method, SegmentedCalibrator):
        raise InvalidInputError("SegmentedCalibrator needs segments: pass `segment` to `fit`, or name their column.")
    if not isinstance(method, Calibrator | MatrixCalibrator):
        raise InvalidInputError(
            f"`method` must be the name of a method or a calibrator object; got {method!r}. "
            "Pass for example 'isotonic' or IsotonicCalibration()."
        )
    return method


def _pool_segments(method: Any) -> SegmentedCalibrator:
    """The calibrator for rows with segments: the method draws the pooled curve."""
    calibrator = clone(method) if isinstance(method, SegmentedCalibrator) else SegmentedCalibrator(method)
    pooled = registry.create(calibrator.calibrator) if isinstance(calibrator.calibrator, str) else calibrator.calibrator
    if not isinstance(pooled, Calibrator):
        raise InvalidInputError(f"`method` must be a calibrator of one score to be used with segments; got {pooled!r}.")
    return calibrator


def _choose_response(model: Any, requested: str, *, probabilities: bool, caller: str) -> str:
    """The method of `model` that gives the scores, ``"predict_proba"`` or ``"decision_function"``.

    Where `probabilities` are needed only the first will do. Otherwise decision scores come first, as in scikit-learn:
    they are what the model computed, before any squashing.
    """
    _validation.check_choice("response_method", requested, ("auto", *RESPONSES))
    wanted = RESPONSES if requested == "auto" else (requested,)
    name = type(model).__name__
    found = [response for response in wanted if hasattr(model, response)]
    if not found:
        raise InvalidInputError(f"`estimator` must have {' or '.join(wanted)}; {name} has not. Use another classifier.")
    if not probabilities:
        return found[0]
    if "predict_proba" not in found:
        raise InvalidInputError(
            f"{caller} needs probabilities, and {name} was to give decision scores. Use a method for decision scores, "
            "such as 'isotonic' or 'platt', or a classifier (or `response_method`) with predict_proba."
        )
    return "predict_proba"
