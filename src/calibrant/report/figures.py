"""The figures of the page: drawn by `calibrant.displays`, and written as SVG in the colours of the page's theme."""

import html
import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant.decisions import DecisionCurve
from calibrant.displays.calibration_map import CalibrationMapDisplay
from calibrant.displays.curves import DecisionCurveDisplay
from calibrant.displays.forest import Series, draw_forest
from calibrant.displays.reliability import ReliabilityDisplay
from calibrant.reliability.result import Reliability
from calibrant.report.data import ReportData
from calibrant.report.wording import sentence_case, shortened

FOLDER = resources.files(__package__)
# Colours of the light theme; in the page each becomes the variable of the style sheet, which the dark theme changes.
LIGHT = (FOLDER / "style.css").read_text("utf-8").partition("@media")[0]
COLORS = dict(re.findall(r"--(\w+): (#\w{6})", LIGHT)) | {"neutral": "#808080"}  # the grey of the displays
WIDTH = 5.2  # inches, of which a phone shows nearly all at their size
NUMBER = re.compile(r"\d+\.\d{3,}")
UNUSED = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", re.DOTALL)
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


@contextmanager
def open_figure(height: float, width: float = WIDTH, cycle: tuple[str, ...] = ("before", "after")) -> Iterator[Any]:
    """A figure in the style of the page, whatever style the user has set; it is drawn and saved inside the block."""
    style = require("matplotlib.style", "report", "The report")
    figures = require("matplotlib.figure", "report", "The report")
    cycler = require("cycler", "report", "The report")
    own = {"axes.prop_cycle": cycler.cycler(color=[COLORS[name] for name in cycle])}
    with style.context(["default", str(FOLDER / "figures.mplstyle"), own]):
        yield figures.Figure(figsize=(width, height), layout="constrained")


def to_svg(figure: Any, name: str, alt: str) -> str:
    """The markup of a figure, as wide as its place; `name` keeps its identifiers apart from those of others.

    Examples
    --------
    >>> from calibrant.report.figures import open_figure, to_svg
    >>> with open_figure(2.0) as figure:
    ...     _ = figure.subplots().plot([0, 1], [0, 1])
    ...     text = to_svg(figure, "line", "A rising line.")
    >>> text.startswith('<svg role="img" aria-label="A rising line." viewBox='), "var(--before)" in text
    (True, True)
    """
    matplotlib = require("matplotlib", "report", "The report")
    file = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name}), warnings.catch_warnings():
        # A script that the font of the measurement lacks; the browser has it.
        warnings.filterwarnings("ignore", message="Glyph")
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        # The canvas draws once, where `savefig` would draw twice to find the layout.
        backend = require("matplotlib.backends.backend_svg", "report", "The report")
        backend.FigureCanvasSVG(figure).print_svg(file, metadata=nothing)
    text = UNUSED.sub("", file.getvalue())
    box = re.search(r'viewBox="[^"]*"', text)
    body = text[text.index(">", text.index("<svg")) + 1 :]
    body = re.sub(r"\s*\n\s*", "\n", re.sub(r"<[^>]+>", _clean_tag, body))
    label = html.escape(alt)
    return f'<svg role="img" aria-label="{label}" {box[0] if box else ""}><title>{label}</title>{body}'


def _clean_tag(match: re.Match[str]) -> str:
    """A tag with short numbers, the page's colours, and without identifiers that nothing refers to."""
    tag = re.sub(r'<g id="[^"]*"', "<g", match[0])
    tag = NUMBER.sub(lambda number: f"{float(number[0]):.2f}", tag)
    for name, color in COLORS.items():
        tag = tag.replace(color, f"var(--{name})")
    return tag
