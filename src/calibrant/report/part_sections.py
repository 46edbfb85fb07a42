"""Sections on parts of the rows: each class against the rest, and each segment, before and after calibration."""

import numpy as np

from calibrant.calibrators import registry
from calibrant.displays.forest import Series
from calibrant.intervals import Interval
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.evaluation import evaluate
from calibrant.report.data import JUDGE, LEVEL, ClassPredictions, ReportData, judged_diagram
from calibrant.report.figures import COLORS, SMALL, forest_figure, open_figure, small_diagram, to_svg
from calibrant.report.sections import Cell, Figure, Row, Section, Table, estimate_cells, share_cell
from calibrant.report.segments import Segment, SegmentResults
from calibrant.report.texts import say
from calibrant.report.wording import count, estimate, loss_change, outcome_of, percent, points_estimate, sentence_case
from calibrant.tally import Tally

MOST_DIAGRAMS = 12
MOST_CLASSES = 200  # in the table
RESAMPLED_ENTRIES = 50_000_000  # replicates × rows × classes
FEWEST_RESAMPLES = 20
SIDES = ("before", "after")
SMALL_POINTS = 50  # along a small curve
TITLES = {"before": "before calibration", "after": "one map for all", "by_segment": "a map for each segment"}
LOOKS = {"before": ("before", "o", True), "after": ("after", "o", False), "by_segment": ("neutral", "s", False)}
MANY_IN_ORDER = 12  # segments in an order, from which on they are drawn along it
MOST_DRAWN = 40


def class_sections(rows: ClassPredictions) -> tuple[Section, ...]:
    """The sections of a page on several classes.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.report.data import ClassPredictions
    >>> from calibrant.report.part_sections import class_sections
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
    facts = {"classes": len(rows.names), "change": loss_change(*losses), "level": 100 * LEVEL}
    cells: tuple[Row, ...] = tuple(
        (sentence_case(row.name), *estimate_cells(list(row.estimates))) for row in evaluation.rows
    )
    table = Table("Measures of all classes", ("Measure", "Before", "After"), cells)
    changed = float(np.average(rows.before.argmax(axis=1) != rows.after.argmax(axis=1), weights=rows.weights))
    sentences = (
        say("all_classes", "scores", **facts),
        say("all_classes", "changed", share=percent(changed)),
        say("all_classes", "test"),
    )
    return Section("all-classes", "All classes", sentences, tables=(table,))


def _each_class(rows: ClassPredictions) -> Section:
    tallies = [{side: rows.tally(k, side) for side in SIDES} for k in range(len(rows.names))]
    gaps = [{side: smooth_calibration_error(tally) for side, tally in sides.items()} for sides in tallies]
    worst = sorted(range(len(gaps)), key=lambda k: -gaps[k]["before"])
    sentence = say("each_class", "how", level=100 * LEVEL)
    if len(gaps) > MOST_DIAGRAMS:
        sentence += say("each_class", "worst", shown=MOST_DIAGRAMS)
    head = ("Class", "Rows of it", "Its share", "Predicted before", "After", "Average gap before", "After")
    cells = tuple(_class_row(rows.names[k], tallies[k], gaps[k]) for k in worst[:MOST_CLASSES])
    table = Table("All classes", head, cells, folded=len(gaps) > 20)
    figures = tuple(_class_figure(k, rows.names[k], tallies[k], gaps[k]) for k in worst[:MOST_DIAGRAMS])
    return Section("each-class", "Class by class", (sentence,), figures, (table,))


def _class_figure(k: int, name: str, tallies: dict[str, Tally], gaps: dict[str, float]) -> Figure:
    diagrams = {
        side: judged_diagram(registry.create(JUDGE).fit_tally(tally), tally, SMALL_POINTS, side)
        for side, tally in tallies.items()
    }
    svg = small_diagram(f"class-{k}", say("each_class", "alt", name=name), diagrams, "Was the class")
    before, after = (f"{100 * gaps[side]:.2g}" for side in SIDES)
    return Figure(svg, say("each_class", "caption", name=name, before=before, after=after), "small")


def _class_row(name: str, tallies: dict[str, Tally], gaps: dict[str, float]) -> tuple[str, ...]:
    before = tallies["before"]
    means = (percent(float(tally.scores @ tally.totals / tally.total)) for tally in tallies.values())
    errors = (f"{100 * gap:.2g} points" for gap in gaps.values())
    return name, count(before.total_positive), percent(before.base_rate), *means, *errors


def scores_section(data: ReportData) -> Section:
    """What each of several scores adds, and what it does."""
    worth = tuple(one.texts() for one in getattr(data.calibrator, "scores_", ()))
    head = ("Score", "Kind", "Log-loss alone", "Cost without", "Missing")
    tables = (Table(say("scores", "table"), head, worth),) if worth else ()
    figures = []
    for k, (name, (values, means)) in enumerate(data.effects().items()):
        with open_figure(SMALL, SMALL) as figure:
            ax = figure.subplots()
            ax.plot(values, means, "o" if isinstance(values[0], str) else "-", color=COLORS["after"])
            ax.set(xlabel="Score", ylabel="Mean probability", ylim=(0.0, 1.0))
            alt = say("scores", "alt", name=name, low=percent(min(means)), high=percent(max(means)))
            figures.append(Figure(to_svg(figure, f"score-{k}", alt), name, "small"))
    return Section("scores", "What each score adds", (say("scores", "how"),), tuple(figures), tables)


def segments_section(data: ReportData) -> Section | None:
    """Each segment by itself; None without segments."""
    results = data.segments
    if results is None or not results.segments:
        return None
    share, level = outcome_of(data.top_label).share, f"{100 * data.level:g} %"
    upright = results.in_order and len(results.segments) > MANY_IN_ORDER
    shown = results.segments if upright else results.segments[:MOST_DRAWN]
    alt = say("segments", "alt", share=share, shown=len(shown))
    names, label = [one.name for one in shown], f"Predicted − {share}, points"
    svg, cut = forest_figure("segments", alt, names, _series(shown), label, upright=upright)
    facts = {"share": share, "level": level, "side": "above" if upright else "to the right of"}
    sentence = say("segments", "how", segments=len(results.segments), **facts)
    if cut:
        sentence += say("segments", "cut")
    if len(shown) < len(results.segments):
        sentence += say("segments", "first", shown=len(shown), segments=len(results.segments))
    figures = (Figure(svg, shape="whole" if upright else "wide"),)
    tables = [_table(results.segments, share)]
    if results.gain is not None:
        losses = tuple((TITLES[side].capitalize(), f"{loss:.4f}") for side, loss in results.losses.items())
        tables.append(Table("Log-loss of rows that the fit did not see", ("Calibration", "Log-loss"), losses))
    sentences = (sentence, *_worth_of_maps(results, level))
    return Section("segments", "Segments", sentences, figures, tuple(tables))


def _sides(segments: tuple[Segment, ...]) -> list[str]:
    return [side for side in TITLES if any(side in one.tallies for one in segments)]


def _series(segments: tuple[Segment, ...]) -> list[Series]:
    """Predicted minus happened; where more happens than in these rows, the difference is smaller."""
    series = []
    happened = np.array([(one.happened.value, one.happened.low, one.happened.high) for one in segments]).T
    for side in _sides(segments):
        color, marker, hollow = LOOKS[side]
        predicted = np.array([one.predicted(side) for one in segments], dtype=np.float64)  # nan for None
        values, high, low = 100.0 * (predicted - happened)
        off = [one.off.get(side, False) for one in segments]
        series.append(Series(TITLES[side], COLORS[color], values, low, high, marker=marker, hollow=hollow, off=off))
    return series


def _table(segments: tuple[Segment, ...], share: str) -> Table:
    sides = _sides(segments)
    rows: list[Row] = []
    for one in segments:
        happened = share_cell(one.happened.value, one.happened.low, one.happened.high)
        rows.append((one.name, count(one.total), happened, *(_predicted(one, side) for side in sides)))
    head = ("Segment", "Rows", share.capitalize(), *(f"Predicted, {TITLES[side]}" for side in sides))
    return Table("Segments", head, tuple(rows), folded=len(segments) > MOST_DRAWN)


def _predicted(segment: Segment, side: str) -> Cell:
    mean = segment.predicted(side)
    if mean is None:
        return Cell("–")
    difference = mean - segment.happened.value
    ends = Interval(abs(difference), segment.happened.low, segment.happened.high, segment.happened.level)
    size, _ = points_estimate(ends, least=1)
    sign = "" if float(size) == 0.0 else "+" if difference > 0 else "−"
    return Cell(percent(mean), f"{sign}{size} points", "off" if segment.off[side] else "")


def _worth_of_maps(results: SegmentResults, level: str) -> tuple[str, ...]:
    """What a map for each segment is worth beyond one map for all."""
    if results.gain is None:
        return ()
    # A change that may be chance and is not seen in four decimals deserves no more of them.
    least = {} if results.gain.low > 0.0 or results.gain.high < 0.0 else {"least": 5e-5}
    change = loss_change(results.losses["after"], results.losses["by_segment"], **least)
    gain, ends = estimate(results.gain)
    case = "better" if results.gain.low > 0.0 else "worse" if results.gain.high < 0.0 else "chance"
    worth = say("segments", case, gain=gain, ends=ends, level=level)
    return say("segments", "maps", change=change, worth=worth), results.summary
