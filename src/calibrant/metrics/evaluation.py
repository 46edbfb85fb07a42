"""`evaluate`: all that matters about probabilities in one table, proper scores first, with a verdict in words."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from calibrant import _validation
from calibrant._tables import Table, TableResult, make_frame
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval, plain
from calibrant.metrics.binned import debiased_calibration_error, expected_calibration_error
from calibrant.metrics.bootstrap import interval_of, reflected
from calibrant.metrics.cumulative import ks_calibration_error
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.decomposition import corp_decomposition, refinement_by_recalibration
from calibrant.metrics.multiclass import class_wise_calibration_error, top_label_calibration_error
from calibrant.metrics.samples import ClassSample, Column, Metric, ScoreSample, Seed, describe_rows, read_problem
from calibrant.metrics.scores import brier_score, log_loss, mean_of, roc_auc
from calibrant.metrics.validation import calibration_slope
from calibrant.metrics.verdict import Verdict, judge_calibration
from calibrant.tally import Tally

Estimate = Interval | float | None
Estimates = Mapping[str, Interval | float]


class MeasureRow(NamedTuple):
    """One measure of every model."""

    key: str
    group: str
    name: str
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True, repr=False)
class Evaluation(TableResult):
    """A table of measures; print it, show it in a notebook, or look values up by key.

    Attributes
    ----------
    models : tuple of str
        Names of the models, in the order of the columns.
    rows : tuple of MeasureRow
        The measures, proper scores first.
    n_rows, base_rate, level : float
        (Weighted) number of rows, share of positives (of the most frequent class, where there are several), and level
        of the intervals.
    remarks : tuple of str
        What the numbers mean, and what could not be computed.
    verdicts : tuple of Verdict
        Whether each model needs calibration, as far as a test can tell.
    n_classes : int
        Two or more.

    Examples
    --------
    >>> import calibrant
    >>> from calibrant import simulate
    >>> data = simulate.from_truth("underconfident", 1000)
    >>> table = calibrant.evaluate(data.labels, data.scores)
    >>> table["log_loss"].value < 0.52, len(table.remarks)
    (True, 1)
    """

    models: tuple[str, ...]
    rows: tuple[MeasureRow, ...]
    n_rows: float
    base_rate: float
    level: float
    remarks: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    n_classes: int = 2

    @property
    def verdict(self) -> Verdict:
        """The verdict on the first model."""
        return self.verdicts[0]

    def __getitem__(self, key: str) -> Any:
        """The estimate of a measure: an `Interval` or a p-value; with several models a dict of them by name."""
        _validation.check_choice("key", key, [row.key for row in self.rows])
        estimates = next(row.estimates for row in self.rows if row.key == key)
        return estimates[0] if len(self.models) == 1 else dict(zip(self.models, estimates, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "n_rows": self.n_rows,
            "base_rate": self.base_rate,
            "level": self.level,
            "models": {
                name: {row.key: plain(row.estimates[i]) for row in self.rows} for i, name in enumerate(self.models)
            },
            "verdicts": {n: v.to_dict() for n, v in zip(self.models, self.verdicts, strict=True)},
            "remarks": list(self.remarks),
        }

    def to_frame(self) -> Any:
        """A pandas data frame: for each model and measure its value and the ends of its interval."""
        return make_frame(
            [
                {"model": name, "measure": row.key, "group": row.group, "name": row.name} | _value(row.estimates[i])
                for i, name in enumerate(self.models)
                for row in self.rows
            ]
        )

    def __repr__(self) -> str:
        return f"Evaluation({', '.join(self.models)}: {self.table().caption})"

    def table(self) -> Table:
        """The texts of the table; one model that was not named stands without a name."""
        names = [""] if self.models == ("model",) else self.models
        rows = [[row.name, *map(_text, row.estimates)] for row in self.rows]
        described = describe_rows(self.n_rows, self.base_rate, self.n_classes)
        caption = f"{described}; {100 * self.level:g} % intervals in brackets"
        return Table(caption, ["", *names], [row.group for row in self.rows], rows)


def _text(estimate: Estimate) -> str:
    if estimate is None:
        return "–"
    if isinstance(estimate, Interval):
        return str(estimate)
    return f"{estimate:.3f}" if estimate >= 0.001 else "< 0.001"


def _value(estimate: Estimate) -> dict[str, Any]:
    return estimate.to_dict() if isinstance(estimate, Interval) else {"value": estimate}


PROPER = "proper scores (lower is better)"
ORDER = "discrimination (higher is better)"
ERROR = "calibration errors (lower is better; intervals leave out what chance adds to the values)"
LINE, TEST, USER = "calibration line", "test of calibration", "metrics of the user"
FOLDS = 5
RESAMPLES = {"score": 300, "matrix": 100}  # a replicate of a matrix costs the more


class Measure(NamedTuple):
    """A row of the table; without a function it comes from folds, from the calibration line or from the test."""

    key: str
    group: str
    name: str
    function: Callable[[Any], float] | None = None  # of a tally, or of the sample of a matrix
    bounds: tuple[float, float] = (-np.inf, np.inf)
    norm: bool = False  # an error whose square adds up; other measures are means or squares themselves
    of_replicates: Metric | None = None  # what replicates scatter around, where that is not the measure itself


def _miscalibration(tally: Tally) -> float:
    return corp_decomposition(tally).miscalibration


def _accuracy(sample: ClassSample) -> float:
    return sample.mean(sample.probabilities.argmax(axis=1) == sample.labels)


_DEBIASED = partial(debiased_calibration_error, p=1)
_ECE = partial(expected_calibration_error, strategy="quantile")
_TOP_ECE, _TOP_SMOOTH = (partial(top_label_calibration_error, metric=m) for m in (_ECE, smooth_calibration_error))
_CLASS_ECE = partial(class_wise_calibration_error, metric=_ECE)
_UNIT = (0.0, 1.0)
MEASURES = {
    "score": (
        Measure("log_loss", PROPER, "log-loss", log_loss, (0.0, np.inf)),
        Measure("brier_score", PROPER, "Brier score", brier_score, _UNIT),
        Measure("refinement", PROPER, "Brier score after recalibration (refinement)"),
        Measure("roc_auc", ORDER, "area under the ROC curve", roc_auc, _UNIT),
        Measure("miscalibration", ERROR, "miscalibration part of the Brier score (CORP)", _miscalibration, _UNIT),
        Measure("recalibration", ERROR, "Brier score saved by recalibration, rows not seen"),
        Measure("ece", ERROR, "ECE, 15 bins of equal mass", _ECE, _UNIT, norm=True),
        Measure("debiased", ERROR, "debiased ECE, 15 bins of equal mass", _DEBIASED, (-1.0, 1.0), of_replicates=_ECE),
        Measure("smooth", ERROR, "SmoothECE", smooth_calibration_error, _UNIT, norm=True),
        Measure("ks", ERROR, "largest cumulative gap (KS)", ks_calibration_error, _UNIT, norm=True),
        Measure("slope", LINE, "slope (1 is right, below 1 too extreme)"),
        Measure("intercept", LINE, "intercept (0 is right, below 0 too high)"),
        Measure("kuiper_p_value", TEST, "p-value of Kuiper's test"),
    ),
    "matrix": (
        Measure("log_loss", PROPER, "log-loss", partial(mean_of, "log"), (0.0, np.inf)),
        Measure("brier_score", PROPER, "Brier score, all classes", partial(mean_of, "brier"), (0.0, 2.0)),
        Measure("accuracy", ORDER, "accuracy", _accuracy, _UNIT),
        Measure("top_label_ece", ERROR, "top-label ECE, 15 bins of equal mass", _TOP_ECE, _UNIT, norm=True),
        Measure("top_label_smooth", ERROR, "top-label SmoothECE", _TOP_SMOOTH, _UNIT, norm=True),
        Measure("class_wise_ece", ERROR, "class-wise ECE, 15 bins of equal mass", _CLASS_ECE, _UNIT, norm=True),
        Measure("full_calibration_p_value", TEST, "p-value of the test of full calibration"),
    ),
}


def evaluate(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    metrics: Iterable[str | Callable[..., float]] | None = None,
    level: float = 0.9,
    n_resamples: int | None = None,
    groups: ArrayLike | None = None,
    rng: Seed = 0,
    sample_weight: Column = None,
    pos_label: Any = None,
) -> Evaluation:
    """One table of a model's probabilities, or of several models side by side.

    Proper scores come first, because only they reward the true probability. Calibration errors follow with bootstrap
    intervals; of several classes those of the predicted class and of each class against the rest. A sentence says
    whether a test finds an error, and another warns where calibration errors and proper scores prefer different models.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data. With several classes the columns belong to the sorted labels, or,
        where some have no rows, to 0 … K − 1.
    y_prob : array-like of shape (n,) or (n, K), or dict of them
        Probabilities of the positive class, or a column for each of three or more classes; with several models, a dict
        of name to probabilities.
    metrics : iterable of str and callable, optional
        The measures to show; by default all. A name is a key of the table, such as "log_loss" or "ece". A callable
        takes a tally, or labels and probabilities (and `sample_weight`, if it has that argument), and returns a
        number; its row has its name. With several classes it takes labels and the matrix.
    level : float
        Confidence level of the intervals.
    n_resamples : int, optional
        Number of bootstrap replicates; by default 300, and 100 with several classes.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient, a match or a day. Rows of one group are resampled together, and the
        slope, the intercept and Kuiper's test allow for their dependence too. It takes some twenty groups at least.
        The test of full calibration needs independent rows, so it is left out.
    rng : int, numpy.random.Generator or None
        The seed or generator; the same seed gives the same table.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive one of two classes, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import calibrant
    >>> from calibrant import simulate
    >>> data = simulate.from_truth("underconfident", 3000)
    >>> table = calibrant.evaluate(data.labels, data.scores)
    >>> round(table["brier_score"].value, 3), table["ece"].low > 0.05
    (0.159, True)
    >>> print(table.remarks[0])
    Miscalibrated beyond chance (Kuiper's test, p < 0.001). A monotone map would lower the Brier score by up to 0.0161.
    >>> def worst_miss(tally):
    ...     return max(abs(tally.scores - (tally.positives > 0)))
    >>> calibrant.evaluate(data.labels, data.scores, metrics=["log_loss", worst_miss])["worst_miss"].value <= 1
    True
    >>> matrix = [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]] * 9
    >>> calibrant.evaluate([0, 1, 2] * 9, matrix)["accuracy"].value
    1.0
    """
    _validation.check_level(level)
    given = y_prob if isinstance(y_prob, Mapping) else {"model": y_prob}
    if not given:
        raise InvalidInputError("`y_prob` must name at least one model; the dict is empty.")
    samples = {}
    for name, p in given.items():
        names = ("y_true", "y_prob" if len(given) == 1 else str(name))
        samples[str(name)] = read_problem(y_true, p, sample_weight, pos_label, groups, names=names)
    first = next(iter(samples.values()))
    if any(sample.n_classes != first.n_classes for sample in samples.values()):
        raise InvalidInputError("`y_prob` must have the same number of columns for all models.")
    measures = _select(metrics, first.shape)
    resamples = RESAMPLES[first.shape] if n_resamples is None else n_resamples
    columns, verdicts, remarks = [], [], []
    for name, sample in samples.items():
        column, missing = _column(sample, measures, level, resamples, rng)
        verdict = judge_calibration(sample, error=column.get("debiased"), rng=rng)
        if verdict.p_value is not None:
            column[MEASURES[sample.shape][-1].key] = verdict.p_value
        columns.append(column)
        verdicts.append(verdict)
        prefix = f"{name}: " if len(samples) > 1 else ""
        remarks += [prefix + text for text in [_sentence(verdict, column), *missing]]
    remarks = _conflicts(list(samples), columns) + remarks + first.remarks
    rows = [MeasureRow(m.key, m.group, m.name, tuple(c.get(m.key) for c in columns)) for m in measures]
    return Evaluation(
        models=tuple(samples),
        rows=tuple(row for row in rows if any(estimate is not None for estimate in row.estimates)),
        n_rows=first.n_rows,
        base_rate=first.base_rate,
        level=level,
        remarks=tuple(remarks),
        verdicts=tuple(verdicts),
        n_classes=first.n_classes,
    )


def _select(metrics: Iterable[str | Callable[..., float]] | None, shape: str) -> list[Measure]:
    """The measures in the order of the table, those of the user last."""
    known = MEASURES[shape]
    if metrics is None:
        return list(known)
    given = [metrics] if isinstance(metrics, str) or callable(metrics) else list(metrics)
    keys = [_validation.check_choice("metrics", key, [m.key for m in known]) for key in given if not callable(key)]
    functions = [function for function in given if callable(function)]
    names = number_repeated(map(name_of_metric, functions))
    return [m for m in known if m.key in keys] + [
        Measure(name, USER, name, as_metric(function, shape)) for name, function in zip(names, functions, strict=True)
    ]


def _column(
    sample: ScoreSample | ClassSample, measures: Sequence[Measure], level: float, n_resamples: int, rng: Seed
) -> tuple[dict[str, Any], list[str]]:
    """All estimates of one model, from one set of replicates; and what could not be computed, with the reason."""
    column: dict[str, Any] = {}
    missing: list[str] = []
    computed = []
    for measure in measures:
        value = None if measure.function is None else _attempt(partial(measure.function, sample.data), missing)
        if measure.function is not None and value is not None:
            computed.append((measure, measure.function, float(value)))
    replicates = sample.replicates(n_resamples, rng)
    draws = np.array([[function(replicate) for _, function, _ in computed] for replicate in replicates])
    for (measure, function, value), draws_of_measure in zip(computed, draws.T, strict=True):
        centred: Callable[[Any], float] = measure.of_replicates or function
        centre = centred(sample.cells)
        plausible = reflected(draws_of_measure, value, centre, "squared" if measure.norm else "basic")
        column[measure.key] = interval_of(value, sample.widen(plausible, value, level), level, measure.bounds)
    keys = {measure.key for measure in measures}
    if isinstance(sample, ScoreSample) and {"refinement", "recalibration"} & keys:
        parts = _attempt(partial(refinement_by_recalibration, sample, loss="brier", cv=FOLDS, level=level), [])
        column |= {"refinement": parts.refinement, "recalibration": parts.calibration} if parts is not None else {}
    if isinstance(sample, ScoreSample) and {"slope", "intercept"} & keys:
        line = _attempt(partial(calibration_slope, sample, level=level), missing)
        column |= {"slope": line.slope, "intercept": line.intercept} if line is not None else {}
    return column, missing


def _attempt(task: Callable[[], Any], missing: list[str]) -> Any:
    """The value, or None with the reason noted, where the metric has none for these data."""
    try:
        return task()
    except InvalidInputError as error:
        missing.append(str(error))
        return None


def _sentence(verdict: Verdict, column: Estimates) -> str:
    """The verdict, and what recalibration could bring or where to look for it."""
    if verdict.state == "no_evidence":
        return f"{verdict} Use `calibrant.compare` to see whether a method would still lower the log-loss."
    cost = column.get("miscalibration")
    if verdict.state == "miscalibrated" and isinstance(cost, Interval):
        return f"{verdict} A monotone map would lower the Brier score by up to {cost.value:.4f}."
    return str(verdict)


def _conflicts(names: Sequence[str], columns: Sequence[Estimates]) -> list[str]:
    """A warning where calibration error and proper scores prefer different models."""
    best = {}
    for key in ("log_loss", "brier_score", "ece"):
        values = [estimate.value for column in columns if isinstance(estimate := column.get(key), Interval)]
        if len(values) == len(names):
            best[key] = names[int(np.argmin(values))]
    proper = {best[key] for key in ("log_loss", "brier_score") if key in best}
    if not proper or "ece" not in best or best["ece"] in proper:
        return []
    text = (
        f"ECE prefers {best['ece']}, but the proper scores (log-loss, Brier) prefer {' and '.join(sorted(proper))}. "
        "Trust the proper scores: a low ECE can come from scores that say little."
    )
    return [text]


def as_metric(function: Callable[..., float], shape: str = "score") -> Callable[[Any], float]:
    """Return a metric of a tally, or of the sample of a matrix, from a function of it or of labels and probabilities.

    The number of arguments that must be given tells which of the two it is. Labels and probabilities come with
    `sample_weight` if the function has that argument; otherwise each row is repeated as often as it was counted.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.metrics.evaluation import as_metric
    >>> tally = Tally.from_arrays([0.2, 0.2, 0.9], [0, 1, 1])
    >>> as_metric(lambda y_true, y_prob: abs(y_true - y_prob).max())(tally)
    0.8
    """
    parameters = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in kinds and p.default is p.empty]
    # scikit-learn 1.6 makes the probabilities of `brier_score_loss` optional, for the sake of their older name.
    of_rows = len(needed) == 2 or [p.name for p in needed] == ["y_true"]
    if of_rows:
        unpack = _tally_rows if shape == "score" else _class_rows
        weighted = any(p.name == "sample_weight" for p in parameters)
        return lambda data: _call(function, *unpack(data), weighted=weighted)
    if len(needed) == 1 and shape == "score":
        return function
    kinds_taken = "functions of a tally, or of labels and probabilities"
    if shape != "score":
        kinds_taken = "functions of labels and of a matrix of probabilities, since these rows have several classes"
    raise InvalidInputError(
        f"`metrics` must be {kinds_taken}; {name_of_metric(function)} takes {len(needed)} "
        f"argument{'' if len(needed) == 1 else 's'}."
    )


def name_of_metric(function: Any) -> str:
    """Return the name of a function, also of one whose options were fixed by ``functools.partial``."""
    inner = function.func if isinstance(function, partial) else function
    return str(getattr(inner, "__name__", type(inner).__name__))


def _tally_rows(tally: Tally) -> tuple[Ints, Floats, Floats]:
    """Labels, scores and counts of rows that are alike."""
    labels, scores = np.repeat([1, 0], len(tally)), np.tile(tally.scores, 2)
    counts = np.concatenate((tally.positives, tally.negatives))
    filled = counts > 0.0
    return labels[filled], scores[filled], counts[filled]


def _class_rows(sample: ClassSample) -> tuple[Any, Floats, Floats]:
    return sample.classes[sample.labels], sample.probabilities, sample.weights


def _call(function: Callable[..., float], labels: Any, scores: Floats, counts: Floats, *, weighted: bool) -> float:
    if weighted:
        return float(function(labels, scores, sample_weight=counts))
    rows = np.rint(counts).astype(np.int64)
    if not np.array_equal(rows, counts):
        name = name_of_metric(function)
        raise InvalidInputError(f"{name} takes no `sample_weight`, so the weights must be whole numbers of rows.")
    return float(function(np.repeat(labels, rows), np.repeat(scores, rows, axis=0)))


def number_repeated(names: Iterable[str]) -> list[str]:
    """The names, with a number behind each that occurred before: "platt", "platt 2"."""
    given = list(names)
    repeats = [given[:i].count(name) for i, name in enumerate(given)]
    return [f"{name} {before + 1}" if before else name for name, before in zip(given, repeats, strict=True)]
