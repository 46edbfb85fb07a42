"""Sections on several classes: the whole matrix, and each class against the rest."""

from dataclasses import dataclass

import numpy as np

from calibrant import _limits
from calibrant.calibrators import registry
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.evaluation import evaluate
from calibrant.report.calibration_sections import estimate_cells
from calibrant.report.classes import ClassPredictions
from calibrant.report.data import JUDGE, LEVEL, judged_diagram
from calibrant.report.figures import small_diagram
from calibrant.report.sections import Figure, Row, Section, Table
from calibrant.report.wording import count, loss_change, percent, sentence_case
from calibrant.tally import Tally

MOST_DIAGRAMS = 12
MOST_CLASSES = 200  # in the table
RESAMPLED_ENTRIES = 50_000_000  # replicates × rows × classes
FEWEST_RESAMPLES = 20
SIDES = ("before", "after")
SMALL_POINTS = 50  # along a small curve


def class_sections(rows: ClassPredictions) -> tuple[Section, ...]:
    """The sections of a page on several classes.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.report.class_sections import class_sections
    >>> from calibrant.report.classes import ClassPredictions
    >>> p = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 9)
    >>> rows = ClassPredictions(("a", "b", "c"), np.array([0, 1, 1] * 9), np.ones(27), p, p)
    >>> [section.title for section in class_sections(rows)]
    ['All classes', 'Class by class']
    """
    return _whole(rows), _each_class(rows)


def _whole(rows: ClassPredictions) -> Section:
    n_resamples = int(np.clip(RESAMPLED_ENTRIES // rows.before.size, FEWEST_RESAMPLES, 100))
    sides = {side: getattr(rows, side) for side in SIDES}
    evaluation = evaluate(rows.labels, sides, level=LEVEL, n_resamples=n_resamples, sample_weight=rows.weights)
    losses = [evaluation["log_loss"][side].value for side in SIDES]
    scores = (
        f"Log-loss and Brier score judge all {len(rows.names)} probabilities of a row at once. Calibration "
        f"{loss_change(*losses)}, on rows that the fits have not seen. Intervals are {100 * LEVEL:g} % confidence "
        "intervals of single values; the methods are compared row by row above."
    )
    test = (
        "The test of full calibration asks whether labels drawn from the probabilities would look like the real ones, "
        "in the predicted class, in each class and in all of them together."
    )
    cells: tuple[Row, ...] = tuple(
        (sentence_case(row.name), *estimate_cells(list(row.estimates))) for row in evaluation.rows
    )
    table = Table("Measures of all classes", ("Measure", "Before", "After"), cells)
    changed = float(np.average(rows.before.argmax(axis=1) != rows.after.argmax(axis=1), weights=rows.weights))
    accuracy = (
        f"The predicted class is right in {percent(rows.accuracy('before'))} of the rows before and "
        f"{percent(rows.accuracy('after'))} after calibration, which changes it in {percent(changed)} of them."
    )
    return Section("all-classes", "All classes", (scores, accuracy, test), tables=(table,))


@dataclass(frozen=True)
class _ClassGap:
    """One class against the rest, and its average gap, before and after calibration."""

    name: str
    tallies: dict[str, Tally]
    errors: dict[str, float]


def _each_class(rows: ClassPredictions) -> Section:
    gaps = []
    for k, name in enumerate(rows.names):
        tallies = {side: rows.tally(k, side) for side in SIDES}
        errors = {side: smooth_calibration_error(tally) for side, tally in tallies.items()}
        gaps.append(_ClassGap(name, tallies, errors))
    gaps.sort(key=lambda gap: -gap.errors["before"])
    rest = f" The figures show the {MOST_DIAGRAMS} that are furthest off." if len(gaps) > MOST_DIAGRAMS else ""
    sentence = (
        "Each class against all others: what was predicted for it, and how often it was the class, before calibration "
        "in orange and after it in blue. The bands hold the true curve with about "
        f"{100 * LEVEL:g} % probability at each place. Classes are sorted by how far they are off before calibration: "
        f"the average gap without groups, which is above 0 by chance alone.{rest}"
    )
    head = ("Class", "Rows of it", "Its share", "Predicted before", "After", "Average gap before", "After")
    cells = tuple(map(_class_row, gaps[:MOST_CLASSES]))
    table = Table("All classes", head, cells, folded=len(gaps) > 20)
    figures = tuple(_class_figure(place, gap) for place, gap in enumerate(gaps[:MOST_DIAGRAMS]))
    return Section("each-class", "Class by class", (sentence,), figures, (table,))


def _class_figure(place: int, gap: _ClassGap) -> Figure:
    alt = f"Reliability diagram of {gap.name} against the rest, before and after calibration. Its errors follow."
    diagrams = {}
    for side, tally in gap.tallies.items():
        cells = tally.coarsen(_limits.SEGMENT_CELLS)
        diagrams[side] = judged_diagram(registry.create(JUDGE).fit_tally(cells), cells, SMALL_POINTS, side)
    svg = small_diagram(f"class-{place}", alt, diagrams, "Was the class")
    before, after = (f"{100 * gap.errors[side]:.2g}" for side in SIDES)
    return Figure(svg, f"{gap.name}: off by {before} points before, {after} after", "small")


def _class_row(gap: _ClassGap) -> tuple[str, ...]:
    before = gap.tallies["before"]
    means = (percent(float(tally.scores @ tally.totals / tally.total)) for tally in gap.tallies.values())
    errors = (f"{100 * error:.2g} points" for error in gap.errors.values())
    return gap.name, count(before.total_positive), percent(before.base_rate), *means, *errors
