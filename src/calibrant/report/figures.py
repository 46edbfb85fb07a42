"""The figures of the page, drawn by `calibrant.displays`; each function returns the markup of what it draws."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibrant._limits import SEGMENT_CELLS
from calibrant.calibrators import registry
from calibrant.decisions import DecisionCurve
from calibrant.displays.calibration_map import CalibrationMapDisplay
from calibrant.displays.decision_curve import DecisionCurveDisplay
from calibrant.displays.forest import Series, draw_forest
from calibrant.displays.reliability import ReliabilityDisplay
from calibrant.reliability.result import Reliability, reliability
from calibrant.report.data import JUDGE, ReportData, judge_curve
from calibrant.report.svg import COLORS, WIDTH, open_figure, to_svg
from calibrant.report.wording import outcome_of, sentence_case, shortened
from calibrant.tally import Tally

LONGEST = 32  # letters of a name beside a figure
SMALL = 2.9  # inches
SMALL_POINTS = 50  # along a small curve
ROW = 0.3  # inches of a row of a forest plot


def reliability_figures(data: ReportData, scale: str, alts: Mapping[str, str]) -> dict[str, str]:
    """The diagrams before and after calibration, with histograms below them, on the same axes."""
    with open_figure(6.4) as first:
        figures = {"before": first, "after": type(first)(figsize=first.get_size_inches(), layout="constrained")}
        displays = {}
        for side, assessment in data.assessments.items():
            result = assessment.linear if scale == "linear" else assessment.logit
            display = ReliabilityDisplay(result, top_label=data.top_label)
            display.plot(figures[side].subplots(), counts=False, curve_kwargs={"color": COLORS[side]})
            displays[side] = display
        for get, put in (("get_xlim", "set_xlim"), ("get_ylim", "set_ylim")):
            limits = np.array([getattr(display.ax_, get)() for display in displays.values()])
            for display in displays.values():
                getattr(display.ax_, put)(limits[:, 0].min(), limits[:, 1].max())
        return {side: to_svg(figures[side], f"{side}-{scale}", alts[side]) for side in displays}


def map_figure(data: ReportData, alt: str) -> str:
    """The chosen map with its band, over the raw data where these are probabilities."""
    before = data.before.linear if data.before is not None else None
    display = CalibrationMapDisplay(
        data.map,
        points=None if before is None else before.points,
        scores=None if before is None else before.histogram,
        space="decision" if before is None else "probability",
        level=data.level,
        name=sentence_case(data.title_of(data.name)),
    )
    with open_figure(5.0 if before is None else 6.4) as figure:
        display.plot(figure.subplots(), curve_kwargs={"color": COLORS["after"]})
        return to_svg(figure, "map", alt)


def forest_figure(
    name: str, alt: str, rows: Sequence[str], series: Sequence[Series], label: str, **options: Any
) -> tuple[str, bool]:
    """Values with intervals, a row for each name, or along an axis; and whether some intervals are cut off."""
    legend = 0.25 * len(series) if len(series) > 1 else 0.0
    upright = options.get("upright", False)
    row = ROW * (0.8 + 0.2 * len(series))
    height, width = (4.2, 9.0) if upright else (0.6 + legend + row * max(len(rows), 2), WIDTH)
    with open_figure(height, width) as figure:
        ax = figure.subplots()
        ax.grid(visible=upright, axis="y")
        cut = draw_forest(ax, shortened(list(rows), LONGEST), series, label=label, **options)
        return to_svg(figure, name, alt), cut


def small_diagram(name: str, alt: str, tallies: Mapping[str, Tally], share: str) -> tuple[str, dict[str, Reliability]]:
    """Curves with their bands before and after calibration, and the numbers of both."""
    results = {}
    for side, tally in tallies.items():
        cells = tally.coarsen(SEGMENT_CELLS)
        judge = registry.create(JUDGE).fit_tally(cells)
        result = reliability(cells, curve=None, name=side)
        results[side] = Reliability(**vars(result) | {"curve": judge_curve(judge, cells, SMALL_POINTS)})
    with open_figure(SMALL, SMALL) as figure:
        display = ReliabilityDisplay(list(results.values()))
        colors = [{"color": COLORS[side]} for side in results]
        display.plot(figure.subplots(), points=False, distribution=None, curve_kwargs=colors)
        display.legend_.remove()
        display.ax_.set(xlabel="Predicted", ylabel=share.capitalize())
        return to_svg(figure, name, alt), results


def decision_figure(alt: str, curves: Mapping[str, DecisionCurve], threshold: float | None) -> str:
    """Net benefit with intervals, treating all and none, and the threshold that costs imply."""
    with open_figure(4.6, cycle=tuple(curves)) as figure:
        display = DecisionCurveDisplay(list(curves.values())).plot(figure.subplots())
        if threshold is not None:
            display.ax_.axvline(threshold, color=COLORS["soft"], linewidth=1.0, linestyle=":", zorder=1)
        return to_svg(figure, "decisions", alt)


def happened_label(data: ReportData) -> str:
    """The axis of predicted minus happened."""
    return f"Predicted − {outcome_of(data.top_label).share}, points"
