"""All numbers of a report, computed by the rest of the library; nothing here draws or words."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant.calibrators import registry
from calibrant.calibrators.base import Calibrator
from calibrant.comparison import Comparison, compare
from calibrant.comparison.crossfit import crossfit, folds
from calibrant.errors import InvalidInputError
from calibrant.map_functions import Step
from calibrant.metrics import metric_posterior
from calibrant.metrics.bootstrap import Interval
from calibrant.metrics.evaluation import Evaluation, evaluate
from calibrant.reliability import Reliability, reliability
from calibrant.reliability.curves import curve_grid
from calibrant.reliability.tables import Table, table
from calibrant.report.segments import JUDGE, Segment, segment_results
from calibrant.report.wording import method_name, sentence_case
from calibrant.tally import Tally, row_count

__all__ = ["Side", "Study", "study"]

LEVEL = 0.9
MOST_CELLS = 2**15  # distinct scores; a page shows no difference beyond this, whatever the number of rows
FOLDS = 5
RESAMPLES = 300
MOST_STEPS = 200
PREFERRED = ("blend", "spline", "bayes_iso")  # the default is the first that is registered


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
    """What a report is about.

    Attributes
    ----------
    total, base_rate, level : float
        Rows, share of positives, and level of every interval.
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
    comparison : Comparison or None
        None where the data are too few, with the reason among the notes.
    segments : tuple of Segment
        Largest first.
    notes : tuple of str
        What was left out or warned of.
    top_label : bool
        Whether a row is positive where its predicted class was right.
    """

    total: float
    base_rate: float
    level: float
    name: str
    calibrator: Calibrator
    before: Side | None
    after: Side
    unseen: bool
    maps: dict[str, Table]
    comparison: Comparison | None
    segments: tuple[Segment, ...]
    notes: tuple[str, ...]
    top_label: bool = False


def study(
    tally: Tally,
    *,
    segments: Mapping[str, Tally] | None = None,
    comparison: Comparison | None = None,
    method: str | Calibrator | None = None,
    top_label: bool = False,
) -> Study:
    """Compute everything that a report shows; the same data give the same numbers.

    Examples
    --------
    >>> from calibrant import Tally, compare, simulate
    >>> from calibrant.report.study import study
    >>> data = simulate.from_truth("underconfident", 500)
    >>> tally = Tally.from_arrays(data.scores, data.labels)
    >>> found = study(tally, method="bayes_iso", comparison=compare(tally, methods=["platt"]))
    >>> found.name, list(found.maps), found.before.error.value > found.after.error.value
    ('bayes_iso', ['bayes_iso', 'platt'], True)
    """
    if tally.total < 2.0:
        raise InvalidInputError(
            f"A report needs at least 2 rows; the rows of this tally add up to {row_count(tally.total)}."
        )
    cells = tally.coarsen(MOST_CELLS)
    probabilities = bool(cells.scores[0] >= 0.0 and cells.scores[-1] <= 1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table_, notes = (comparison, []) if comparison is not None else _compared(cells)
        name, calibrator = _chosen(method, probabilities, table_)
        fitted: Calibrator = clone(calibrator).fit_tally(cells)
        after, unseen = _after(calibrator, fitted, cells)
        found = Study(
            tally.total,
            tally.base_rate,
            LEVEL,
            name,
            fitted,
            _side(cells) if probabilities else None,
            _side(after),
            unseen,
            _maps(name, fitted, cells, table_, probabilities),
            table_,
            segment_results(segments or {}, calibrator, LEVEL, FOLDS),
            (),
            top_label,
        )
    if not unseen:
        title = sentence_case(method_name(name))
        notes.append(f"{title} is judged on the rows that it was fitted to: one class has too few to hold back.")
    unique = dict.fromkeys([*notes, *(str(one.message) for one in caught)])
    return Study(**{**vars(found), "notes": tuple(unique)})


def _chosen(
    method: str | Calibrator | None, probabilities: bool, comparison: Comparison | None
) -> tuple[str, Calibrator]:
    """The name in the registry where there is one, else of the class; and a calibrator for these scores."""
    if method is None:
        first = getattr(registry, "DEFAULT_METHOD", PREFERRED[0])
        known = [name for name in (first, *PREFERRED) if name in registry.METHODS]
        method = next(name for name in known if probabilities or created(name, probabilities).space != "probability")
        method = _better(method, comparison)
    if not isinstance(method, str):
        own = type(method).__name__
        return next((name for name, (_, cls) in registry.METHODS.items() if cls == own), own), method
    return method, created(method, probabilities)


def _better(default: str, comparison: Comparison | None) -> str:
    """The default, unless the rows tell clearly that the recommended method is better for them."""
    if comparison is None or comparison.recommended not in registry.METHODS or comparison.recommended == "identity":
        return default
    beaten = default in {r.name for r in comparison.results} - {comparison.recommended, *comparison.tied}
    return comparison.recommended if beaten else default


def created(name: str, probabilities: bool) -> Calibrator:
    """A new calibrator, told if the scores are not probabilities."""
    calibrator = registry.create(name)
    if not probabilities and "space" in calibrator.get_params():
        calibrator.set_params(space="decision")
    return calibrator


def _after(calibrator: Calibrator, fitted: Calibrator, cells: Tally) -> tuple[Tally, bool]:
    """Probabilities for rows that the fit did not see; with too few rows to split, of the fit to all, and False."""
    splits = list(folds(cells, FOLDS, np.random.default_rng(0)))
    try:
        if len(splits) > 1:
            return crossfit(calibrator, splits, 1).tally(), True
    except InvalidInputError:
        pass  # some part has rows of one class only, which the method cannot take
    return cells.rescored(fitted.predict(cells.scores)), False


def _compared(cells: Tally) -> tuple[Comparison | None, list[str]]:
    try:
        return compare(cells, level=LEVEL), []
    except InvalidInputError as error:
        return None, [f"Methods are not compared. {error}"]


def _side(tally: Tally) -> Side:
    judge: Any = registry.create(JUDGE).fit_tally(tally)
    return Side(
        tally,
        evaluate(tally, level=LEVEL, n_resamples=RESAMPLES),
        reliability(tally, curve=JUDGE, level=LEVEL),
        reliability(tally, curve=None, level=LEVEL, scale="logit"),
        metric_posterior(judge, tally).interval(LEVEL),
    )


def _maps(
    name: str, fitted: Calibrator, cells: Tally, comparison: Comparison | None, probabilities: bool
) -> dict[str, Table]:
    grid = curve_grid(cells, probabilities=probabilities)
    maps = {name: _map(fitted, grid)}
    for result in comparison.results if comparison is not None else ():
        known = result.name in registry.METHODS and result.name not in ("identity", name)
        if known and result.log_loss is not None:
            maps[result.name] = _map(created(result.name, probabilities).fit_tally(cells), grid)
    return maps


def _map(fitted: Any, grid: Any) -> Table:
    function = fitted.map_.function
    if isinstance(function, Step) and len(function.edges) <= MOST_STEPS:  # so that steps are drawn upright
        knots = function.knots()
        grid = np.union1d(grid, knots[(knots > grid[0]) & (knots < grid[-1])])
    columns = {"score": grid, "probability": fitted.predict(grid)}
    if hasattr(fitted, "sample_maps"):  # the intervals of other methods are not credible ones
        columns["low"], columns["high"] = fitted.predict_interval(grid, level=LEVEL)
    return table(**columns)
