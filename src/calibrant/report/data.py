"""All numbers of a report, computed by the rest of the library; nothing here draws or words.

This is the one place of the report that knows the shape of the data: everything above asks `ReportData`.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from calibrant import _limits, _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.calibrators import registry
from calibrant.comparison import Comparison, MethodFit, compare
from calibrant.comparison.candidates import RAW, create, title_of
from calibrant.comparison.problems import ScoreProblem
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics import metric_posterior
from calibrant.metrics.evaluation import evaluate
from calibrant.metrics.evaluation_table import Evaluation
from calibrant.metrics.samples import ScoreSample
from calibrant.metrics.verdict import Verdict, judge_calibration
from calibrant.reliability.result import Reliability, reliability
from calibrant.reliability.tables import Table, curve_grid, tabulate_map
from calibrant.report.classes import ClassPredictions
from calibrant.report.segments import SegmentResults, judge_segments
from calibrant.report.wording import sentence_case, short_title
from calibrant.tally import Tally, row_count, to_tally

LEVEL = 0.9
FOLDS = 5
RESAMPLES = 300
CURVE_POINTS = 120  # more would make the page larger and no curve smoother
MOST_CORNERS = 100  # of a map, so that few steps are drawn upright
JUDGE = "spline"  # draws every credible band over probabilities, so that no method is its own judge


@dataclass(frozen=True)
class Assessment:
    """Probabilities before or after calibration, and how good they are.

    Attributes
    ----------
    tally : Tally
        Probabilities and outcomes.
    evaluation : Evaluation
        Measures with intervals.
    linear, logit : Reliability
        The diagram with its credible band, on even and on stretched axes.
    error : Interval
        How far a probability is from the truth on average: posterior mean and central credible interval.
    """

    tally: Tally
    evaluation: Evaluation
    linear: Reliability
    logit: Reliability
    error: Interval

    @property
    def mean(self) -> float:
        """The mean of all probabilities."""
        return float(self.tally.scores @ self.tally.totals / self.tally.total)


@dataclass(frozen=True)
class ReportData:
    """The numbers of a report.

    Attributes
    ----------
    rows : Tally or None
        Raw scores and outcomes; None with several classes.
    total, base_rate, level : float
        Rows, share of positives, and level of every interval. With several classes a row is positive where the
        predicted class was right.
    verdict : Verdict
        Whether calibration is needed: that of the comparison, with the size of the error.
    name : str
        The method that the page recommends or was asked to show.
    calibrator : Calibrator
        That method, fitted to all rows.
    before : Assessment or None
        None where the scores are not probabilities.
    after : Assessment
        The chosen method's probabilities.
    unseen : bool
        Whether `after` is cross-fitted, so that each row's probability comes from a fit that did not see it. False
        where a class has too few rows to hold some back; `after` then flatters the method.
    map : Table
        The fitted map: `score`, `probability`, and `low`, `high` of a band if any. With several classes, what the
        probability of the predicted class becomes on average.
    titles : dict of str to str
        The methods in words.
    comparison : Comparison or None
        None where the data are too few, with the reason among the notes.
    segments : SegmentResults or None
        Each segment by itself.
    classes : ClassPredictions or None
        The rows of several classes, before and after.
    notes : tuple of str
        What was left out or warned of.
    top_label : bool
        Whether a row is positive where its predicted class was right.
    """

    rows: Tally | None
    total: float
    base_rate: float
    level: float
    verdict: Verdict
    name: str
    calibrator: Any
    before: Assessment | None
    after: Assessment
    unseen: bool
    map: Table
    titles: dict[str, str]
    comparison: Comparison | None
    segments: SegmentResults | None = None
    classes: ClassPredictions | None = None
    notes: tuple[str, ...] = ()
    top_label: bool = False

    @property
    def calibrate(self) -> bool:
        """Whether the page advises to calibrate."""
        return self.comparison is not None and self.verdict.calibrate

    @property
    def one_outcome(self) -> bool:
        """Whether all rows turned out the same."""
        return self.base_rate in (0.0, 1.0)

    @property
    def assessments(self) -> dict[str, Assessment]:
        """What is shown, before and after; rows of one outcome show no calibration, which they cannot judge."""
        after = None if self.one_outcome and self.before is not None else self.after
        return {name: one for name, one in (("before", self.before), ("after", after)) if one is not None}

    def title_of(self, name: str) -> str:
        """The title of a method in a sentence."""
        return short_title(self.titles.get(name, name))

    def segments_off(self, side: str) -> list[str]:
        """The names of the segments that are off, `side` being "before" or "after" calibration."""
        segments = self.segments.segments if self.segments is not None else ()
        return [one.name for one in segments if one.off.get(side, False)]


class Predictions(NamedTuple):
    """What depends on the shape of the data: the method shown, probabilities before and after, and the map."""

    comparison: Comparison | None
    verdict: Verdict
    name: str
    fit: Any
    rows: Tally | None
    before: Tally | None
    after: Tally
    map: Table
    classes: ClassPredictions | None = None
    notes: tuple[str, ...] = ()


def make_report_data(
    scores: ArrayLike | Tally,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    space: str = "probability",
    classes: Sequence[Any] | None = None,
    segments: Mapping[Any, Tally] | None = None,
    segment_keys: Sequence[str] = ("segment",),
    comparison: Comparison | None = None,
    methods: Any = None,
    method: Any = None,
    top_label: bool = False,
    progress: Callable[[str], object] | None = None,
) -> ReportData:
    """Compute everything that a report shows; the same data give the same numbers. See `write_report`.

    Each method is fitted once: predictions and maps are those of the comparison, which runs at most once.

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
    how: dict[str, Any] = {"methods": methods, "space": space, "level": LEVEL, "cv": FOLDS, "progress": progress}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        several = not isinstance(scores, Tally) and _validation.is_class_matrix(scores)
        if not isinstance(scores, Tally) and several:
            _check_class_options(segments, top_label=top_label)
            comparison = comparison or compare(scores, y, sample_weight=sample_weight, **how)
            shown = _read_classes(comparison, method, classes)
        else:
            tally = to_tally(scores, y, sample_weight, pos_label)
            shown = _read_scores(tally, comparison, method, how)
        numbers = _compute(shown, top_label=top_label or several)
        if segments:
            judged = judge_segments(segments, segment_keys, shown.fit.calibrator, LEVEL, FOLDS)
            numbers = replace(numbers, segments=judged)
    return replace(numbers, notes=tuple(dict.fromkeys([*shown.notes, *(str(one.message) for one in caught)])))


def _compute(shown: Predictions, *, top_label: bool) -> ReportData:
    before = None if shown.before is None else assess(shown.before)
    first = shown.after if shown.before is None else shown.before
    results = shown.comparison.results if shown.comparison is not None else ()
    return ReportData(
        rows=shown.rows,
        total=first.total,
        base_rate=first.base_rate,
        level=LEVEL,
        verdict=replace(shown.verdict, error=before.error if before is not None else None),
        name=shown.name,
        calibrator=shown.fit.fitted,
        before=before,
        after=assess(shown.after),
        unseen=shown.fit.out_of_fold is not None,
        map=shown.map,
        titles={shown.name: title_of(shown.fit.calibrator, shown.name)}
        | {one.name: one.title or one.name for one in results},
        comparison=shown.comparison,
        classes=shown.classes,
        top_label=top_label,
    )


def assess(tally: Tally) -> Assessment:
    """Judge probabilities; the curve and the size of the error are those of a Bayesian spline."""
    judge = registry.create(JUDGE).fit_tally(tally)
    curve, name = judge_curve(judge, tally), short_title(title_of(judge, JUDGE))
    linear, logit = (
        replace(reliability(tally, curve=None, level=LEVEL, scale=scale), curve=curve, curve_name=name)
        for scale in ("linear", "logit")
    )
    return Assessment(
        tally=tally,
        evaluation=evaluate(tally, level=LEVEL, n_resamples=RESAMPLES),
        linear=linear,
        logit=logit,
        error=metric_posterior(judge, tally, level=LEVEL),
    )


def judge_curve(judge: Any, tally: Tally, n_points: int = CURVE_POINTS) -> Table:
    """The curve of a fitted judge along the scores of a tally, the ends among its points."""
    return tabulate_map(judge, thinned(curve_grid(tally, probabilities=True), n_points), LEVEL)


def thinned(grid: Floats, n_points: int) -> Floats:
    """Fewer scores, the ends among them."""
    return np.asarray(grid[np.unique(np.linspace(0, len(grid) - 1, n_points).round().astype(int))])


def _read_scores(tally: Tally, comparison: Comparison | None, method: Any, how: Mapping[str, Any]) -> Predictions:
    if tally.total < 2.0:
        raise InvalidInputError(
            f"A report needs at least 2 rows; the rows of this tally add up to {row_count(tally.total)}."
        )
    space = _validation.check_choice("space", how["space"], _validation.SPACES)
    if space == "probability":
        _validation.check_unit_interval(tally.scores, "scores")
    if comparison is not None and not np.isclose(comparison.n_rows, tally.total):
        raise InvalidInputError(
            f"`comparison` must be of the same rows as the report; it has {row_count(comparison.n_rows)} rows, the "
            f"tally {row_count(tally.total)}."
        )
    notes = []
    if comparison is None:
        try:
            comparison = compare(tally, **how)
        except InvalidInputError as error:
            notes.append(f"Methods are not compared. {error}")
    cells, probabilities = tally.coarsen(_limits.REPORT_CELLS), space == "probability"
    name = choose_name(method, comparison, registry.DEFAULT_METHOD)
    fit = _find_fit(tally, name, method, comparison, space)
    if fit.out_of_fold is None:
        title = sentence_case(short_title(title_of(fit.calibrator, name)))
        notes.append(f"{title} is judged on the rows that it was fitted to: one class has too few to hold back.")
    verdict = comparison.verdict if comparison is not None else None
    return Predictions(
        comparison=comparison,
        verdict=verdict or judge_calibration(tally),
        name=name,
        fit=fit,
        rows=cells,
        before=cells if probabilities else None,
        after=fit.out_of_fold.tally() if fit.out_of_fold else cells.rescored(fit.fitted.predict(cells.scores)),
        map=tabulate_map(fit.fitted, _map_scores(fit.fitted, cells, probabilities=probabilities), LEVEL),
        notes=tuple(notes),
    )


def _map_scores(fitted: Any, cells: Tally, *, probabilities: bool) -> Floats:
    """Where to evaluate the map: along the scores that there are, with its corners."""
    grid = thinned(curve_grid(cells, probabilities=probabilities), CURVE_POINTS)
    knots = fitted.map_.function.knots()
    return np.union1d(grid, knots[(knots > grid[0]) & (knots < grid[-1])]) if len(knots) <= MOST_CORNERS else grid


def choose_name(method: Any, comparison: Comparison | None, default: str) -> str:
    """The method to show: as asked, else as recommended; where that is none, the default or else the best."""
    if method is not None:
        return method if isinstance(method, str) else registry.name_of(method)
    if comparison is None or not comparison.fits:
        return default
    if comparison.recommended != RAW:
        return comparison.recommended
    fits = {one.name: comparison.fits[one.name] for one in comparison.results if one.name in comparison.fits}
    usable = [n for n, fit in fits.items() if n != RAW and not getattr(fit.calibrator, "measures_only", False)]
    return usable[0] if usable and default not in usable else default


def _find_fit(tally: Tally, name: str, method: Any, comparison: Comparison | None, space: str) -> MethodFit:
    """The fit of the comparison; a method that was not compared is fitted by the same rules."""
    by_name = method is None or isinstance(method, str)
    for key, fit in (comparison.fits if comparison is not None else {}).items():
        if (by_name and key == name) or fit.calibrator is method:
            return fit
    calibrator = create(name, space=space) if by_name else method
    alone = None
    if comparison is not None:
        alone = compare(tally, methods={name: calibrator}, space=space, level=LEVEL, cv=FOLDS).fits.get(name)
    return alone or MethodFit(calibrator, None, ScoreProblem(ScoreSample(tally, space=space)))


def _check_class_options(segments: Mapping[Any, Tally] | None, *, top_label: bool) -> None:
    if segments or top_label:
        raise InvalidInputError(
            "`segments` and `top_label` are for one score a row; got a column for each of several classes. Pass the "
            "highest score of each row, and whether its class was right."
        )


def _read_classes(comparison: Comparison, method: str | None, classes: Sequence[Any] | None) -> Predictions:
    """The predicted class: its probability before and after, and whether it was right."""
    usable = [one.name for one in comparison.results if one.name in comparison.fits and one.name != RAW]
    if not usable or comparison.verdict is None:
        raise InvalidInputError("A report needs a comparison with at least one method that could be fitted.")
    if method is not None and method not in usable:
        raise InvalidInputError(f"`method` must be one of the methods compared, {', '.join(usable)}; got {method!r}.")
    name = choose_name(method, comparison, registry.DEFAULT_METHOD)
    rows = ClassPredictions.read(comparison, name, classes)
    return Predictions(
        comparison=comparison,
        verdict=comparison.verdict,
        name=name,
        fit=comparison.fits[name],
        rows=None,
        before=rows.top_label("before"),
        after=rows.top_label("after"),
        map=rows.mean_map(),
        classes=rows,
    )
