"""`evaluate_matrix`: the table of `evaluate` for the probabilities of several classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.base import Seed
from calibrant.metrics.binned import expected_calibration_error
from calibrant.metrics.bootstrap import interval_of, reflected
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.full_calibration import full_calibration_test
from calibrant.metrics.groups import Groups, number_groups
from calibrant.metrics.matrix_measures import matrix_accuracy, matrix_brier_score, matrix_log_loss, read_classes
from calibrant.metrics.multiclass import class_wise_calibration_error, top_label_calibration_error
from calibrant.metrics.table import Evaluation, Row
from calibrant.metrics.verdict import CLEAR, Verdict
from calibrant.tally import row_count

__all__ = ["MatrixEvaluation", "MatrixVerdict", "evaluate_matrix"]

PROPER, ORDER, ERROR, TEST = (
    "proper scores (lower is better)",
    "discrimination (higher is better)",
    "calibration errors (lower is better)",
    "test of calibration",
)


class Measure(NamedTuple):
    """A row of the table: a function of labels, matrix and `sample_weight`."""

    key: str
    group: str
    name: str
    function: Any
    bounds: tuple[float, float]
    norm: bool = False  # an error whose square adds up


_ECE = partial(expected_calibration_error, strategy="quantile")
_UNIT = (0.0, 1.0)
MEASURES = (
    Measure("log_loss", PROPER, "log-loss", matrix_log_loss, (0.0, np.inf)),
    Measure("brier_score", PROPER, "Brier score, all classes", matrix_brier_score, (0.0, 2.0)),
    Measure("accuracy", ORDER, "accuracy", matrix_accuracy, _UNIT),
    Measure(
        "top_label_ece",
        ERROR,
        "top-label ECE, 15 bins of equal mass",
        partial(top_label_calibration_error, metric=_ECE),
        _UNIT,
        norm=True,
    ),
    Measure(
        "top_label_smooth",
        ERROR,
        "top-label SmoothECE",
        partial(top_label_calibration_error, metric=smooth_calibration_error),
        _UNIT,
        norm=True,
    ),
    Measure(
        "class_wise_ece",
        ERROR,
        "class-wise ECE, 15 bins of equal mass",
        partial(class_wise_calibration_error, metric=_ECE),
        _UNIT,
        norm=True,
    ),
)
P_VALUE = "full_calibration_p_value"


@dataclass(frozen=True)
class MatrixVerdict(Verdict):
    """Whether the probabilities of several classes need calibration; `p_value` is that of `full_calibration_test`.

    Examples
    --------
    >>> from calibrant.metrics.matrix_evaluation import MatrixVerdict
    >>> print(MatrixVerdict(800, 0.4, p_value=0.02))
    Miscalibrated beyond chance (test of full calibration, p = 0.020).
    """

    @property
    def test(self) -> str:
        """The result of the test in brackets."""
        if self.p_value is None:
            return "(the test of full calibration has no value)"
        return f"(test of full calibration, p {f'= {self.p_value:.3f}' if self.p_value >= CLEAR else '< 0.001'})"


@dataclass(frozen=True, repr=False)
class MatrixEvaluation(Evaluation):
    """The table of `evaluate_matrix`: an `Evaluation` whose `base_rate` is the share of the most frequent class.

    Examples
    --------
    >>> from calibrant.metrics.matrix_evaluation import evaluate_matrix
    >>> table = evaluate_matrix([0, 1, 2] * 9, [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.3, 0.4, 0.3]] * 9)
    >>> print(str(table).splitlines()[0])
    27 rows of 3 classes, the largest 33.3 %; 90 % intervals in brackets
    """

    n_classes: int = 0

    @property
    def _title(self) -> str:
        rows = f"{row_count(self.n_rows)} rows of {self.n_classes} classes, the largest {100 * self.base_rate:.3g} %"
        return f"{rows}; {100 * self.level:g} % intervals in brackets"


def evaluate_matrix(
    y_true: ArrayLike,
    y_prob: ArrayLike | Mapping[str, ArrayLike],
    *,
    level: float = 0.9,
    n_resamples: int = 100,
    n_simulations: int = 499,
    groups: ArrayLike | None = None,
    rng: Seed = 0,
    sample_weight: ArrayLike | None = None,
) -> MatrixEvaluation:
    """One table of a model's class probabilities, or of several models side by side.

    Proper scores of the whole matrix come first, then accuracy, calibration errors of the predicted class and of each
    class against the rest, and the p-value of `full_calibration_test`. Intervals are from a bootstrap of rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels; the columns belong to the sorted labels, or, where some have no rows, to 0 … K − 1.
    y_prob : array-like of shape (n, K), or dict of them
        Class probabilities; with several models, a dict of name to probabilities.
    level : float
        Confidence level of the intervals.
    n_resamples : int
        Number of bootstrap replicates.
    n_simulations : int
        Number of sets of labels that the test draws.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient: rows of one group are resampled together. The test of full
        calibration takes rows as independent, so it is left out.
    rng : int, numpy.random.Generator or None
        The seed or generator; the same seed gives the same table.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.

    Returns
    -------
    MatrixEvaluation

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics.matrix_evaluation import evaluate_matrix
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.dirichlet([1.0, 1.0, 1.0], size=500)
    >>> y = np.array([rng.choice(3, p=row) for row in truth])
    >>> sharper = truth**2 / (truth**2).sum(axis=1, keepdims=True)
    >>> table = evaluate_matrix(y, {"truth": truth, "sharper": sharper})
    >>> table["log_loss"]["truth"].value < table["log_loss"]["sharper"].value
    True
    >>> [verdict.state for verdict in table.verdicts]
    ['no_evidence', 'miscalibrated']
    """
    _validation.check_level(level)
    _validation.check_count("n_resamples", n_resamples)
    given = y_prob if isinstance(y_prob, Mapping) else {"model": y_prob}
    if not given:
        raise InvalidInputError("`y_prob` must name at least one model; the dict is empty.")
    models = {str(name): read_classes(y_true, p, sample_weight) for name, p in given.items()}
    columns, verdicts = [], []
    labels, matrix, weights = next(iter(models.values()))
    largest = float(np.bincount(labels, weights).max() / weights.sum())
    numbered = None if groups is None else number_groups(groups, len(labels))
    for labels, matrix, weights in models.values():
        columns.append(_column((labels, matrix, weights), level, n_resamples, rng, numbered))
        p_value = None
        if numbered is None:
            test = full_calibration_test(labels, matrix, n_simulations=n_simulations, rng=rng, sample_weight=weights)
            p_value = columns[-1][P_VALUE] = test.p_value
        verdicts.append(MatrixVerdict(float(weights.sum()), largest, p_value))
    rows = [Row(m.key, m.group, m.name, tuple(c[m.key] for c in columns)) for m in MEASURES]
    if numbered is None:
        rows.append(Row(P_VALUE, TEST, "p-value of the test of full calibration", tuple(c[P_VALUE] for c in columns)))
    several = len(models) > 1
    remarks = tuple(f"{name}: {v}" if several else str(v) for name, v in zip(models, verdicts, strict=True))
    facts = float(weights.sum()), largest, level, remarks, tuple(verdicts), matrix.shape[1]
    return MatrixEvaluation(tuple(models), tuple(rows), *facts)


def _column(
    model: tuple[Ints, Floats, Floats], level: float, n_resamples: int, rng: Seed, groups: Groups | None
) -> dict[str, Interval | float]:
    """All estimates of one model, from one set of replicates."""
    labels, matrix, weights = model
    values = [float(m.function(labels, matrix, sample_weight=weights)) for m in MEASURES]
    draws = np.array(
        [
            [m.function(labels, matrix, sample_weight=counts) for m in MEASURES]
            for counts in _resampled(weights, n_resamples, rng, groups)
        ]
    )
    column: dict[str, Interval | float] = {}
    for measure, value, own in zip(MEASURES, values, draws.T, strict=True):
        plausible = reflected(own, value, value, "squared" if measure.norm else "basic")
        if groups is not None:
            plausible = value + groups.expansion(level) * (plausible - value)
        column[measure.key] = interval_of(value, plausible, level, measure.bounds)
    return column


def _resampled(weights: Floats, n_resamples: int, rng: Seed, groups: Groups | None) -> Iterator[Floats]:
    """How often each row was drawn, for each replicate; with groups, how often its group was, times its weight."""
    generator = np.random.default_rng(rng)
    rows = max(round(float(weights.sum())), 1)
    for _ in range(n_resamples):
        if groups is None:
            yield generator.multinomial(rows, weights / weights.sum()).astype(np.float64)
        else:
            yield weights * groups.draw(1, generator)[0][groups.codes]
