"""The methods of a comparison: names and calibrators mixed, for any shape, told what the scores are."""

from collections.abc import Iterable, Mapping
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from calibrant._numerics.links import expit, logit, softmax
from calibrant._typing import ArrayLike, Floats
from calibrant._validation import SPACES, as_floats, check_choice, check_weights
from calibrant.calibrators import registry
from calibrant.calibrators.base import Estimator
from calibrant.classifier.views import ClassScores, OneVsRest, TopLabel, View
from calibrant.errors import InvalidInputError
from calibrant.maps.panel_columns import choose_columns, read_column, read_columns, space_of
from calibrant.metrics.evaluation import number_repeated

RAW, PANEL = "identity", "panel"  # what others are compared with
WHOLE_MATRIX_UP_TO = 30  # classes for which methods with K² coefficients are tried unasked
SLOW = ("matrix_scaling", "dirichlet")
MEAN, ALONE = "mean_logit", " alone"  # of several scores
VIEWS: dict[str, type[View]] = {"one_vs_rest": OneVsRest, "top_label": TopLabel}

Methods: TypeAlias = Iterable[Any] | Mapping[str, Any]  # names of methods and calibrators, or calibrators by name


class MatrixView(BaseEstimator):  # type: ignore[misc]
    """A method for one score, fitted to each class against the rest and normalised, or to the predicted class alone.

    Parameters
    ----------
    view : {"one_vs_rest", "top_label"}
        Which.
    method : str
        The name of the method for one score.
    space : {"probability", "decision"}
        What the scores are.

    Examples
    --------
    >>> from calibrant.comparison.candidates import MatrixView
    >>> scores, y = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 9, [0, 1, 2] * 9
    >>> MatrixView("one_vs_rest", "beta").fit(scores, y).predict_proba(scores).shape
    (27, 3)
    """

    def __init__(
        self, view: str = "one_vs_rest", method: str = registry.DEFAULT_METHOD, *, space: str = "probability"
    ) -> None:
        self.view = view
        self.method = method
        self.space = space

    @property
    def name(self) -> str:
        """The name of the method in a comparison."""
        return self.view

    @property
    def title(self) -> str:
        """The method in words."""
        return f"{self.method}, {'each class against the rest' if self.view == 'one_vs_rest' else 'top label'}"

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit column numbers `y`."""
        check_choice("view", self.view, list(VIEWS))
        matrix = self._class_scores(scores)
        weights = check_weights(sample_weight, len(matrix.values))
        self.n_features_in_ = matrix.values.shape[1]
        self.view_ = VIEWS[self.view].fit(registry.create(self.method), matrix, np.asarray(y), weights)
        return self

    def predict_proba(self, scores: ArrayLike) -> Floats:
        """Probabilities of all classes, (n, K)."""
        return self.view_.predict_proba(self._class_scores(scores))

    def _class_scores(self, scores: ArrayLike) -> ClassScores:
        matrix = as_floats(scores, "scores")
        matrix = np.minimum(matrix if self.space == "probability" else softmax(matrix), 1.0)
        return ClassScores(matrix, np.ones(matrix.shape[1], dtype=bool))


class PanelView(BaseEstimator):  # type: ignore[misc]
    """One of several scores alone, or the mean logit of all that are probabilities, calibrated by itself.

    Parameters
    ----------
    score : str, optional
        The column; without it, the mean.
    space : str or dict of str to str
        What the scores are.

    Examples
    --------
    >>> from calibrant.comparison.candidates import PanelView
    >>> scores, y = {"anna": [0.1, 0.4, 0.6, 0.9] * 5, "ben": [0.3, 0.2, None, 0.8] * 5}, [0, 0, 1, 1] * 5
    >>> PanelView("ben").fit(scores, y).predict_proba(scores).shape
    (20, 2)
    """

    def __init__(self, score: str | None = None, *, space: str | Mapping[str, str] = "probability") -> None:
        self.score = score
        self.space = space

    def fit(self, scores: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the one column; rows may lack it."""
        space = "probability" if self.score is None else self.space
        self.calibrator_ = registry.create(PANEL, "panel", space=space).fit(self._column(scores), y, sample_weight)
        return self

    def predict_proba(self, scores: Any) -> Any:
        """Probabilities of the negative and the positive class, (n, 2)."""
        return self.calibrator_.predict_proba(self._column(scores))

    def _column(self, scores: Any) -> dict[str, Any]:
        columns = read_columns(scores)
        if self.score is not None:
            return {self.score: choose_columns(columns, [self.score], [self.score])[self.score]}
        shares = [
            read_column(*one, "probability") for one in columns.items() if space_of(*one, self.space) == SPACES[0]
        ]
        if not shares:
            raise InvalidInputError("The mean logit needs scores that are probabilities; got none.")
        logits = np.ma.masked_invalid(logit(np.column_stack(shares)))
        return {MEAN: expit(logits.mean(axis=1).filled(np.nan))}


def create(name: str, shape: str = "score", space: Any = "probability") -> Any:
    """A new calibrator of a known method, told what the scores are if it can be told.

    Examples
    --------
    >>> from calibrant.comparison.candidates import create
    >>> create("platt", space="decision")
    PlattScaling(space='decision')
    """
    if shape == "matrix" and name in VIEWS:
        return MatrixView(name, space=space)
    if shape == "panel" and (name == MEAN or name.endswith(ALONE)):
        return PanelView(None if name == MEAN else name.removesuffix(ALONE), space=space)
    calibrator = registry.create(name, shape)
    if space != "probability" and "space" in calibrator.get_params():
        calibrator.set_params(space=space)
    return calibrator


def default_methods(shape: str = "score", n_classes: int = 2, scores: Iterable[str] = ()) -> list[str]:
    """The names of the methods that are compared where none are named; of several scores, also each alone."""
    names = registry.names(shape)
    if shape == "panel":
        return [*names, MEAN, *(f"{score}{ALONE}" for score in scores)]
    if shape == "score":
        return list(names)
    return [name for name in (*names, *VIEWS) if n_classes <= WHOLE_MATRIX_UP_TO or name not in SLOW]


def name_candidates(
    methods: Methods | str | None,
    shape: str = "score",
    space: Any = "probability",
    n_classes: int = 2,
    scores: Iterable[str] = (),
) -> dict[str, Any]:
    """The calibrators by name, objects by their method or else by their class; first the raw scores, or the panel."""
    if isinstance(methods, Mapping):
        named = {str(name): calibrator for name, calibrator in methods.items()}
    else:
        single = isinstance(methods, str) or hasattr(methods, "fit")
        given: list[Any] = [methods] if single else list(methods or default_methods(shape, n_classes, scores))
        # A name that is given twice is one method; two objects of one class may differ in their options.
        given = [method for i, method in enumerate(given) if not isinstance(method, str) or method not in given[:i]]
        names = number_repeated(method if isinstance(method, str) else _name_of(method, shape) for method in given)
        named = {
            name: create(method, shape, space) if isinstance(method, str) else method
            for name, method in zip(names, given, strict=True)
        }
    first = PANEL if shape == "panel" else RAW
    reference = named.pop(first, None) or create(first, shape, space)
    return {first: reference} | named


def title_of(calibrator: Any, name: str) -> str:
    """The title of a method in words, a fact of its class; else its name."""
    return str(getattr(calibrator, "title", "") or name.replace("_", " "))


def _name_of(calibrator: Any, shape: str) -> str:
    needed = ("fit_tally",) if shape == "score" else ("fit", "predict_proba")
    if not all(hasattr(calibrator, method) for method in needed):
        kind = "calibrators" + {"matrix": " of several classes", "panel": " of several scores"}.get(shape, "")
        raise InvalidInputError(f"`methods` must be names of methods or {kind}; got {calibrator!r}.")
    if isinstance(calibrator, Estimator):
        return registry.name_of(calibrator)
    return str(getattr(calibrator, "name", "") or type(calibrator).__name__)
