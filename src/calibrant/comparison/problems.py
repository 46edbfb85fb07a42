"""What a comparison asks of rows of any shape: folds, predictions for rows not seen, fits to all rows, and words."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from calibrant import _limits, _validation
from calibrant._typing import ArrayLike
from calibrant.errors import InvalidInputError
from calibrant.maps.panel_columns import named_columns
from calibrant.metrics.folds import OutOfFold, group_members, predict_folds, split_classes, split_sample
from calibrant.metrics.samples import ClassSample, PanelSample, ScoreSample, read_panel, read_sample
from calibrant.metrics.samples import read_problem as read_rows
from calibrant.metrics.scores import describe_reversal
from calibrant.tally import Tally, row_count

NAMES = ("y", "scores")
SEVERAL_SCORES = "If the columns are several scores of a row, pass a dictionary of columns, such as dict(table)."


class ScoreProblem:
    """One score in each row, as a tally: the cost does not grow with the rows."""

    names = ()

    def __init__(self, sample: ScoreSample) -> None:
        self.sample = sample
        # Decision scores have no log-loss of their own: the simplest map that makes probabilities of them, Platt's,
        # takes the place of the raw score.
        self.has_raw = sample.space == "probability"

    def check(self, cv: int) -> None:
        """Two rows of each class, as a fold may lack one, and a row for each fold."""
        tally = self.sample.tally
        rarer = min(tally.total_positive, tally.total - tally.total_positive)
        if rarer < 2.0:
            raise InvalidInputError(f"A comparison needs 2 rows of each class; the rarer has {rarer:g}. Add rows.")
        if cv > tally.total:
            raise InvalidInputError(f"`cv` must be at most the number of rows, {row_count(tally.total)}; got {cv}.")

    def split(self, cv: int, rng: np.random.Generator) -> list[Any]:
        """Folds of the tally, with groups kept together or in the order of time."""
        return split_sample(self.sample, cv, rng)

    def crossfit(self, calibrator: Any, folds: list[Any], repeats: int = 1) -> OutOfFold:
        """Predict the cells of each fold."""
        return predict_folds(folds, lambda train, scores: clone(calibrator).fit_tally(train).predict(scores), repeats)

    def fit(self, calibrator: Any) -> Any:
        """Fit a copy; more than 32768 distinct scores are joined to as many cells of equal mass."""
        return clone(calibrator).fit_tally(self.sample.tally.coarsen(_limits.REPORT_CELLS))

    @property
    def remarks(self) -> list[str]:
        """What a reader of the table must know about the rows."""
        decision = [] if self.has_raw else ["The scores are taken as decision scores."]
        reversal = describe_reversal(self.sample.tally)
        return [*decision, *([] if reversal is None else [reversal]), *self.sample.remarks]


class RowProblem:
    """A column for each class, judged by its softmax where it holds decision scores; or several scores, row by row."""

    def __init__(self, sample: ClassSample | PanelSample) -> None:
        self.sample = sample
        self.remarks = sample.remarks
        self.has_raw = sample.shape == "matrix"
        self.names: tuple[str, ...] = () if self.has_raw else tuple(sample.scores)  # of several scores

    def check(self, cv: int) -> None:
        """Two rows for each fold, and two classes."""
        rows, classes = len(self.sample.labels), len(np.unique(self.sample.labels))
        if rows < 2 * cv or classes < 2:
            needed = f"at least two rows for each of the {cv} folds, and rows of two classes"
            raise InvalidInputError(f"A comparison needs {needed}; got {rows} rows of {classes}. Add rows.")

    def split(self, cv: int, rng: np.random.Generator) -> list[Any]:
        """The rows to fit and the rows to judge in each fold."""
        return split_classes(self.sample, cv, rng)

    def crossfit(self, calibrator: Any, folds: list[Any], repeats: int = 1) -> OutOfFold:
        """Predict the rows of each fold."""
        sample, folds_each = self.sample, len(folds) // repeats
        probabilities = np.empty((repeats, len(sample.labels), sample.n_classes))
        for number, (train, test) in enumerate(folds):
            fitted = clone(calibrator).fit(sample.scores_of(train), sample.labels[train], sample.weights[train])
            probabilities[number // folds_each, test] = fitted.predict_proba(sample.scores_of(test))
        judged = np.sort(np.concatenate([test for _, test in folds[:folds_each]]))  # in time, all but the first
        predicted = probabilities[:, judged].reshape(-1, sample.n_classes)
        return OutOfFold(
            probabilities=predicted if sample.n_classes > 2 else predicted[:, 1],
            labels=np.tile(sample.labels[judged], repeats),
            counts=np.tile(sample.weights[judged], repeats),
            repeats=repeats,
            members=group_members(sample, judged, repeats),
        )

    def fit(self, calibrator: Any) -> Any:
        """Fit a copy to the labels of the columns."""
        sample = self.sample
        # Calibrators of the matrix know the labels of the columns, if all of them occur; others know column numbers.
        has_all = len(np.unique(sample.labels)) == len(sample.classes)
        named = has_all and hasattr(calibrator, "fit_map")
        labels = sample.classes[sample.labels] if named else sample.labels
        return clone(calibrator).fit(sample.scores, labels, sample.weights)


Problem: TypeAlias = ScoreProblem | RowProblem


def read_problem(
    scores: ArrayLike | Tally | Mapping[str, Any],
    y: ArrayLike | None = None,
    *,
    pos_label: Any = None,
    space: str | Mapping[str, str] = "probability",
    **beside: Any,
) -> Problem:
    """Read rows of any shape to compare methods on: three or more classes are a matrix, a dictionary several scores.

    Examples
    --------
    >>> from calibrant.comparison.problems import read_problem
    >>> read_problem([-1.0, 0.5, 2.0], [0, 1, 1], space="decision").has_raw
    False
    >>> read_problem({"anna": [0.2, 0.5, 0.9], "ben": [0.3, None, 0.7]}, [0, 1, 1]).sample.shape
    'panel'
    """
    panel = isinstance(scores, Mapping)
    beside = {"sample_weight": None, "groups": None, "time": None, "space": space} | beside
    if not panel:
        _validation.check_choice("space", space, _validation.SPACES)
    if isinstance(scores, Tally):
        return ScoreProblem(read_sample(scores, y, pos_label=pos_label, **beside))
    if y is None:
        raise InvalidInputError("`y` must be given together with `scores`; or pass a Tally alone.")
    if panel or not _validation.is_class_matrix(scores):
        pos_label = _validation.choose_positive(y, pos_label)
    try:
        read: Any = read_panel if panel else read_rows
        sample = read(y, scores, pos_label=pos_label, names=NAMES, **beside)
    except InvalidInputError as error:
        hint = "" if panel or len(named_columns(scores) or ()) < 2 else f" {SEVERAL_SCORES}"
        raise InvalidInputError(f"{error}{hint}") from error
    return ScoreProblem(sample) if isinstance(sample, ScoreSample) else RowProblem(sample.without_weightless())
