"""What all calibrators share, and what those of one score do: fit a tally and keep a frozen map."""

import os
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, Tags

from calibrant import _validation
from calibrant._numerics import links
from calibrant._numerics.grades import grade_dispersion
from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.calibrators import registry
from calibrant.errors import InvalidInputError, NotFittedError
from calibrant.estimates.estimation import EstimateMethods
from calibrant.estimates.rows import LabelledRows
from calibrant.maps.base import ends_like
from calibrant.maps.functions import MapFunction
from calibrant.maps.posterior_table import PosteriorTable
from calibrant.maps.score import CalibrationMap
from calibrant.metrics.scores import warn_of_reversal
from calibrant.tally import Tally, row_count

__all__ = ["BayesianCalibrator", "Calibrator", "Estimator"]


class Estimator(BaseEstimator, ABC):
    """What all calibrators are, whatever the shape of their scores: scikit-learn estimators that keep a frozen map.

    Attributes
    ----------
    shape : {"score", "matrix", "segments", "panel"}
        The shape of its scores: one for each row, a column for each class, one with the segment of its row, or several
        for each row.
    name : str
        The name by which the method is asked for, as in ``CalibratedClassifier(model, "platt")``.
    title : str
        How tables and sentences call the method; the name of the class unless stated.
    description : str
        One line on what it does; the first line of the docstring unless stated.
    reference : str
        Where the method comes from.
    space : {"probability", "decision"}
        What its scores are: probabilities, or any finite numbers. A method that treats the two differently has a
        parameter of this name.
    bayesian : bool
        Whether it has a posterior: `predict_interval` and `sample_maps`.
    map_ : FrozenMap
        After fitting: the frozen map.
    classes_ : ndarray
        After fitting: the labels of the columns of `predict_proba`.

    Examples
    --------
    >>> from calibrant import Blend, PlattScaling
    >>> from calibrant.calibrators.base import Estimator
    >>> [isinstance(method, Estimator) and method.bayesian for method in (PlattScaling(), Blend())]
    [False, True]
    """

    shape: ClassVar[str]
    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    reference: ClassVar[str] = ""
    space: str = "decision"
    bayesian: ClassVar[bool] = False
    measures_only: ClassVar[bool] = False
    takes_grades: ClassVar[bool] = True
    map_: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let a method that states no name, title or description have those of its class, not of its base."""
        super().__init_subclass__(**kwargs)
        first_line = (cls.__doc__ or "").strip().partition("\n")[0].removesuffix(".")
        for fact, otherwise in (("name", cls.__name__), ("title", cls.__name__), ("description", first_line)):
            if fact not in vars(cls):
                setattr(cls, fact, otherwise)

    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrated probabilities: of the positive class, (n,), or with several classes of all of them, (n, K)."""
        return self._fitted_map().predict(scores)

    def predict_proba(self, scores: ArrayLike) -> Floats:
        """Probabilities of all classes, (n, K); the second of two is the positive one."""
        return self._fitted_map().predict_proba(scores)

    def save(self, path: str | os.PathLike[str], *, posterior: bool = True) -> None:
        """Save the fitted map as JSON; `calibrant.load` reads it.

        Parameters
        ----------
        path : path
            The file to write.
        posterior : bool
            Whether a Bayesian method also saves what intervals, draws and answers about rows without labels need:
            some hundred kilobytes.
        """
        (self.frozen_map() if posterior else self._fitted_map()).save(path)

    def summary(self) -> str:
        """Say in a few lines what the fit found."""
        self._fitted_map()
        return f"{self.title}: {self.description}."

    def _check_labels_given(self, y: ArrayLike | None) -> None:
        if y is None:
            raise InvalidInputError(f"{type(self).__name__}.fit requires y to be passed, but the target y is None.")

    def frozen_map(self) -> Any:
        """The fitted map with what it needs for intervals, where the method has a posterior."""
        return self._fitted_map()

    def _fitted_map(self) -> Any:
        if not hasattr(self, "map_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call `fit` before using it.")
        return self.map_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "map_")


class Calibrator(Estimator):
    """Base of the calibrators of one score. A method is a subclass with its facts and one function, `fit_map`.

    With a column for each of three or more classes, `fit` hands the matrix to the method of the same name for
    matrices, if there is one; what that has found, `map_` and all, is then found here.

    Attributes
    ----------
    monotone : bool
        Whether every fitted map never decreases.
    accepts_single_class : bool
        Whether it can be fitted to rows of one class only.
    measures_only : bool
        Whether it is a curve for measuring calibration errors, which is never recommended as a calibrator.
    map_ : CalibrationMap, or MatrixMap
        After fitting: the frozen map.
    classes_ : ndarray
        After fitting: the negative and the positive label, the columns of `predict_proba`; 0 and 1 after `fit_tally`.
    matrix_ : MatrixCalibrator or None
        After fitting: the method for matrices that did the work; None with one score.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration
    >>> from calibrant.calibrators.base import Calibrator
    >>> calibrator = IsotonicCalibration().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    >>> isinstance(calibrator, Calibrator), calibrator.predict_proba([0.5]).shape
    (True, (1, 2))
    """

    shape: ClassVar[str] = "score"
    monotone: bool = False
    accepts_single_class: bool = True
    matrix_: Any = None

    def fit(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        pos_label: Any = None,
        graded: bool = False,
    ) -> Self:
        """Learn the map from scores and labels.

        Parameters
        ----------
        scores : array-like of shape (n,), (n, 1), (n, 2) or (n, K)
            Scores; the probabilities of the negative and the positive class; or a column for each of several classes.
        y : array-like of shape (n,)
            Labels: bool, {0, 1}, {-1, 1}, or any two values of which `pos_label` is the positive one. With several
            classes, the sorted labels of the columns.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.
        pos_label : label, optional
            The positive class, whose probability the scores speak of. Text labels need it; of two other numbers, such
            as 1 and 2, the larger is positive as in scikit-learn. Not for several classes.
        graded : bool
            Whether `y` are grades from 0 to 1; then the map gives the mean grade at a score. Grades vary less than
            labels: how much is estimated, and a row counts as that many more (a quasi-likelihood), so that intervals
            have their level.

        Returns
        -------
        self
        """
        self._check_labels_given(y)
        if graded:
            self._check_takes_grades(scores, pos_label)
        elif _validation.is_class_matrix(scores):
            return self._fit_matrix(scores, y, sample_weight, pos_label)
        else:
            y, classes = _validation.encode_labels(y, _validation.choose_positive(y, pos_label))
        column = _validation.check_scores(scores)
        tally = Tally.from_arrays(column, y, sample_weight, graded=graded)
        self._check_space(column)  # of the rows as they came: an error names the row, not its place in the tally
        warn_of_reversal(tally)
        if graded:  # each row counts as as many labels as it is worth
            return self.fit_tally(tally.scaled(1.0 / grade_dispersion(column, _validation.check_grades(y))))
        self.fit_tally(tally)
        self.classes_ = np.array(classes)
        return self

    def _check_takes_grades(self, scores: ArrayLike, pos_label: Any) -> None:
        if pos_label is not None or _validation.is_class_matrix(scores):
            raise InvalidInputError("Grades are for one score: pass `graded` without `pos_label` and several columns.")
        if not self.takes_grades:
            raise InvalidInputError(
                f"{type(self).__name__} needs labels of two kinds and cannot use grades. Use another method, such as "
                "Blend, or call a grade right from some height on."
            )

    def _fit_matrix(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any) -> Self:
        """Let the method of the same name for matrices fit a column for each class."""
        if pos_label is not None:
            raise InvalidInputError("`pos_label` is for scores of two classes; got a column for each of several.")
        self.matrix_ = registry.matrix_twin(self).fit(scores, y, sample_weight)
        self.__dict__ |= {name: value for name, value in vars(self.matrix_).items() if name.endswith("_")}
        return self

    def _check_space(self, scores: Floats) -> None:
        if _validation.check_choice("space", self.space, _validation.SPACES) == "probability":
            _validation.check_unit_interval(scores, "scores", type(self).__name__)

    def fit_tally(self, tally: Tally) -> Self:
        """Learn the map from a tally; the same as `fit` on the rows that it counts."""
        if len(tally) == 0:
            raise InvalidInputError(f"{type(self).__name__} needs at least one row; the tally is empty.")
        self._check_space(tally.scores)
        if not self.accepts_single_class and not 0.0 < tally.total_positive < tally.total:
            raise InvalidInputError(
                f"{type(self).__name__} needs rows of both classes; got 1 class, "
                f"{'all' if tally.total_positive else 'none'} of the {row_count(tally.total)} rows positive. "
                "Add rows of the other class, or use a method that can, such as IsotonicCalibration."
            )
        fitted = self.fit_map(tally)
        map_ = self._as_map(fitted) if isinstance(fitted, MapFunction) else fitted
        if not isinstance(map_, CalibrationMap):
            raise InvalidInputError(
                f"`fit_map` of {type(self).__name__} must return a MapFunction or a CalibrationMap; got "
                f"{type(map_).__name__}."
            )
        # Each method of this package is tested for it; looking takes as long as a small fit.
        if not type(self).__module__.startswith("calibrant.") and (fault := map_.fault()):
            raise InvalidInputError(f"The map of {type(self).__name__} is a function that {fault}.")
        self.map_ = replace(map_, fitted_range=(float(tally.scores[0]), float(tally.scores[-1])))
        self.classes_, self.n_features_in_, self.matrix_ = np.array([0, 1]), 1, None
        return self

    def summary(self) -> str:
        """Say in a few lines what the fit found."""
        return super().summary() if self.matrix_ is None else str(self.matrix_.summary())

    @abstractmethod
    def fit_map(self, tally: Tally) -> MapFunction | CalibrationMap:
        """Fit a checked, non-empty tally; the one thing that a method must write.

        Return the function of the map, or the whole map where its `space` or `monotone` are not those of the class.
        """

    def _as_map(self, function: MapFunction, monotone: bool | None = None) -> CalibrationMap:
        return CalibrationMap(
            function,
            space=self.space,
            monotone=self.monotone if monotone is None else monotone,
            method=type(self).__name__,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False  # only as (n, 1), or the probabilities of two classes
        tags.target_tags.required = True
        # Not a classifier in scikit-learn's sense (`predict` gives probabilities), but its target is binary.
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


class BayesianCalibrator(Calibrator, EstimateMethods):
    """A calibrator with a posterior over maps.

    Attributes
    ----------
    labelled_ : LabelledRows
        After fitting: where the labelled scores lie, for answers about rows without labels.

    Examples
    --------
    >>> from calibrant import ABB
    >>> calibrator = ABB().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    >>> low, high = calibrator.predict_interval([0.5], level=0.9)
    >>> bool(low[0] < calibrator.predict([0.5])[0] < high[0]), calibrator.sample_maps([0.5], n_draws=7).shape
    (True, (7, 1))
    """

    bayesian: ClassVar[bool] = True
    leave_one_out_draws: ClassVar[int] = 1000

    def fit_tally(self, tally: Tally) -> Self:
        """Learn the map from a tally; the same as `fit` on the rows that it counts."""
        super().fit_tally(tally)
        self.labelled_ = LabelledRows.of(tally)
        return self

    def frozen_map(self) -> Any:
        if self.matrix_ is not None:
            return self.matrix_.frozen_map()
        map_ = self._fitted_map()
        return replace(map_, posterior=PosteriorTable.of(self, map_.space))

    def sample_maps(self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of the whole map from its posterior, evaluated at `scores`, (n_draws, n) or (n_draws, n, K)."""
        map_ = self._fitted_map()
        if self.matrix_ is not None:
            return self.matrix_.sample_maps(scores, n_draws, random_state)
        count, rng = _validation.check_count("n_draws", n_draws), _validation.generator(random_state)
        return self.draw_maps(map_.check_scores(scores), count, rng)

    @abstractmethod
    def draw_maps(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draws of the whole map at scores that have been checked, (n_draws, n)."""

    def predict_interval(self, scores: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the central credible interval of each calibrated probability.

        Parameters
        ----------
        scores : array-like of shape (n,), (n, 1), (n, 2) or (n, K), or a number
            Scores to calibrate.
        level : float
            Posterior probability inside the interval.

        Returns
        -------
        lower, upper : ndarray of shape (n,) or (n, K), or two numbers
        """
        map_ = self._fitted_map()
        if self.matrix_ is not None:
            return self.matrix_.predict_interval(scores, level)
        array = map_.check_scores(scores)
        low, high = self.interval_ends(array, _validation.check_level(level))
        predicted = map_(array)  # far from the data, the mean of a skew posterior can lie beyond its quantiles
        return ends_like(scores, (np.minimum(low, predicted), np.maximum(high, predicted)))

    @abstractmethod
    def interval_ends(self, scores: Floats, level: float) -> tuple[Floats, Floats]:
        """Lower and upper quantiles of the posterior at scores that have been checked, (n,) each."""

    def interval_draws(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Maps whose lower quantiles and maps whose upper quantiles are ends of intervals; mostly the same maps."""
        draws = self.sample_maps(scores, n_draws, rng)
        return draws, draws

    def leave_one_out(self, tally: Tally) -> tuple[Floats, Floats]:
        """Predict each row from the posterior without it, for positive and for negative rows of each cell.

        Leaving a row out divides the posterior by the likelihood of the row, so the predictive probability of a
        positive row is the harmonic mean of p over the posterior, and of a negative row that of 1 − p. No refit is
        needed. `tally` holds the rows of the fit, or cells of them.

        Returns
        -------
        positive, negative : ndarray of shape (m,)
        """
        draws = links.clip(self.sample_maps(tally.scores, self.leave_one_out_draws))
        return 1.0 / (1.0 / draws).mean(axis=0), 1.0 / (1.0 / (1.0 - draws)).mean(axis=0)

    def left_out_log_loss(self) -> float:
        """Mean log-loss of the rows of the fit, each predicted from the posterior without it."""
        cells = self.labelled_.cells
        positive, negative = self.leave_one_out(cells)
        return float(-(cells.positives @ np.log(positive) + cells.negatives @ np.log(negative)) / cells.total)


def quantile_ends(level: float, low_draws: Floats, high_draws: Floats) -> tuple[Floats, Floats]:
    """The lower quantile of some maps and the upper one of others, at each score that they were drawn at."""
    tail = 0.5 * (1.0 - level)
    return np.quantile(low_draws, tail, axis=0), np.quantile(high_draws, 1.0 - tail, axis=0)
