"""Points of a figure, with their intervals; and the colours that they and everything else are drawn in."""

import re
from typing import Any
from xml.etree import ElementTree as ET

from calibrant.report.axis import Axis

SYMBOLS = {
    "square": "M-1-1H1V1H-1Z",
    "diamond": "M0-1.3L1.3 0L0 1.3L-1.3 0Z",
    "triangle-up": "M0-1.2L1.2 1H-1.2Z",
    "triangle-down": "M0 1.2L1.2-1H-1.2Z",
    "triangle-left": "M-1.2 0L1-1.2V1.2Z",
    "triangle-right": "M1.2 0L-1-1.2V1.2Z",
}
NEAR = 0.01  # percent beyond the end of an axis that count as on it


def color_style(token: str) -> dict[str, str]:
    """The variable ``--c`` for a colour of the page, such as "@before" or "@before/band".

    Examples
    --------
    >>> from calibrant.report.marks import color_style
    >>> color_style("@m3")
    {'style': '--c:var(--m3)'}
    """
    match = re.fullmatch(r"@([a-z0-9]+)(/[a-z]+)?", token)
    if match is None:
        raise ValueError(f"A colour of a figure must be a name of the page such as '@after'; got {token!r}.")
    return {"style": f"--c:var(--{match[1]})"}


def at_percent(value: float) -> str:
    """A place as SVG writes it."""
    return f"{value:.5g}%"


def append_mark(points: ET.Element, trace: dict[str, Any], place: int, axes: tuple[Axis, Axis], text: str) -> None:
    """Add the point at a place of a trace; beyond the ends of the axes it stands at the end and points outwards."""
    (x, y), marker = axes, trace.get("marker") or {}
    left, top = x.inside(trace["x"][place]), 100.0 - y.inside(trace["y"][place])
    outwards = _outside(x.place(trace["x"][place]), y.place(trace["y"][place]))
    symbol = outwards or _one(marker.get("symbol", "circle"), place)
    color = color_style(_one(marker.get("color", "@after"), place))
    mark = ET.SubElement(points, "g", {"class": "mark beyond" if outwards else "mark"} | color)
    if text:
        ET.SubElement(mark, "title").text = text
    for key, axis in (("x", x), ("y", y)):
        _append_interval(mark, trace, key, place, axis, left=left, top=top)
    radius = f"{_one(marker.get('size', 8), place) / 2:.3g}"
    if symbol in ("circle", "circle-open"):
        at = {"cx": at_percent(left), "cy": at_percent(top), "r": radius}
        ET.SubElement(mark, "circle", at | ({"class": "hollow"} if symbol == "circle-open" else {}))
    else:
        at = {"x": at_percent(left), "y": at_percent(top), "class": "symbol"}
        shape = {"d": SYMBOLS[symbol], "transform": f"scale({radius})"}
        ET.SubElement(ET.SubElement(mark, "svg", at), "path", shape)


def _append_interval(
    mark: ET.Element, trace: dict[str, Any], key: str, place: int, axis: Axis, *, left: float, top: float
) -> None:
    bars, value = trace.get(f"error_{key}") or {}, trace[key][place]
    if "array" not in bars:
        return
    below = bars.get("arrayminus", bars["array"])
    low, high = axis.inside(value - below[place]), axis.inside(value + bars["array"][place])
    across, along = ("y", "x") if key == "x" else ("x", "y")
    ends = (low, high) if key == "x" else (100.0 - high, 100.0 - low)
    level = at_percent(top if key == "x" else left)
    line = {f"{across}1": level, f"{across}2": level} | {f"{along}{i}": at_percent(e) for i, e in enumerate(ends, 1)}
    thin = str(bars.get("color", "")).endswith("/thin")
    ET.SubElement(mark, "line", line | ({"class": "thin"} if thin else {}))


def _outside(left: float, height: float) -> str:
    if height < -NEAR:
        return "triangle-down"
    if height > 100.0 + NEAR:
        return "triangle-up"
    return "triangle-left" if left < -NEAR else "triangle-right" if left > 100.0 + NEAR else ""


def _one(values: Any, place: int) -> Any:
    return values[place] if isinstance(values, list | tuple) else values
