"""Axes of probabilities, the marks on them, and the small axes below that show how the scores lie.

No global setting is changed.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from calibrant._numerics import links
from calibrant._optional import require
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.reliability.result import Table

SCORES_LABEL = "calibrant: scores"  # by which the small axes are found again
IDENTITY_LABEL = "perfectly calibrated"
NEUTRAL = "0.5"  # a grey that is seen on white and on black
COLUMNS = {1: (3.35, 6.4), 2: (6.9, 4.3)}  # inches, as journals have them
BELOW = 4  # the picture is so many times as high as the scores below it
LEGEND = 0.7  # the legend's part of the same heights
NARROW, WIDE, LETTERS = 24, 72, 13  # letters in a line of the legend, and in an inch of it
MONOSPACED = 11  # the same in an inch of a table
MOST_TICKS = 7  # along a logit axis
MOST_NAMES = 12  # along an axis from left to right
NARROWEST = 2.0  # logit axis, in logits
SMALLEST, LARGEST = 14.0, 50.0  # areas of markers, in square points
LOG_RATIO = 100.0  # bars that differ more than this in height cannot be read on a linear axis


def open_axes(ax: Any, caller: str, *, below: bool = False) -> tuple[Any, Any]:
    """The given axes, or those of a new figure with room for others below, if matplotlib is there; and their figure."""
    if ax is None:
        pyplot = require("matplotlib.pyplot", "plot", caller)
        _, ax = pyplot.subplots(figsize=(5.6, 6.8 if below else 5.6), layout="constrained")
    return ax, ax.figure


def axes_below(ax: Any) -> Any:
    """Small axes that share x with `ax` and take a part of its place; those made before, if there are any."""
    for sibling in ax.get_shared_x_axes().get_siblings(ax):
        if sibling.get_label() == SCORES_LABEL:
            return sibling
    spec = ax.get_subplotspec()
    if spec is None:  # placed by hand
        place = ax.get_position(original=True)
        height = place.height / (BELOW + 1.4)
        ax.set_position([place.x0, place.y0 + 1.4 * height, place.width, BELOW * height])
        below = ax.figure.add_axes([place.x0, place.y0, place.width, height], sharex=ax, label=SCORES_LABEL)
    else:
        # A layout engine finds room for the legend above; without one, room has to be left.
        heights = (BELOW, 1) if ax.figure.get_layout_engine() is not None else (LEGEND, BELOW, 1)
        rows = spec.subgridspec(len(heights), 1, height_ratios=heights, hspace=0.08)
        ax.set_subplotspec(rows[-2])
        below = ax.figure.add_subplot(rows[-1], sharex=ax, label=SCORES_LABEL)
    ax.tick_params(labelbottom=False)
    ax.set_xlabel("")
    return below


def set_square(ax: Any, below: Any) -> None:
    """A square picture; the axes below get the same width, since their heights are in the same proportion."""
    ax.set_box_aspect(1.0)
    ax.set_anchor("S" if below is not None else "C")
    if below is not None:
        below.set_box_aspect(1.0 / BELOW)
        below.set_anchor("N")


def set_linear(ax: Any, limits: tuple[float, float], *, x: bool = True) -> None:
    """Axes as wide as `limits` and as any diagram that they have, with room for markers at the ends."""
    if _find_identity(ax) is not None:
        before = ax.get_ylim()
        margin = 0.02 / 1.04 * (before[1] - before[0])
        limits = min(limits[0], before[0] + margin), max(limits[1], before[1] - margin)
    margin = 0.02 * (limits[1] - limits[0])
    ax.set_ylim(limits[0] - margin, limits[1] + margin)
    if x:
        ax.set_xlim(limits[0] - margin, limits[1] + margin)


def name_places(ax: Any, names: Sequence[Any]) -> None:
    """Names along the x axis at 0, 1, 2 …; some are left out where they would touch each other."""
    every = -(-len(names) // MOST_NAMES)
    ax.set_xticks(range(0, len(names), every), [str(name) for name in names[::every]], rotation=45, ha="right")


def arrange(
    ax: Any, below: Any, scale: str, limits: tuple[float, float], names: tuple[str, str], *, x: bool = True
) -> None:
    """Scale, limits, shape and names of the axes; `x` says whether both directions have the same limits."""
    if scale == "logit":
        for axis in (ax.xaxis, ax.yaxis) if x else (ax.yaxis,):
            set_logit(axis, limits)
    else:
        set_linear(ax, limits, x=x)
    set_square(ax, below)
    (below or ax).set_xlabel(names[0])
    ax.set_ylabel(names[1])


def drawn_values(points: Table, curve: Table | None, scale: str) -> Floats:
    """The coordinates that must be seen.

    On the logit scale intervals may reach past the ends towards 0 and 1. On the linear scale the curve may leave the
    picture: the last step of isotonic regression is often a few rows at 1, far from everything else.
    """
    low, high = points["low"], points["high"]
    if scale == "logit":
        low, high = low[low > 0.5], high[high < 0.5]
    columns = [points["mean_score"], points["fraction"], low, high]
    if scale == "logit" and curve is not None:
        columns += [curve["score"], curve["probability"]]
    return np.concatenate(columns)


def logit_limits(values: Floats, total: float) -> tuple[float, float]:
    """Ends of a logit axis that shows the given probabilities, of which 0 and 1 have no place on it.

    Data of `total` rows can say nothing about probabilities far below 1 / total, so the axis never goes below a
    tenth of that, nor above the same distance from 1.
    """
    last = float(links.logit(np.array(1.0 - min(0.1 / total, 0.05))))
    inside = links.logit(values[(values > 0.0) & (values < 1.0)])
    low, high = (inside.min() - 0.5, inside.max() + 0.5) if len(inside) else (-2.0, 2.0)
    missing = max(0.5 * (NARROWEST - (high - low)), 0.0)
    low, high = np.clip(low - missing, -last, last - NARROWEST), np.clip(high + missing, NARROWEST - last, last)
    ends = links.expit(np.array([low, high]))
    return float(ends[0]), float(ends[1])


def set_logit(axis: Any, limits: tuple[float, float]) -> None:
    """Make one axis logistic, at least as wide as `limits` and as it was before."""
    ticker = require("matplotlib.ticker", "plot", "A logit axis")
    ax, x = axis.axes, axis.axis_name == "x"
    if axis.get_scale() == "logit":
        before = ax.get_xlim() if x else ax.get_ylim()
        limits = min(limits[0], before[0]), max(limits[1], before[1])
    (ax.set_xscale if x else ax.set_yscale)("logit")
    (ax.set_xlim if x else ax.set_ylim)(*limits)
    axis.set_major_locator(ticker.LogitLocator(nbins=MOST_TICKS))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: _tick_text(value)))
    axis.set_minor_locator(ticker.NullLocator())


def _tick_text(value: float) -> str:
    if 1e-4 <= value <= 1.0 - 0.99e-4:
        return f"{value:.6g}"
    return f"{value:.0e}".replace("e-0", "e-") if value < 0.5 else f"1−{_tick_text(round(1.0 - value, 17))}"


def on_axis(axis: Any, values: Floats) -> Floats:
    """Values that the axis can show: on a logit axis, 0 and 1 move beyond its ends."""
    return links.clip(values) if axis.get_scale() == "logit" else values


def draw_identity(ax: Any) -> Any:
    """The diagonal, once on every axes."""
    if (line := _find_identity(ax)) is None:
        ends, style = on_axis(ax.xaxis, np.array([0.0, 1.0])), {"color": NEUTRAL, "linewidth": 1.0, "zorder": 1}
        (line,) = ax.plot(ends, ends, linestyle=(0, (4, 3)), label=IDENTITY_LABEL, **style)
    return line


def _find_identity(ax: Any) -> Any:
    return next((line for line in ax.get_lines() if line.get_label() == IDENTITY_LABEL), None)


def line_style(given: Mapping[str, Any]) -> dict[str, Any]:
    """Options for a line by their full names, so that they can replace ours."""
    lines, cbook = require("matplotlib.lines", "plot", "A line"), require("matplotlib.cbook", "plot", "A line")
    return cbook.normalize_kwargs(dict(given), lines.Line2D)


def draw_legend(ax: Any, title: str | None = None) -> Any:
    """A legend: curves first; artists that share a text share one grey entry.

    It stands above the axes, as wide as they are: inside it would cover data sooner or later.
    """
    entries: dict[str, list[Any]] = {}
    for handle, label in sorted(zip(*ax.get_legend_handles_labels(), strict=True), key=_place_in_legend):
        entries.setdefault(label, []).append(handle)
    handles = [same[0] if len(same) == 1 else _neutral(same[0]) for same in entries.values()]
    options = {"title": title, "fontsize": "small", "title_fontsize": "small", "alignment": "left"}
    texts = [wrap(ax, label) for label in entries]
    return ax.legend(handles, texts, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, **options)


def wrap(ax: Any, text: str, letters: float = LETTERS) -> str:
    """The text in lines that are no longer than the axes are wide."""
    size = require("matplotlib", "plot", "A legend").rcParams["font.size"] / 10.0
    width = ax.get_window_extent().width / ax.figure.dpi / size
    most = int(np.clip(width * letters, NARROW, WIDE))
    return "\n".join(textwrap.fill(line, most) for line in text.split("\n"))


def _place_in_legend(entry: tuple[Any, str]) -> int:
    handle, label = entry
    return 2 if label == IDENTITY_LABEL else int(hasattr(handle, "get_sizes"))


def _neutral(handle: Any) -> Any:
    lines = require("matplotlib.lines", "plot", "A legend")
    if hasattr(handle, "get_sizes"):
        return lines.Line2D([], [], marker="o", linestyle="none", color=NEUTRAL)
    return lines.Line2D([], [], color=NEUTRAL)


def points_label(points: Any, level: float) -> str:
    """The points in words, for the legend: "10 bins of 94–106 rows, 90 % interval"."""
    low, high = format_count(points["total"].min()), format_count(points["total"].max())
    number = f"{len(points)} bins" if len(points) > 1 else "1 bin"
    return f"{number} of {low if low == high else f'{low}–{high}'} rows, {100 * level:.4g} % interval"


def format_count(count: float) -> str:
    """A number of rows, short and exact enough to read in a picture."""
    return f"{count:,.0f}" if count >= 10 or count == round(count) else f"{count:.2g}"


def draw_points(ax: Any, points: Any, *, color: Any, label: str | None) -> dict[str, Any]:
    """Markers whose area grows with the number of rows, on their intervals.

    On a logit axis a fraction of 0 or 1, or a score beyond the limits, has no place: a triangle at the edge points to
    where it is.
    """
    x, left, right = _inside(points["mean_score"], ax.get_xscale(), ax.get_xlim())
    y, below, above = _inside(points["fraction"], ax.get_yscale(), ax.get_ylim())
    size = SMALLEST + (LARGEST - SMALLEST) * points["total"] / points["total"].max()
    style = {"color": color, "edgecolors": ax.get_facecolor(), "linewidths": 0.7, "zorder": 3}
    low, high = on_axis(ax.yaxis, points["low"]), on_axis(ax.yaxis, points["high"])
    intervals = ax.vlines(x, low, high, color=color, linewidth=1.3, alpha=0.75, zorder=2.5)
    inside = ~(left | right | below | above)
    drawn = ax.scatter(x[inside], y[inside], s=size[inside], label=label, **style)
    beyond = [
        ax.scatter(x[at], y[at], s=LARGEST, marker=marker, clip_on=False, **style)
        for marker, at in (("v", below), ("^", above & ~below), ("<", left & ~below & ~above), (">", right & ~above))
        if at.any()
    ]
    return {"points": drawn, "intervals": intervals, "beyond": beyond}


def _inside(values: Floats, scale: str, limits: tuple[float, float]) -> tuple[Floats, Any, Any]:
    """Values moved to the ends of a logit axis, and which were too low and too high."""
    if scale != "logit":
        nowhere = np.zeros(len(values), dtype=bool)
        return values, nowhere, nowhere
    return np.clip(values, *limits), values < limits[0], values > limits[1]


def draw_band(ax: Any, table: Any, *, color: Any, alpha: float = 0.22) -> Any:
    """The area between the columns `low` and `high`, or nothing where there are none."""
    if "low" not in table.dtype.names:
        return None
    x = on_axis(ax.xaxis, table["score"])
    low, high = on_axis(ax.yaxis, table["low"]), on_axis(ax.yaxis, table["high"])
    style = {"facecolor": (color, alpha), "edgecolor": (color, min(2.0 * alpha, 1.0)), "linewidth": 0.5}
    return ax.fill_between(x, low, high, zorder=2, **style)


def draw_curve(ax: Any, x: Floats, y: Floats, style: dict[str, Any]) -> Any:
    """A line, which takes the next colour of the axes unless `style` has one."""
    (line,) = ax.plot(on_axis(ax.xaxis, x), on_axis(ax.yaxis, y), **style)
    return line


def draw_histogram(ax: Any, table: Any, *, color: Any, fill: bool, share: bool) -> Any:
    """Bars as one outline; filled where one model is alone."""
    edges, height = visible_bars(ax, table)
    height = height / (height.sum() if share else 1.0)
    if height.max() > LOG_RATIO * np.median(height[height > 0.0]):
        ticker = require("matplotlib.ticker", "plot", "A logarithmic axis")
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,g}"))
        ax.yaxis.set_minor_formatter(ticker.NullFormatter())
    ax.set_ylabel(f"{'Share' if share else 'Rows'}{', log' if ax.get_yscale() == 'log' else ''}")
    style = {"alpha": 0.45, "baseline": 0} if fill else {"linewidth": 1.2, "baseline": None}
    return ax.stairs(height, edges, fill=fill, color=color, **style)


def draw_spikes(ax: Any, table: Any, color: Any) -> Any:
    """Positives as lines up and negatives as lines down, on one scale."""
    middle = 0.5 * (table["left"] + table["right"])
    positives, negatives = table["positives"], table["total"] - table["positives"]
    ax.axhline(0.0, color=NEUTRAL, linewidth=0.6, zorder=1)
    most = max(positives.max(), negatives.max())
    ax.set_ylim(-1.05 * most, 1.05 * most)
    ax.set_yticks([-0.5 * most, 0.5 * most], ["no event", "event"])
    ax.tick_params(axis="y", length=0)
    return ax.vlines(np.tile(middle, 2), 0.0, np.append(positives, -negatives), colors=color, linewidth=1.2)


@contextmanager
def paper(columns: int, ax: Any = None) -> Iterator[Any]:
    """Axes for a figure of one column or two, in which small letters are the rule while it is drawn."""
    matplotlib = require("matplotlib", "plot", "A figure for a paper")
    if columns not in COLUMNS:
        raise InvalidInputError(f"`columns` must be 1 or 2, the columns of the paper; got {columns!r}.")
    with matplotlib.rc_context({"font.size": 8.0, "axes.linewidth": 0.6}):
        figure = require("matplotlib.figure", "plot", "A figure for a paper").Figure
        yield figure(figsize=COLUMNS[columns], layout="constrained").subplots() if ax is None else ax


def visible_bars(ax: Any, table: Any) -> tuple[Floats, Floats]:
    """Edges and rows of the bars as the x axis shows them.

    On a logit axis, rows beyond its limits count in the outermost bars. On a linear one, bars of a narrow range join
    to the width that fits the axis, so that models with different ranges compare.
    """
    edges, rows = np.append(table["left"], table["right"][-1:]), table["total"]
    low, high = ax.get_xlim()
    if ax.get_xscale() == "logit":
        inner = edges[(edges > low) & (edges < high)]
        shown = np.bincount(np.searchsorted(inner, table["left"], "right"), rows, len(inner) + 1)
        return np.concatenate(([low], inner, [high])), shown.astype(np.float64)
    joined = round((high - low) / (1.04 * len(rows) * (edges[1] - edges[0])))
    if joined <= 1 or len(rows) % joined:
        return edges, rows
    return edges[::joined], rows.reshape(-1, joined).sum(axis=1)
