"""All numbers of a report, computed by the rest of the library; nothing here draws or words.

This is the one place of the report that knows the shape of the data: everything above asks `ReportData`.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from calibrant import _limits, _validation
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.calibrators import registry
from calibrant.comparison import Comparison, MethodFit, compare
from calibrant.comparison.candidates import PANEL, RAW, create, title_of
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics import metric_posterior
from calibrant.metrics.binned import binned
from calibrant.metrics.evaluation import Evaluation, evaluate
from calibrant.metrics.folds import OutOfFold
from calibrant.metrics.verdict import Verdict
from calibrant.reliability.result import Reliability, Table, curve_grid, reliability, table, tabulate_map
from calibrant.report.segments import SegmentResults, judge_segments
from calibrant.report.texts import say
from calibrant.report.wording import short_title
from calibrant.tally import Tally, row_count, to_tally

LEVEL = 0.9
FOLDS = 5
RESAMPLES = 300
CURVE_POINTS = 120  # more would make the page larger and no curve smoother
EFFECT_ROWS, EFFECT_PLACES = 200, np.linspace(0.01, 0.99, 40)  # rows that are averaged, at quantiles of a score
MAP_GROUPS = 40  # of rows, along the average map of several classes
MOST_CORNERS = 100  # of a map, so that few steps are drawn upright
JUDGE = "spline"  # draws every credible band over probabilities, so that no method is its own judge
GROUPED = say("notes", "grouped")


@dataclass(frozen=True)
class Assessment:
    """Probabilities before or after calibration, and how good they are.

    Attributes
    ----------
    predictions : OutOfFold
        Of each row, after calibration by a fit that has not seen it; before and after it in one order.
    sample : ScoreSample
        The same, to be measured: of several classes, of the predicted one.
    evaluation : Evaluation
        Measures with intervals.
    diagram : Reliability
        The reliability diagram with its credible band.
    error : Interval
        How far a probability is from the truth on average: posterior mean and central credible interval.
    """

    predictions: OutOfFold
    sample: Any
    evaluation: Evaluation
    diagram: Reliability
    error: Interval

    @property
    def tally(self) -> Tally:
        """Probabilities and outcomes."""
        return self.sample.tally

    @property
    def mean(self) -> float:
        """The mean of all probabilities."""
        return float(self.tally.scores @ self.tally.totals / self.tally.total)


@dataclass(frozen=True)
class ClassPredictions:
    """Rows of several classes.

    Attributes
    ----------
    names : tuple of str
        The classes, by column.
    labels : ndarray of shape (n,)
        Column numbers.
    weights : ndarray of shape (n,)
        How many rows each counts for.
    before, after : ndarray of shape (n, K)
        Probabilities as they were, and calibrated by fits that have not seen the row.
    """

    names: tuple[str, ...]
    labels: Ints
    weights: Floats
    before: Floats
    after: Floats

    @property
    def predicted(self) -> Ints:
        """The most probable class of each row before calibration."""
        return self.before.argmax(axis=1)

    def tally(self, k: int, side: str) -> Tally:
        """Class `k` against the rest, "before" or "after" calibration, in cells fine enough for a page."""
        column = getattr(self, side)[:, k].clip(0.0, 1.0)
        return Tally.from_arrays(column, self.labels == k, self.weights).coarsen(_limits.SEGMENT_CELLS)

    def mean_map(self) -> Table:
        """What the probability of the predicted class becomes on average, in groups of rows by that probability."""
        at = np.arange(len(self.labels)), self.predicted
        rows = Tally.from_arrays(self.before[at], self.after[at].clip(0.0, 1.0), self.weights, graded=True)
        groups = binned(rows, MAP_GROUPS, "quantile")
        return table(score=groups.score, probability=groups.rate)


@dataclass(frozen=True)
class ReportData:
    """The numbers of a report.

    Attributes
    ----------
    rows : Tally or None
        Raw scores and outcomes; None with several classes or several scores.
    verdict : Verdict
        Whether calibration is needed: that of the comparison, with the size of the error.
    name : str
        The method that the page recommends or was asked to show.
    calibrator : Calibrator
        That method, fitted to all rows.
    before : Assessment or None
        None where the scores are not probabilities.
    after : Assessment
        The chosen method's probabilities, each from a fit that did not see its row.
    map : Table or None
        The fitted map: `score`, `probability`, and `low`, `high` of a band if any. With several classes, what the
        probability of the predicted class becomes on average; None with several scores.
    titles : dict of str to str
        The methods in words.
    comparison : Comparison
        The methods compared.
    segments : SegmentResults or None
        Each segment by itself.
    classes : ClassPredictions or None
        The rows of several classes, before and after.
    notes : tuple of str
        What was left out or warned of.
    top_label : bool
        Whether a row is positive where its predicted class was right.
    level : float
        Of every interval.
    """

    rows: Tally | None
    verdict: Verdict
    name: str
    calibrator: Any
    before: Assessment | None
    after: Assessment
    map: Any
    titles: dict[str, str]
    comparison: Comparison
    segments: SegmentResults | None = None
    classes: ClassPredictions | None = None
    notes: tuple[str, ...] = ()
    top_label: bool = False
    level: float = LEVEL

    @property
    def tally(self) -> Tally:
        """Probabilities and outcomes, as they come."""
        return (self.before or self.after).tally

    @property
    def calibrate(self) -> bool:
        """Whether the page advises to calibrate."""
        return self.verdict.calibrate

    @property
    def assessments(self) -> dict[str, Assessment]:
        """What is shown, before (where scores are probabilities) and after."""
        return ({} if self.before is None else {"before": self.before}) | {"after": self.after}

    def title_of(self, name: str) -> str:
        """The title of a method in a sentence."""
        return short_title(self.titles.get(name, name))

    def effects(self) -> dict[str, tuple[list[Any], list[float]]]:
        """Values of each of several scores, and the mean probability of some rows if all of them had that value."""
        sample: Any = self.comparison.fits[self.name].problem.sample
        some, found = np.unique(np.linspace(0, len(sample.labels) - 1, EFFECT_ROWS).astype(int)), {}
        for name, column in sample.scores.items():
            known = [value for value in column.tolist() if not _validation.is_missing(value)]
            if not known:
                continue
            levels = isinstance(known[0], str)
            values = sorted(set(known)) if levels else np.unique(np.quantile(known, EFFECT_PLACES)).tolist()
            moved = (sample.scores_of(some) | {name: np.full(len(some), value, column.dtype)} for value in values)
            found[name] = (values, [float(self.calibrator.predict_proba(one)[:, 1].mean()) for one in moved])
        return found

    def segments_off(self, side: str) -> list[str]:
        """The names of the segments that are off, `side` being "before" or "after" calibration."""
        segments = self.segments.segments if self.segments is not None else ()
        return [one.name for one in segments if one.off.get(side, False)]


def make_report_data(
    scores: ArrayLike | Tally,
    y: ArrayLike | None = None,
    *,
    classes: Sequence[Any] | None = None,
    segments: Mapping[Any, Tally] | None = None,
    segment_keys: Sequence[str] = ("segment",),
    comparison: Comparison | None = None,
    method: Any = None,
    top_label: bool = False,
    **options: Any,
) -> ReportData:
    """Compute everything that a report shows; the same data give the same numbers.

    Each method is fitted once: predictions and maps are those of the comparison, which runs at most once. The
    `options` are those of `calibrant.compare`: weights, groups, the space of the scores and so on. See `write_report`.

    Examples
    --------
    >>> from calibrant import compare, simulate
    >>> from calibrant.report.data import make_report_data
    >>> data = simulate.from_truth("underconfident", 500)
    >>> comparison = compare(data.scores, data.labels, methods=["platt"])
    >>> numbers = make_report_data(data.scores, data.labels, method="bayes_iso", comparison=comparison)
    >>> numbers.name, numbers.before.error.value > numbers.after.error.value
    ('bayes_iso', True)
    """
    options = {"space": "probability", "level": LEVEL, "cv": FOLDS, **options}
    if comparison is not None and comparison.over_time:
        raise InvalidInputError("`comparison` must have judged every row; one over `time` has not. Leave it out.")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if is_of_rows(scores):
            data = _read_rows(comparison or compare(scores, y, **options), method, classes)
        else:
            data = replace(_read_scores(scores, y, comparison, method, options), top_label=top_label)
        if segments:
            judged = judge_segments(segments, segment_keys, data.calibrator, LEVEL, FOLDS, space=options["space"])
            data = replace(data, segments=judged)
    grouped = [] if options.get("groups") is None else [GROUPED]
    notes = dict.fromkeys([*data.notes, *grouped, *(str(one.message) for one in caught)])
    return replace(data, notes=tuple(notes))


def check_shape(scores: Any, **asked: Any) -> None:
    """Refuse what is offered for one score a row only, where there are several columns."""
    given = [f"`{name}`" for name, value in asked.items() if value is not None and value is not False]
    if given and is_of_rows(scores):
        classes = (
            "a column for each of several classes. Pass the highest score of each row, and whether its class was right."
        )
        got = "several. Pass the probability that a panel makes of them." if isinstance(scores, Mapping) else classes
        raise InvalidInputError(f"{given[0]} is for one score a row; got {got}")


def is_of_rows(scores: Any) -> bool:
    """Whether rows have a column for each of several classes, or several scores."""
    return isinstance(scores, Mapping) or (not isinstance(scores, Tally) and _validation.is_class_matrix(scores))


def assess(predictions: OutOfFold) -> Assessment:
    """Judge probabilities; the curve and the size of the error are those of a Bayesian spline."""
    sample: Any = predictions.sample()
    tally = sample.tally
    judge = registry.create(JUDGE).fit_tally(tally)
    return Assessment(
        predictions=predictions,
        sample=sample,
        evaluation=evaluate(sample, level=LEVEL, n_resamples=RESAMPLES),
        diagram=judged_diagram(judge, tally),
        error=metric_posterior(judge, tally, level=LEVEL),
    )


def judged_diagram(judge: Any, tally: Tally, n_points: int = CURVE_POINTS, name: str | None = None) -> Reliability:
    """A reliability diagram with the curve of a fitted judge."""
    curve = tabulate_map(judge, _thinned(curve_grid(tally, probabilities=True), n_points), LEVEL)
    title = short_title(title_of(judge, JUDGE))
    return replace(reliability(tally, curve=None, level=LEVEL, name=name), curve=curve, curve_name=title)


def _thinned(grid: Floats, n_points: int) -> Floats:
    """Fewer scores, the ends among them."""
    return np.asarray(grid[np.unique(np.linspace(0, len(grid) - 1, n_points).round().astype(int))])


def _read_scores(
    scores: Any, y: Any, comparison: Comparison | None, method: Any, options: Mapping[str, Any]
) -> ReportData:
    tally = to_tally(scores, y, options.get("sample_weight"), options.get("pos_label"))
    if comparison is not None and not np.isclose(comparison.n_rows, tally.total):
        rows = f"it has {row_count(comparison.n_rows)} rows, the tally {row_count(tally.total)}"
        raise InvalidInputError(f"`comparison` must be of the same rows as the report; {rows}.")
    comparison = comparison or compare(scores, y, **options)
    probabilities = options["space"] == "probability"
    cells, name = tally.coarsen(_limits.REPORT_CELLS), choose_name(method, comparison)
    fit, raw = _find_fits(comparison, name, method, (scores, y), options)
    map_ = tabulate_map(fit.fitted, _map_scores(fit.fitted, cells, probabilities=probabilities), LEVEL)
    return _assemble(comparison, name, fit, raw, rows=cells, map=map_)


def _assemble(comparison: Comparison, name: str, fit: Any, raw: Any, **of_shape: Any) -> ReportData:
    """The numbers of a report from the fit of its method and that of the raw score, if any; the rest is the shape's."""
    assessed = None if raw is None else assess(raw.out_of_fold)
    return ReportData(
        verdict=replace(cast("Verdict", comparison.verdict), error=None if assessed is None else assessed.error),
        name=name,
        calibrator=fit.fitted,
        before=assessed,
        after=assess(fit.out_of_fold),
        titles={name: title_of(fit.calibrator, name)} | {one.name: one.title or one.name for one in comparison.results},
        comparison=comparison,
        **of_shape,
    )


def _map_scores(fitted: Any, cells: Tally, *, probabilities: bool) -> Floats:
    """Where to evaluate the map: along the scores that there are, with its corners."""
    grid = _thinned(curve_grid(cells, probabilities=probabilities), CURVE_POINTS)
    knots = fitted.map_.function.knots()
    return np.union1d(grid, knots[(knots > grid[0]) & (knots < grid[-1])]) if len(knots) <= MOST_CORNERS else grid


def choose_name(method: Any, comparison: Comparison) -> str:
    """The method to show: as asked, else as recommended; where that is none, the default or else the best."""
    default = registry.DEFAULT_METHOD
    if method is not None:
        return method if isinstance(method, str) else registry.name_of(method)
    if comparison.recommended != RAW:
        return comparison.recommended
    fits = {one.name: comparison.fits[one.name] for one in comparison.results if one.name in comparison.fits}
    usable = [n for n, fit in fits.items() if n != RAW and not getattr(fit.calibrator, "measures_only", False)]
    return usable[0] if usable and default not in usable else default


def _find_fits(
    comparison: Comparison, name: str, method: Any, rows: tuple[Any, Any], options: Mapping[str, Any]
) -> tuple[MethodFit, MethodFit | None]:
    """The fit of the comparison and the raw score in its folds; a method not compared is fitted by the same rules."""
    by_name = method is None or isinstance(method, str)
    for key, fit in comparison.fits.items():
        if (by_name and key == name) or fit.calibrator is method:
            return fit, comparison.fits.get(RAW)
    calibrator = create(name, space=options["space"]) if by_name else method
    alone = compare(*rows, **{**options, "methods": {name: calibrator}})
    if name not in alone.fits:
        raise InvalidInputError(f"`method` must be one that can be fitted to these rows. {alone.notes[0]}")
    return alone.fits[name], alone.fits.get(RAW)


def _read_rows(comparison: Comparison, method: str | None, classes: Sequence[Any] | None) -> ReportData:
    """The predicted class: its probability before and after, and whether it was right; or several scores together."""
    usable = [one.name for one in comparison.results if one.name in comparison.fits and one.name != RAW]
    if not usable:
        raise InvalidInputError("A report needs a comparison with at least one method that could be fitted.")
    raw = comparison.fits.get(RAW)  # several scores have none; of them a page shows all together
    chosen = method or (PANEL if raw is None else choose_name(None, comparison))
    fit = comparison.fits[_validation.check_choice("method", chosen, usable)]
    if raw is None:
        return _assemble(comparison, chosen, fit, None, rows=None, map=None)
    sample: Any = fit.problem.sample
    first = slice(len(sample.labels))  # of the first repeat; the others predict the same rows again
    rows = ClassPredictions(
        names=tuple(map(str, sample.classes if classes is None else classes)),
        labels=sample.labels,
        weights=sample.weights,
        before=raw.out_of_fold.probabilities[first],
        after=fit.out_of_fold.probabilities[first],
    )
    return _assemble(comparison, chosen, fit, raw, rows=None, map=rows.mean_map(), classes=rows, top_label=True)
