"""`compare_matrix`: methods for several classes on the same folds, judged by proper scores of the whole matrix."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from sklearn.base import clone

from calibrant import _validation
from calibrant._numerics.softmax import softmax
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant._validation.arrays import as_numpy, read_matrix
from calibrant.comparison.candidates import RAW
from calibrant.comparison.matrix_candidates import MATRIX_DEFAULT, MatrixMethods, name_matrix_candidates
from calibrant.comparison.recommend import recommend
from calibrant.comparison.table import Comparison, MethodFit, MethodResult
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.base import Seed
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.full_calibration import full_calibration_test
from calibrant.metrics.groups import Groups, number_groups
from calibrant.metrics.matrix_evaluation import MatrixVerdict
from calibrant.metrics.matrix_measures import matrix_brier_losses, matrix_log_losses
from calibrant.metrics.multiclass import top_label_calibration_error
from calibrant.metrics.out_of_fold import OutOfFold, interval_of_mean
from calibrant.metrics.scores import Loss, brier_loss, logarithmic_loss
from calibrant.tally import row_count

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["MatrixComparison", "MatrixFit", "MatrixOutOfFold", "compare_matrix"]

# What the two losses of a comparison are for a whole row.
LOSSES: dict[Loss, Callable[[Ints, Floats], Floats]] = {
    logarithmic_loss: matrix_log_losses,
    brier_loss: matrix_brier_losses,
}


class Rows(NamedTuple):
    """Checked data: scores (n, K), column numbers of the labels, weights, and groups of rows where there are some."""

    scores: np.ndarray[Any, Any]
    labels: Ints
    weights: Floats
    groups: Groups | None = None


@dataclass(frozen=True)
class MatrixOutOfFold:
    """Predictions for rows that the method did not see, in the order of the rows, one repeat after the other."""

    probabilities: Floats
    labels: Ints
    weights: Floats
    repeats: int
    groups: Groups | None = None

    def losses(self, loss: Loss) -> Floats:
        """The loss of each row."""
        return LOSSES[loss](self.labels, self.probabilities)

    @cached_property
    def members(self) -> csr_array | None:
        """The weight of each row (second axis) in its group (first axis), where rows have groups."""
        if self.groups is None:
            return None
        from scipy import sparse

        where = (np.tile(self.groups.codes, self.repeats), np.arange(len(self.weights)))
        out: csr_array = sparse.coo_array((self.weights, where)).tocsr()
        return out

    def interval(self, values: Floats, level: float, lowest: float = -np.inf) -> Interval:
        """Mean over the rows; repeats see the same rows, so they do not make the interval narrower."""
        return interval_of_mean(values, self.weights, self.members, self.repeats, level=level, lowest=lowest)


@dataclass(frozen=True)
class MatrixFit:
    """One method of a comparison: as given, its predictions for rows not seen, and its fit to all rows when asked."""

    calibrator: Any
    out_of_fold: MatrixOutOfFold
    rows: Rows
    classes: np.ndarray[Any, Any]

    @cached_property
    def fitted(self) -> Any:
        """The copy that is fitted to all rows; calibrators of the matrix know the labels of the columns."""
        scores, labels, weights, _ = self.rows
        seen = len(np.unique(labels)) == len(self.classes)
        own_labels = self.classes[labels] if seen and hasattr(self.calibrator, "fit_map") else labels
        return clone(self.calibrator).fit(scores, own_labels, weights)


@dataclass(frozen=True, repr=False)
class MatrixComparison(Comparison):
    """The table of `compare_matrix`: a `Comparison` whose `base_rate` is the share of the most frequent class.

    SmoothECE is that of the predicted class.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import compare
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.dirichlet(np.ones(3), 300)
    >>> y = (truth.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    >>> table = compare(truth, y, methods=["temperature"])
    >>> table.n_classes, sorted(result.name for result in table.results)
    (3, ['identity', 'temperature'])
    """

    n_classes: int = 0

    @property
    def title(self) -> str:
        """The rows and folds of the comparison, in a line."""
        times = "" if self.repeats == 1 else f", {self.repeats} times"
        return (
            f"{row_count(self.n_rows)} rows of {self.n_classes} classes, the largest {100 * self.base_rate:.3g} %; "
            f"{self.n_folds}-fold cross-validation{times}; {100 * self.level:g} % intervals in brackets"
        )

    @property
    def headers(self) -> tuple[str, ...]:
        """The heads of the columns."""
        return tuple("top SmoothECE" if header == "SmoothECE" else header for header in super().headers)


def compare_matrix(
    scores: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    methods: MatrixMethods | str | None = None,
    space: str = "probability",
    cv: int = 5,
    repeats: int = 1,
    groups: ArrayLike | None = None,
    level: float = 0.9,
    rng: Seed = 0,
    progress: Callable[[str], object] | None = None,
) -> MatrixComparison:
    """Compare calibration methods for several classes, "do nothing" among them, by cross-validation.

    Every method is fitted on the same folds and judged on the rows left out, by log-loss and Brier score of the whole
    matrix. Differences to the raw probabilities are paired, row by row. The recommendation follows the rule of
    `calibrant.compare`, with `MatrixBlend` as the default method.

    Parameters
    ----------
    scores : array-like of shape (n, K)
        A column for each class.
    y : array-like of shape (n,)
        Labels; the columns are the sorted labels, or 0 … K − 1 where some classes have no rows.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    methods : iterable of str and calibrators, or dict of name to calibrator, optional
        Names among "temperature", "one_vs_rest" and "top_label" (both with the default binary method),
        "matrix_blend", "vector_scaling", "matrix_scaling" and "dirichlet", or anything with `fit` and `predict_proba`
        of matrices; by default all, without the last two for more than 30 classes. The raw probabilities are always
        added.
    space : {"probability", "logits"}
        What the scores are.
    cv, repeats : int
        Number of folds, and how many times to split anew. Folds hold an even share of each class.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient: rows of one group stay in one fold, and all intervals allow for their
        dependence. The test of full calibration takes rows as independent, so it is left out.
    level : float
        Confidence level of the intervals.
    rng : int, numpy.random.Generator or None
        The seed or generator of the folds; the same seed gives the same table.
    progress : callable, optional
        Called with the name of each method before its turn.

    Returns
    -------
    MatrixComparison

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.comparison.matrix_compare import compare_matrix
    >>> generator = np.random.default_rng(0)
    >>> truth = generator.dirichlet([1.0, 1.0, 1.0], size=400)
    >>> y = np.array([generator.choice(3, p=row) for row in truth])
    >>> odds = truth**2 * [3.0, 1.0, 1.0]  # too sure, and too fond of the first class
    >>> table = compare_matrix(odds / odds.sum(axis=1, keepdims=True), y, methods=["temperature", "matrix_blend"])
    >>> table.recommended, table["matrix_blend"].log_loss_difference.high < 0
    ('matrix_blend', True)
    """
    _validation.check_level(level)
    _validation.check_count("cv", cv, 2)
    _validation.check_count("repeats", repeats)
    rows, classes = _check_rows(scores, y, sample_weight, groups, space=space, cv=cv)
    candidates = name_matrix_candidates(methods, len(classes), space)
    generator = np.random.default_rng(rng)
    splits = [fold for _ in range(repeats) for fold in _folds(rows, cv, generator)]
    runs = {}
    for name, calibrator in candidates.items():
        if progress is not None:
            progress(name)
        runs[name] = _run(calibrator, rows, splits, repeats)
    predictions = {name: run.out_of_fold for name, run in runs.items() if run.out_of_fold is not None}
    results = [_judge(name, runs[name], predictions[RAW], candidates[name], level) for name in runs]
    results.sort(key=lambda result: result.log_loss.value if result.log_loss is not None else np.inf)
    ranking = [result.name for result in results if result.log_loss is not None]
    choice = recommend(ranking, cast("dict[str, OutOfFold]", predictions), RAW, level, default=MATRIX_DEFAULT)
    total = float(rows.weights.sum())
    largest = float(np.bincount(rows.labels, rows.weights).max() / total)
    raw = softmax(rows.scores) if space == "logits" else rows.scores
    test = None if rows.groups else full_calibration_test(rows.labels, raw, sample_weight=rows.weights)
    verdict = MatrixVerdict(total, largest, None if test is None else test.p_value, choice.gain)
    fits = {name: MatrixFit(candidates[name], one, rows, classes) for name, one in predictions.items()}
    facts = (RAW, total, largest, level, cv, repeats, choice.tied, choice.notes, verdict)
    own_fits = cast("dict[str, MethodFit]", fits)
    return MatrixComparison(tuple(results), choice.name, choice.reason, *facts, own_fits, len(classes))


def _check_rows(
    scores: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    *,
    space: str,
    cv: int,
) -> tuple[Rows, np.ndarray[Any, Any]]:
    matrix = read_matrix(scores, space)
    labels, classes = _validation.encode_classes(as_numpy(y), matrix.shape[1])
    _validation.check_same_length(len(matrix), len(labels), "y")
    weights = _validation.check_weights(sample_weight, len(matrix))
    weights = np.ones(len(matrix)) if weights is None else weights
    kept = weights > 0.0
    if kept.sum() < 2 * cv or len(np.unique(labels[kept])) < 2:
        raise InvalidInputError(
            f"A comparison needs at least two rows for each of the {cv} folds, and rows of two classes; got "
            f"{kept.sum()} rows of {len(np.unique(labels[kept]))}. Add rows."
        )
    numbered = None if groups is None else number_groups(as_numpy(groups)[kept], int(kept.sum()))
    return Rows(matrix[kept], labels[kept], weights[kept], numbered), classes


def _folds(rows: Rows, cv: int, generator: np.random.Generator) -> Iterator[Ints]:
    """The rows to judge in each fold: every class dealt out in random order, each going on where the last ended.

    Groups are dealt out instead, whatever their classes.
    """
    if rows.groups is not None:
        fold = rows.groups.deal(cv, generator)
    else:
        shuffled = generator.permutation(len(rows.labels))
        order = shuffled[np.argsort(rows.labels[shuffled], kind="stable")]
        fold = np.empty(len(rows.labels), dtype=np.intp)
        fold[order] = np.arange(len(rows.labels)) % cv
    yield from (np.flatnonzero(fold == number) for number in range(cv))


class Run(NamedTuple):
    """Predictions of one method, or None where it failed; mean time of a fit; and a warning or the reason."""

    out_of_fold: MatrixOutOfFold | None
    seconds: float
    note: str


def _run(calibrator: Any, rows: Rows, splits: list[Ints], repeats: int) -> Run:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            predictions = _crossfit(calibrator, rows, splits, repeats)
        except Exception as error:  # whatever breaks one method must not take the others down
            known = isinstance(error, InvalidInputError)
            return Run(None, 0.0, str(error) if known else f"failed ({type(error).__name__}: {error})")
        seconds = (time.perf_counter() - start) / len(splits)
    return Run(predictions, seconds, str(caught[0].message) if caught else "")


def _crossfit(calibrator: Any, rows: Rows, splits: list[Ints], repeats: int) -> MatrixOutOfFold:
    """Fit a copy of the method on each training part and predict the rest."""
    n, folds = len(rows.labels), len(splits) // repeats
    probabilities = np.empty((repeats, *rows.scores.shape))
    for number, test in enumerate(splits):
        train = np.setdiff1d(np.arange(n), test, assume_unique=True)
        fitted = clone(calibrator).fit(rows.scores[train], rows.labels[train], rows.weights[train])
        probabilities[number // folds, test] = fitted.predict_proba(rows.scores[test])
    flat = probabilities.reshape(repeats * n, -1)
    labels, weights = np.tile(rows.labels, repeats), np.tile(rows.weights, repeats)
    return MatrixOutOfFold(flat, labels, weights, repeats, rows.groups)


def _judge(name: str, run: Run, reference: MatrixOutOfFold, calibrator: Any, level: float) -> MethodResult:
    title, own = str(getattr(calibrator, "title", "") or name.replace("_", " ")), run.out_of_fold
    if own is None:
        return MethodResult(name, note=run.note, title=title)
    log, brier = own.losses(logarithmic_loss), own.losses(brier_loss)
    smooth = top_label_calibration_error(
        own.labels, own.probabilities, metric=smooth_calibration_error, sample_weight=own.weights / own.repeats
    )
    return MethodResult(
        name,
        own.interval(log, level, lowest=0.0),
        own.interval(brier, level, lowest=0.0),
        smooth,
        None if own is reference else own.interval(log - reference.losses(logarithmic_loss), level),
        None if own is reference else own.interval(brier - reference.losses(brier_loss), level),
        run.seconds,
        run.note,
        title,
    )
