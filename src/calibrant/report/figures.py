"""The figures of the page, drawn by `calibrant.displays`; each function returns the markup of what it draws."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibrant.decisions import DecisionCurve
from calibrant.displays.calibration_map import CalibrationMapDisplay
from calibrant.displays.decision_curve import DecisionCurveDisplay
from calibrant.displays.forest import Series, draw_forest
from calibrant.displays.reliability import ReliabilityDisplay
from calibrant.reliability.result import Reliability
from calibrant.report.data import ReportData
from calibrant.report.svg import COLORS, WIDTH, open_figure, to_svg
from calibrant.report.wording import sentence_case, shortened

LONGEST = 32  # letters of a name beside a figure
SMALL = 2.9  # inches
ROW = 0.3  # inches of a row of a forest plot


def reliability_figures(data: ReportData, alts: Mapping[str, str]) -> dict[str, str]:
    """The diagrams before and after calibration, with histograms below them, on the same axes."""
    with open_figure(6.4) as first:
        figures = {"before": first, "after": type(first)(figsize=first.get_size_inches(), layout="constrained")}
        displays = {}
        for side, assessment in data.assessments.items():
            display = ReliabilityDisplay(assessment.diagram, top_label=data.top_label)
            displays[side] = display.plot(figures[side].subplots(), curve_kwargs={"color": COLORS[side]})
        limits = np.array([display.ax_.get_ylim() for display in displays.values()])
        widest = (limits[:, 0].min(), limits[:, 1].max())
        for display in displays.values():
            display.ax_.set(xlim=widest, ylim=widest)
        return {side: to_svg(figures[side], side, alts[side]) for side in displays}


def map_figure(data: ReportData, alt: str) -> str:
    """The chosen map with its band, over the raw data where these are probabilities."""
    before = data.before.diagram if data.before is not None else None
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


def small_diagram(name: str, alt: str, diagrams: Mapping[str, Reliability], share: str) -> str:
    """Curves with their bands before and after calibration, without points."""
    with open_figure(SMALL, SMALL, cycle=tuple(diagrams)) as figure:
        display = ReliabilityDisplay(list(diagrams.values()))
        display.plot(figure.subplots(), points=False, histogram=False)
        display.legend_.remove()
        display.ax_.set(xlabel="Predicted", ylabel=share)
        return to_svg(figure, name, alt)


def decision_figure(alt: str, curves: Mapping[str, DecisionCurve], threshold: float | None) -> str:
    """Net benefit with intervals, treating all and none, and the threshold that costs imply."""
    with open_figure(4.6, cycle=tuple(curves)) as figure:
        display = DecisionCurveDisplay(list(curves.values())).plot(figure.subplots())
        if threshold is not None:
            display.ax_.axvline(threshold, color=COLORS["soft"], linewidth=1.0, linestyle=":", zorder=1)
        return to_svg(figure, "decisions", alt)
