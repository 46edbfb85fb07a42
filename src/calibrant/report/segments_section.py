"""The section on segments: predicted and happened in each, before and after calibration, with one map and with many."""

import numpy as np

from calibrant.displays.forest import Series
from calibrant.intervals import Interval
from calibrant.report.data import ReportData
from calibrant.report.figures import forest_figure
from calibrant.report.sections import Cell, Figure, Row, Section, Table
from calibrant.report.segments import Segment, SegmentResults
from calibrant.report.svg import COLORS
from calibrant.report.wording import count, estimate, loss_change, outcome_of, percent, points_estimate

TITLES = {"before": "before calibration", "after": "one map for all", "by_segment": "a map for each segment"}
LOOKS = {"before": ("before", "o", True), "after": ("after", "o", False), "by_segment": ("neutral", "s", False)}
MANY_IN_ORDER = 12  # segments in an order, from which on they are drawn along it
MOST_DRAWN = 40


def segments_section(data: ReportData) -> Section | None:
    """Each segment by itself; None without segments."""
    results = data.segments
    if results is None or not results.segments:
        return None
    share, level = outcome_of(data.top_label).share, f"{100 * data.level:g} %"
    upright = results.in_order and len(results.segments) > MANY_IN_ORDER
    shown = results.segments if upright else results.segments[:MOST_DRAWN]
    alt = f"Predicted minus {share} in each of {len(shown)} segments, with intervals. The table has the same values."
    names, label = [one.name for one in shown], f"Predicted − {share}, points"
    svg, cut = forest_figure("segments", alt, names, _series(shown), label, upright=upright)
    sentence = (
        f"Predicted minus {share} in each segment, in percentage points: {'above' if upright else 'to the right of'} "
        f"zero the predictions are too high. Lines are {level} intervals. “Off” means that the probabilities fit worse "
        f"than chance explains, with allowance for looking at {len(results.segments)} segments at once."
    )
    if cut:
        sentence += " Lines that reach the edge of the figure go on beyond it."
    if len(shown) < len(results.segments):
        sentence += f" The figure shows the first {len(shown)} of {len(results.segments)} segments."
    figures = (Figure(svg, shape="whole" if upright else "wide"),)
    tables = (_table(results.segments, share), *_loss_table(results))
    sentences = (sentence, *_worth_of_maps(results, level))
    return Section("segments", "Segments", sentences, figures, tables)


def _sides(segments: tuple[Segment, ...]) -> list[str]:
    return [side for side in TITLES if any(side in one.tallies for one in segments)]


def _series(segments: tuple[Segment, ...]) -> list[Series]:
    """Predicted minus happened; where more happens than in these rows, the difference is smaller."""
    series = []
    for side in _sides(segments):
        color, marker, hollow = LOOKS[side]
        means = [one.predicted(side) for one in segments]
        predicted = np.array([np.nan if mean is None else mean for mean in means])
        happened = np.array([(one.happened.value, one.happened.low, one.happened.high) for one in segments]).T
        values, high, low = (100.0 * (predicted - each) for each in happened)
        series.append(
            Series(
                label=TITLES[side],
                color=COLORS[color],
                values=values.tolist(),
                low=low.tolist(),
                high=high.tolist(),
                marker=marker,
                hollow=hollow,
                off=[one.off.get(side, False) for one in segments],
            )
        )
    return series


def _table(segments: tuple[Segment, ...], share: str) -> Table:
    sides = _sides(segments)
    rows: list[Row] = []
    for one in segments:
        interval = f"{percent(one.happened.low)} to {percent(one.happened.high)}"
        happened = Cell(percent(one.happened.value), interval)
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


def _loss_table(results: SegmentResults) -> tuple[Table, ...]:
    if results.gain is None:
        return ()
    rows = tuple((TITLES[side].capitalize(), f"{loss:.4f}") for side, loss in results.losses.items())
    return (Table("Log-loss of rows that the fit did not see", ("Calibration", "Log-loss"), rows),)


def _worth_of_maps(results: SegmentResults, level: str) -> tuple[str, ...]:
    """What a map for each segment is worth beyond one map for all."""
    if results.gain is None:
        return ()
    change = loss_change(results.losses["after"], results.losses["by_segment"])
    gain, ends = estimate(results.gain)
    interval = f"{level} interval of the gain: {ends}"
    text = f"On rows that no fit has seen, a map for each segment in place of one for all {change}"
    if results.gain.low > 0.0:
        text += f", a gain of {gain} ({interval})."
    elif results.gain.high < 0.0:
        text += f" ({interval}): one map for all is better here."
    else:
        text += f", which may be chance ({interval})."
    return text, results.summary
