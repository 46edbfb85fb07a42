"""Sections on several classes: the whole matrix, each class against the rest, and the classes that are confused."""

from dataclasses import dataclass

import numpy as np

from calibrant._numerics.binomial_limits import clopper_pearson
from calibrant.intervals import Interval
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.evaluation import evaluate
from calibrant.metrics.evaluation_table import Evaluation
from calibrant.report.matrix_figures import class_figure, pairs_figure
from calibrant.report.matrix_study import Matrices
from calibrant.report.section import Section, SectionFigure, SectionTable
from calibrant.report.study import LEVEL
from calibrant.report.wording import count, estimate, estimate_decimals, named, number, percent, sentence_case
from calibrant.tally import Tally

MOST_DIAGRAMS = 12
MOST_PAIRS = 12
MOST_CLASSES = 200  # in the table
RESAMPLED_ENTRIES = 50_000_000  # replicates × rows × classes
FEWEST_RESAMPLES = 20


@dataclass(frozen=True)
class ClassGap:
    """One class against the rest: its rows, and mean prediction and average gap before and after calibration."""

    name: str
    sides: tuple[Tally, Tally]
    errors: tuple[float, float]


@dataclass(frozen=True)
class Pair:
    """Rows in which one class was predicted, and another one as a rival: how often it was right, and was predicted."""

    predicted: str
    rival: str
    rows: float
    share: Interval
    before: float
    after: float

    @property
    def name(self) -> str:
        """The pair in words."""
        return f"{self.rival} where {self.predicted} is predicted"

    @property
    def arrow(self) -> str:
        """The pair as short as it can be said."""
        return f"{self.predicted} → {self.rival}"


def matrix_sections(matrices: Matrices) -> tuple[Section, ...]:
    """The sections of a page on several classes.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.report.matrix_sections import matrix_sections
    >>> from calibrant.report.matrix_study import Matrices
    >>> p = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 9)
    >>> matrices = Matrices(("a", "b", "c"), np.array([0, 1, 1] * 9), np.ones(27), p, p)
    >>> [section.title for section in matrix_sections(matrices)]
    ['All classes', 'Class by class', 'Confused classes']
    """
    return _whole(matrices), _classes(matrices), _pairs(matrices)


def _whole(matrices: Matrices) -> Section:
    sides = {"before": matrices.before, "after": matrices.after}
    n_resamples = int(np.clip(RESAMPLED_ENTRIES // matrices.before.size, FEWEST_RESAMPLES, 100))
    evaluation = evaluate(matrices.labels, sides, level=LEVEL, n_resamples=n_resamples, sample_weight=matrices.weights)
    before, after = (number(evaluation["log_loss"][side].value) for side in sides)
    scores = (
        f"Log-loss and Brier score judge all {len(matrices.names)} probabilities of a row at once. Calibration takes "
        f"the log-loss from {before} to {after}, on rows that the fits have not seen. Intervals are {100 * LEVEL:g} % "
        "confidence intervals of single values; the methods are compared row by row above."
    )
    test = (
        "The test of full calibration asks whether labels drawn from the probabilities would look like the real ones, "
        "in the predicted class, in each class and in all of them together."
    )
    table = SectionTable("Measures of all classes", ("Measure", "Before", "After"), tuple(_measures(evaluation)))
    return Section("all-classes", "All classes", (scores, test), (), (table,))


def _measures(evaluation: Evaluation) -> list[tuple[str, ...]]:
    return [(sentence_case(row.name), *(_value(value) for value in row.estimates)) for row in evaluation.rows]


def _value(value: Interval | float | None) -> str:
    if isinstance(value, Interval):
        middle, ends = estimate(value, decimals=estimate_decimals(value))
        return f"{middle} ({ends})"
    return "–" if value is None else f"{value:.3f}" if value >= 0.001 else "below 0.001"


def _classes(matrices: Matrices) -> Section:
    gaps = sorted(map(_judge, range(len(matrices.names)), [matrices] * len(matrices.names)), key=lambda g: -g.errors[0])
    worst = gaps[:MOST_DIAGRAMS]
    figures = tuple(
        SectionFigure(
            class_figure(*gap.sides),
            f"Reliability diagram of {gap.name} against the rest, before and after calibration.",
            f"{gap.name}: off by {100 * gap.errors[0]:.2g} points before, {100 * gap.errors[1]:.2g} after",
            "square small",
        )
        for gap in worst
    )
    rest = f" The figures show the {MOST_DIAGRAMS} that are furthest off." if len(gaps) > MOST_DIAGRAMS else ""
    sentence = (
        "Each class against all others: what was predicted for it, and how often it was the class, before and after "
        f"calibration, in the colours of the diagrams above. The bands hold the true curve with about {100 * LEVEL:g} "
        "% probability at each place. Classes are sorted by how far they are off before calibration: the average gap "
        f"without groups, which is above 0 by chance alone.{rest}"
    )
    head = ("Class", "Rows of it", "Its share", "Predicted before", "After", "Average gap before", "After")
    table = SectionTable("All classes", head, tuple(map(_class_row, gaps[:MOST_CLASSES])), folded=len(gaps) > 20)
    return Section("each-class", "Class by class", (sentence,), figures, (table,))


def _judge(k: int, matrices: Matrices) -> ClassGap:
    sides = matrices.tally(k, "before"), matrices.tally(k, "after")
    return ClassGap(matrices.names[k], sides, (smooth_calibration_error(sides[0]), smooth_calibration_error(sides[1])))


def _class_row(gap: ClassGap) -> tuple[str, ...]:
    before, after = gap.sides
    means = (percent(float(side.scores @ side.totals / side.total)) for side in gap.sides)
    errors = (f"{100 * error:.2g} points" for error in gap.errors)
    return gap.name, count(before.total_positive), percent(after.base_rate), *means, *errors


def _pairs(matrices: Matrices) -> Section:
    pairs = confused_pairs(matrices)
    right = [
        float(np.average(side.argmax(axis=1) == matrices.labels, weights=matrices.weights))
        for side in (matrices.before, matrices.after)
    ]
    changed = float(
        np.average(matrices.before.argmax(axis=1) != matrices.after.argmax(axis=1), weights=matrices.weights)
    )
    accuracy = (
        f"The predicted class is right in {percent(right[0])} of the rows before and {percent(right[1])} after "
        f"calibration, which changes it in {percent(changed)} of them."
    )
    sentences = [accuracy]
    if pairs:
        sentences.append(
            "Each line is a class that was the right one where another was predicted, the most frequent first: what "
            "was predicted for it in these rows minus how often it was right. To the left of zero the model is too "
            f"sure that it is not the rival. Lines are {100 * LEVEL:g} % intervals. Most often confused: "
            f"{named([pair.name for pair in pairs[:3]])}."
        )
    alt = "Predicted minus right for each pair of confused classes. The table below has the same values."
    caption, legend = (
        "Predicted class → right class",
        (("before", "before calibration"), ("after", "after calibration")),
    )
    figures = (SectionFigure(pairs_figure(pairs), alt, caption, "rows", legend),) if pairs else ()
    head = ("Predicted → right", "Rows", "How often", "Predicted for it before", "After")
    rows = tuple((p.arrow, count(p.rows), _share(p.share), percent(p.before), percent(p.after)) for p in pairs)
    tables = (SectionTable("Confused classes", head, rows),) if pairs else ()
    return Section("confused-classes", "Confused classes", tuple(sentences), figures, tables)


def _share(share: Interval) -> str:
    return f"{percent(share.value)} ({percent(share.low)} to {percent(share.high)})"


def confused_pairs(matrices: Matrices) -> list[Pair]:
    """The rivals that were right most often where another class was predicted."""
    n_classes, predicted = len(matrices.names), matrices.predicted
    rows = np.bincount(predicted, matrices.weights, n_classes)
    right = np.zeros((n_classes, n_classes))
    np.add.at(right, (predicted, matrices.labels), matrices.weights)
    np.fill_diagonal(right, 0.0)
    order = np.argsort(-right, axis=None, kind="stable")[:MOST_PAIRS]
    pairs = []
    for top, rival in zip(*np.unravel_index(order, right.shape), strict=True):
        if not right[top, rival]:
            break
        own, times = predicted == top, right[top, rival]
        low, high = clopper_pearson(np.array([times]), np.array([rows[top]]), LEVEL)
        share = Interval(float(times / rows[top]), float(low[0]), float(high[0]), LEVEL)
        means = (
            np.average(side[own, rival], weights=matrices.weights[own]) for side in (matrices.before, matrices.after)
        )
        pairs.append(Pair(matrices.names[top], matrices.names[rival], float(rows[top]), share, *map(float, means)))
    return pairs
