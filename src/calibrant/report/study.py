"""All numbers of a report, computed by the rest of the library; nothing here draws or words."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant import _limits, _validation
from calibrant.calibrators import registry
from calibrant.calibrators.base import Calibrator
from calibrant.comparison import Comparison, MethodFit, compare
from calibrant.comparison.candidates import create, title_of
from calibrant.comparison.problems import ScoreProblem
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.maps.functions import Step
from calibrant.metrics import metric_posterior
from calibrant.metrics.evaluation import evaluate
from calibrant.metrics.evaluation_table import Evaluation
from calibrant.metrics.samples import ScoreSample
from calibrant.metrics.verdict import Verdict, judge_calibration
from calibrant.reliability.result import Reliability, reliability
from calibrant.reliability.tables import Table, curve_grid, tabulate_map
from calibrant.report.segments import JUDGE, Segment, segment_results
from calibrant.report.wording import sentence_case, short_title
from calibrant.tally import Tally, row_count

LEVEL = 0.9
FOLDS = 5
RESAMPLES = 300
MOST_STEPS = 200


@dataclass(frozen=True)
class Side:
    """One side of the comparison, before or after calibration.

    Attributes
    ----------
    tally : Tally
        Probabilities and outcomes.
    evaluation : Evaluation
        Measures with intervals.
    linear, logit : Reliability
        The diagram with its credible band, and the same without a curve for stretched axes.
    error : Interval
        How far a probability is from the truth on average: posterior mean and central credible interval.
    """

    tally: Tally
    evaluation: Evaluation
    linear: Reliability
    logit: Reliability
    error: Interval


@dataclass(frozen=True)
class Study:
    """The numbers of a report.

    Attributes
    ----------
    total, base_rate, level : float
        Rows, share of positives, and level of every interval.
    verdict : Verdict
        Whether calibration is needed: that of the comparison, with the size of the error.
    name : str
        The method that the page recommends or was asked to show.
    calibrator : Calibrator
        That method, fitted to all rows.
    before : Side or None
        None where the scores are not probabilities.
    after : Side
        The chosen method's probabilities.
    unseen : bool
        Whether `after` is cross-fitted, so that each row's probability comes from a fit that did not see it. False
        where a class has too few rows to hold some back; `after` then flatters the method.
    maps : dict of str to Table
        The fitted maps by method, the chosen one first: `score`, `probability`, and `low`, `high` of a band if any.
    titles : dict of str to str
        The methods in words.
    comparison : Comparison or None
        None where the data are too few, with the reason among the notes.
    segments : tuple of Segment
        Dates and numbers in their order, others with the largest first.
    notes : tuple of str
        What was left out or warned of.
    top_label : bool
        Whether a row is positive where its predicted class was right.
    """

    total: float
    base_rate: float
    level: float
    verdict: Verdict
    name: str
    calibrator: Calibrator
    before: Side | None
    after: Side
    unseen: bool
    maps: dict[str, Table]
    titles: dict[str, str]
    comparison: Comparison | None
    segments: tuple[Segment, ...]
    notes: tuple[str, ...]
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
    def sides(self) -> dict[str, Side]:
        """What is shown, before and after; rows of one outcome show no calibration, which they cannot judge."""
        after = None if self.one_outcome and self.before is not None else self.after
        return {name: side for name, side in (("before", self.before), ("after", after)) if side is not None}

    def title_of(self, name: str) -> str:
        """The title of a method in a sentence."""
        return short_title(self.titles.get(name, name))

    def segments_off(self, side: str) -> list[str]:
        """The names of the segments that are off, `side` being "before" or "after" calibration."""
        gaps = {segment.name: getattr(segment, side) for segment in self.segments}
        return [name for name, gap in gaps.items() if gap is not None and gap.off]


def make_study(
    tally: Tally,
    *,
    segments: Mapping[str, Tally] | None = None,
    comparison: Comparison | None = None,
    method: str | Calibrator | None = None,
    top_label: bool = False,
) -> Study:
    """Compute everything that a report shows; the same data give the same numbers.

    Each method is fitted once: cross-fitted probabilities and maps are those of the comparison, if it has the method.

    Examples
    --------
    >>> from calibrant import Tally, compare, simulate
    >>> from calibrant.report.study import make_study
    >>> data = simulate.from_truth("underconfident", 500)
    >>> tally = Tally.from_arrays(data.scores, data.labels)
    >>> study = make_study(tally, method="bayes_iso", comparison=compare(tally, methods=["platt"]))
    >>> study.name, list(study.maps), study.before.error.value > study.after.error.value
    ('bayes_iso', ['bayes_iso', 'platt'], True)
    """
    _check_rows(tally, comparison)
    cells, probabilities = tally.coarsen(_limits.REPORT_CELLS), _validation.are_probabilities(tally.scores)
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        comparison = comparison or _compare(tally, notes)
        fits = comparison.fits if comparison is not None else {}
        name = _choose(method, comparison)
        fit = _find_fit(method, name, fits) or _fit(method, name, cells, probabilities=probabilities)
        before = make_side(cells, _find_judge(fits)) if probabilities else None
        verdict = comparison.verdict if comparison is not None else None
        study = Study(
            total=tally.total,
            base_rate=tally.base_rate,
            level=LEVEL,
            verdict=replace(verdict or judge_calibration(tally), error=before.error if before is not None else None),
            name=name,
            calibrator=fit.fitted,
            before=before,
            after=make_side(
                fit.out_of_fold.tally() if fit.out_of_fold else cells.rescored(fit.fitted.predict(cells.scores))
            ),
            unseen=fit.out_of_fold is not None,
            maps=_maps({name: fit} | fits | {name: fit}, cells, probabilities=probabilities),
            titles={name: title_of(fit.calibrator, name)}
            | {one.name: one.title or one.name for one in (comparison.results if comparison is not None else ())},
            comparison=comparison,
            segments=segment_results(segments or {}, fit.calibrator, LEVEL, FOLDS),
            notes=(),
            top_label=top_label,
        )
    if not study.unseen:
        title = sentence_case(study.title_of(name))
        notes.append(f"{title} is judged on the rows that it was fitted to: one class has too few to hold back.")
    return replace(study, notes=tuple(dict.fromkeys([*notes, *(str(one.message) for one in caught)])))


def _check_rows(tally: Tally, comparison: Comparison | None) -> None:
    if tally.total < 2.0:
        raise InvalidInputError(
            f"A report needs at least 2 rows; the rows of this tally add up to {row_count(tally.total)}."
        )
    if comparison is not None and not np.isclose(comparison.n_rows, tally.total):
        raise InvalidInputError(
            f"`comparison` must be of the same rows as the report; it has {row_count(comparison.n_rows)} rows, the "
            f"tally {row_count(tally.total)}."
        )


def _compare(tally: Tally, notes: list[str]) -> Comparison | None:
    try:
        space = "probability" if _validation.are_probabilities(tally.scores) else "decision"
        return compare(tally, space=space, level=LEVEL, cv=FOLDS)
    except InvalidInputError as error:
        notes.append(f"Methods are not compared. {error}")
        return None


def _choose(method: str | Calibrator | None, comparison: Comparison | None) -> str:
    """The name of the method to show: as asked, else as recommended; where that is none, the default or the best."""
    if method is not None:
        return method if isinstance(method, str) else registry.name_of(method)
    if comparison is None or not comparison.fits:
        return registry.DEFAULT_METHOD
    if comparison.recommended != "identity":
        return comparison.recommended
    fits = {r.name: comparison.fits[r.name] for r in comparison.results if r.name in comparison.fits}
    usable = [n for n, fit in fits.items() if n != "identity" and not getattr(fit.calibrator, "measures_only", False)]
    return usable[0] if usable and registry.DEFAULT_METHOD not in usable else registry.DEFAULT_METHOD


def _find_fit(method: str | Calibrator | None, name: str, fits: Mapping[str, MethodFit]) -> MethodFit | None:
    """The fit of the comparison; an object has it only if it is the one that was compared."""
    if method is None or isinstance(method, str):
        return fits.get(name)
    return next((fit for fit in fits.values() if fit.calibrator is method), None)


def _fit(method: str | Calibrator | None, name: str, cells: Tally, *, probabilities: bool) -> MethodFit:
    """A method that was not compared, cross-fitted as in a comparison; without predictions where rows are too few."""
    space = "probability" if probabilities else "decision"
    own = create(name, space=space) if method is None or isinstance(method, str) else method
    problem = ScoreProblem(ScoreSample(cells, space=space))
    splits = problem.split(FOLDS, np.random.default_rng(0))
    try:
        return MethodFit(own, problem.crossfit(own, splits) if len(splits) > 1 else None, problem)
    except InvalidInputError:  # some part has rows of one class only, which the method cannot take
        return MethodFit(own, None, problem)


def _find_judge(fits: Mapping[str, MethodFit]) -> Calibrator | None:
    """The judge, if the comparison has fitted it with its default options."""
    judge, plain = fits.get(JUDGE), registry.create(JUDGE)
    same = judge is not None and type(judge.calibrator) is type(plain)
    return judge.fitted if judge is not None and same and judge.calibrator.get_params() == plain.get_params() else None


def make_side(tally: Tally, judge: Any = None) -> Side:
    """Judge probabilities; the curve and the size of the error are those of a fitted `judge`."""
    judge = judge or registry.create(JUDGE).fit_tally(tally)
    curve = tabulate_map(judge, curve_grid(tally, probabilities=True), LEVEL)
    return Side(
        tally,
        evaluate(tally, level=LEVEL, n_resamples=RESAMPLES),
        replace(reliability(tally, curve=None, level=LEVEL), curve=curve, curve_name=type(judge).__name__),
        reliability(tally, curve=None, level=LEVEL, scale="logit"),
        metric_posterior(judge, tally).interval(LEVEL),
    )


def _maps(fits: Mapping[str, MethodFit], cells: Tally, *, probabilities: bool) -> dict[str, Table]:
    grid = curve_grid(cells, probabilities=probabilities)
    shown = {name: fit.fitted for name, fit in fits.items() if name != "identity"}
    return {name: tabulate_map(fitted, _with_steps(fitted, grid), LEVEL) for name, fitted in shown.items()}


def _with_steps(fitted: Calibrator, grid: Any) -> Any:
    """The grid with the edges of a step function, so that steps are drawn upright."""
    function = fitted.map_.function
    if not isinstance(function, Step) or len(function.edges) > MOST_STEPS:
        return grid
    knots = function.knots()
    return np.union1d(grid, knots[(knots > grid[0]) & (knots < grid[-1])])
