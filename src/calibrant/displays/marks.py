"""The marks on the axes: points with intervals and counts, bands, and how the scores lie."""

from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant._typing import Floats
from calibrant.displays import axes

SMALLEST, LARGEST = 14.0, 50.0  # areas of markers, in square points
LOG_RATIO = 100.0  # bars that differ more than this in height cannot be read on a linear axis


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
    # One broken line, since a legend avoids lines and not collections of them.
    ends = np.column_stack((points["low"], points["high"], np.full(len(points), np.nan))).ravel()
    bars = {"color": color, "linewidth": 1.3, "alpha": 0.75, "zorder": 2.5, "solid_capstyle": "butt"}
    (intervals,) = ax.plot(np.repeat(x, 3), axes.on_axis(ax.yaxis, ends), **bars)
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
    x = axes.on_axis(ax.xaxis, table["score"])
    low, high = axes.on_axis(ax.yaxis, table["low"]), axes.on_axis(ax.yaxis, table["high"])
    # Thin lines at the edges, since a legend avoids lines and not areas.
    for edge in (low, high):
        ax.plot(x, edge, color=color, alpha=min(2.0 * alpha, 1.0), linewidth=0.5, zorder=2)
    return ax.fill_between(x, low, high, color=color, alpha=alpha, linewidth=0, zorder=2)


def draw_curve(ax: Any, x: Floats, y: Floats, style: dict[str, Any]) -> Any:
    """A line, which takes the next colour of the axes unless `style` has one."""
    (line,) = ax.plot(axes.on_axis(ax.xaxis, x), axes.on_axis(ax.yaxis, y), **style)
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
