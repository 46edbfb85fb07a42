"""`evaluate`: all that matters about probabilities in one table, proper scores first, with a verdict in words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant._validation import check_choice
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.base import Column, Metric, Rows, Seed, number_repeated
from calibrant.metrics.binned import debiased_calibration_error, expected_calibration_error
from calibrant.metrics.bootstrap import interval_of, reflected
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.direction import slope_of
from calibrant.metrics.hypothesis_tests import ks_calibration_error
from calibrant.metrics.own import as_metric, name_of_metric
from calibrant.metrics.refinement import refinement_of
from calibrant.metrics.resampling import Sample, read_sample
from calibrant.metrics.scores import LOSSES, brier_score, corp_decomposition, log_loss, roc_auc
from calibrant.metrics.table import Estimates, Evaluation, Row
from calibrant.metrics.verdict import Verdict, judge_calibration
from calibrant.tally import Tally

PROPER = "proper scores (lower is better)"
ORDER = "discrimination (higher is better)"
ERROR = "calibration errors (lower is better)"
FOLDS = 5
LINE, TEST, OWN = "calibration line", "test of calibration", "own measures"


class Measure(NamedTuple):
    """A row of the table; without a function it comes from folds, from the calibration line or from the test."""

    key: str
    group: str
    name: str
    function: Metric | None = None
    bounds: tuple[float, float] = (-np.inf, np.inf)
    norm: bool = False  # an error whose square adds up; other measures are means or squares themselves
    of_replicates: Metric | None = None  # what replicates scatter around, where that is not the measure itself


def _miscalibration(tally: Tally) -> float:
    return corp_decomposition(tally).miscalibration


_DEBIASED = partial(debiased_calibration_error, p=1)
_ECE = partial(expected_calibration_error, strategy="quantile")
_UNIT = (0.0, 1.0)
MEASURES = (
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
)


def evaluate(
    y_true: Rows,
    y_prob: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    metrics: Iterable[str | Callable[..., float]] | None = None,
    level: float = 0.9,
    n_resamples: int = 300,
    groups: ArrayLike | None = None,
    rng: Seed = 0,
    sample_weight: Column = None,
    pos_label: Any = None,
) -> Evaluation:
    """One table of a model's probabilities, or of several models side by side.

    Proper scores come first, because only they reward the true probability. Calibration errors follow with bootstrap
    intervals. A sentence says whether Kuiper's test finds an error, and another warns where calibration errors and
    proper scores prefer different models.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,) or (n, K), or dict of them
        Probabilities of the positive class, or a column for each of three or more classes (see `evaluate_matrix`);
        with several models, a dict of name to probabilities.
    metrics : iterable of str and callable, optional
        The measures to show; by default all. A name is a key of the table, such as "log_loss" or "ece". A callable
        takes a tally, or labels and probabilities (and `sample_weight`, if it has that argument), and returns a
        number; its row has its name.
    level : float
        Confidence level of the intervals.
    n_resamples : int
        Number of bootstrap replicates.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient, a match or a day. Rows of one group are resampled together, and the
        slope, the intercept and Kuiper's test allow for their dependence too. It takes some twenty groups at least.
    rng : int, numpy.random.Generator or None
        The seed or generator; the same seed gives the same table.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

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
    """
    _validation.check_level(level)
    given = y_prob if isinstance(y_prob, Mapping) else {"model": y_prob}
    if not given:
        raise InvalidInputError("`y_prob` must name at least one model; the dict is empty.")
    if any(p is not None and _validation.is_class_matrix(p) for p in given.values()):
        from calibrant.metrics.matrix_evaluation import evaluate_matrix

        how: dict[str, Any] = {"level": level, "groups": groups, "rng": rng, "sample_weight": sample_weight}
        return evaluate_matrix(y_true, y_prob, **how)  # type: ignore[arg-type]
    samples = {str(name): read_sample(y_true, p, sample_weight, pos_label, groups) for name, p in given.items()}
    measures = _select(metrics)
    columns, verdicts, remarks = [], [], []
    for name, sample in samples.items():
        column, missing = _column(sample, measures, level, n_resamples, rng)
        verdict = judge_calibration(sample.tally, error=column.get("debiased"), rows=sample.rows)
        if verdict.p_value is not None:
            column["kuiper_p_value"] = verdict.p_value
        columns.append(column)
        verdicts.append(verdict)
        prefix = f"{name}: " if len(samples) > 1 else ""
        remarks += [prefix + text for text in [_sentence(verdict, column), *missing]]
    one = next(iter(samples.values()))
    remarks = _conflicts(list(samples), columns) + remarks + one.remarks
    first = one.tally
    rows = tuple(Row(m.key, m.group, m.name, tuple(c.get(m.key) for c in columns)) for m in measures)
    rows = tuple(row for row in rows if any(estimate is not None for estimate in row.estimates))
    return Evaluation(tuple(samples), rows, first.total, first.base_rate, level, tuple(remarks), tuple(verdicts))


def _select(metrics: Iterable[str | Callable[..., float]] | None) -> list[Measure]:
    """The measures in the order of the table, those of the user last."""
    if metrics is None:
        return list(MEASURES)
    given = [metrics] if isinstance(metrics, str) or callable(metrics) else list(metrics)
    keys = [check_choice("metrics", one, [m.key for m in MEASURES]) for one in given if not callable(one)]
    own = [one for one in given if callable(one)]
    names = number_repeated(name_of_metric(one) for one in own)
    return [m for m in MEASURES if m.key in keys] + [
        Measure(name, OWN, name, as_metric(one)) for name, one in zip(names, own, strict=True)
    ]


def _column(
    sample: Sample, measures: Sequence[Measure], level: float, n_resamples: int, rng: Seed
) -> tuple[dict[str, Any], list[str]]:
    """All estimates of one model, from one set of replicates; and what could not be computed, with the reason."""
    column: dict[str, Any] = {}
    missing: list[str] = []
    computed = []
    for measure in measures:
        value = _attempt(partial(measure.function, sample.tally), missing) if measure.function is not None else None
        if measure.function is not None and value is not None:
            computed.append((measure, measure.function, float(value)))
    replicates = sample.replicates(n_resamples, rng)
    draws = np.array([[function(one) for _, function, _ in computed] for one in replicates])
    for (measure, function, value), own in zip(computed, draws.T, strict=True):
        centre = (measure.of_replicates or function)(sample.cells)
        plausible = reflected(own, value, centre, "squared" if measure.norm else "basic")
        column[measure.key] = interval_of(value, sample.widen(plausible, value, level), level, measure.bounds)
    if {"refinement", "recalibration"} & {measure.key for measure in measures}:
        parts = _attempt(partial(refinement_of, sample, LOSSES["brier"], FOLDS, level), [])
        column |= {"refinement": parts.refinement, "recalibration": parts.calibration} if parts is not None else {}
    if {"slope", "intercept"} & {measure.key for measure in measures}:
        line = _attempt(partial(slope_of, sample, level), missing)
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
