"""Upright bars, among them those of a histogram of probabilities on even or stretched axes."""

from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree as ET

from calibrant.report.axis import Axis
from calibrant.report.hover import point_text
from calibrant.report.marks import at_percent, color_style

SLIVER = 3.0  # percent of the axis: the width of a bar that stands for rows beyond its end


@dataclass(frozen=True)
class Bar:
    """The rows between two probabilities, and where their bar stands on the axis in percent."""

    start: float
    end: float
    rows: float
    positives: float
    left: float
    right: float


def place_bars(edges: dict[str, list[float]], axis: Axis) -> list[Bar]:
    """The bars on an axis; rows beyond its ends count in the outermost ones, so that none are lost.

    Examples
    --------
    >>> from calibrant.report.axis import Axis
    >>> from calibrant.report.bars import place_bars
    >>> edges = {"left": [0.0, 0.1, 0.5], "right": [0.1, 0.5, 1.0], "total": [5, 9, 1], "positives": [0, 1, 1]}
    >>> [(bar.start, bar.end, bar.rows) for bar in place_bars(edges, Axis("linear", 0.2, 1.0))]
    [(0.0, 0.5, 14), (0.5, 1.0, 1)]
    """
    bars: list[Bar] = []
    for start, end, rows, positives in zip(*(edges[k] for k in ("left", "right", "total", "positives")), strict=True):
        left, right = axis.inside(start), axis.inside(end)
        if right <= 0.0:
            right = SLIVER
        if left >= 100.0:
            left = 100.0 - SLIVER
        last = bars[-1] if bars else None
        if last is not None and left < last.right - 1e-6:
            joined: dict[str, Any] = {"rows": last.rows + rows, "positives": last.positives + positives}
            bars[-1] = replace(last, end=end, right=max(last.right, right), **joined)
        else:
            bars.append(Bar(start, end, rows, positives, left, right))
    return bars


def histogram_bars(trace: dict[str, Any], x: Axis) -> list[Bar]:
    """The bars of a trace that has the edges of a histogram in its `meta`."""
    edges = (trace.get("meta") or {}).get("bars")
    return place_bars(edges["logit" if x.kind == "logit" else "linear"], x) if edges else []


def draw_bars(area: ET.Element, trace: dict[str, Any], x: Axis, y: Axis) -> None:
    """Upright bars: those of a histogram by their edges, others around `x` with their `width`."""
    group = ET.SubElement(
        area, "g", {"class": "bars"} | color_style((trace.get("marker") or {}).get("color", "@after"))
    )
    meta = trace.get("meta") or {}
    if "bars" in meta:
        bars = histogram_bars(trace, x)
        spans, heights = [(bar.left, bar.right) for bar in bars], [bar.rows for bar in bars]
        shares = [[bar.start, bar.end, bar.rows, bar.positives / bar.rows if bar.rows else 0.0] for bar in bars]
        trace = trace | {"customdata": shares}
    else:
        widths = trace.get("width") or 0.8
        wide = widths if isinstance(widths, list) else [widths] * len(trace["x"])
        spans = [(x.inside(c - w / 2), x.inside(c + w / 2)) for c, w in zip(trace["x"], wide, strict=True)]
        heights = trace["y"]
    ground = y.inside(0.0) if y.kind == "linear" else 0.0
    for place, ((left, right), height) in enumerate(zip(spans, heights, strict=True)):
        top = y.inside(height) if y.kind == "linear" or height > 0 else 0.0
        box = {"x": left, "y": 100 - max(top, ground), "width": right - left, "height": abs(top - ground)}
        rect = ET.SubElement(group, "rect", {key: at_percent(value) for key, value in box.items()})
        if text := point_text(trace, place):
            ET.SubElement(rect, "title").text = text
