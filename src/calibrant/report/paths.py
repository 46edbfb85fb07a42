"""Lines and bands of a figure, as paths in a square of 1000 units with no more corners than the eye can see."""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from calibrant._typing import Floats
from calibrant.report.axis import Axis

UNITS = 10.0  # in a percent
TOLERANCE = 0.3  # units: a sixth of a pixel
FAR = 3000.0  # units beyond which a line need not be followed
DASHES = {"dash": "7 5", "dot": "2 4", "dashdot": "7 4 2 4"}


def draw_line(group: ET.Element, trace: dict[str, Any], x: Axis, y: Axis, tip: str) -> None:
    """Add a line, with a band below it where the trace's `meta` has the ends of one."""
    meta, line = trace.get("meta") or {}, trace.get("line") or {}
    across = _places(trace["x"], x)
    if "band" in meta:
        upper, lower = (simplify(across, _heights(meta[end], y)) for end in ("high", "low"))
        outline = np.concatenate([upper, lower[::-1]])
        ET.SubElement(group, "path", {"class": "band", "d": f"{_path(outline)}Z", "data-top": str(len(upper))})
    if meta.get("diagonal"):
        corners = np.array([[0.0, 1000.0], [1000.0, 0.0]])
    else:
        corners = simplify(across, _heights(trace["y"], y))
    given = {"class": "curve", "d": _path(corners), "stroke-width": f"{line.get('width', 2):g}"}
    if line.get("dash") in DASHES:
        given["stroke-dasharray"] = DASHES[line["dash"]]
    if trace.get("fill") == "toself":
        given["class"] = "band"
    if tip:
        given["data-tip"] = tip
    ET.SubElement(group, "path", given)


def _places(values: Sequence[float], axis: Axis) -> Floats:
    return np.clip([UNITS * axis.place(value) for value in values], -FAR, FAR)


def _heights(values: Sequence[float], axis: Axis) -> Floats:
    return 1000.0 - _places(values, axis)


def _path(corners: Floats) -> str:
    return "M" + " ".join(f"{value:.1f}".removesuffix(".0") for value in corners.ravel())


def simplify(x: Floats, y: Floats, tolerance: float = TOLERANCE) -> Floats:
    """The corners without which a line would look different: none left out is further from it than the tolerance.

    Douglas and Peucker's algorithm: keep the corner furthest from the straight line between two kept ones, and go on
    on both sides of it.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.report.paths import simplify
    >>> simplify(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.0, 0.0, 5.0])).tolist()
    [[0.0, 0.0], [2.0, 0.0], [3.0, 5.0]]
    """
    corners = np.column_stack([x, y]).astype(float)
    kept, open_parts = {0, len(corners) - 1}, [(0, len(corners) - 1)]
    while open_parts:
        first, last = open_parts.pop()
        if last - first < 2:
            continue
        away = _distances(corners[first + 1 : last], corners[first], corners[last])
        furthest = int(away.argmax())
        if away[furthest] > tolerance:
            middle = first + 1 + furthest
            kept.add(middle)
            open_parts += [(first, middle), (middle, last)]
    return corners[sorted(kept)]


def _distances(points: Floats, start: Floats, end: Floats) -> Floats:
    """From points to the straight line through two others, or to the point where these are one."""
    along, offset = end - start, points - start
    length = float(np.hypot(*along))
    if length == 0.0:
        return np.asarray(np.hypot(offset[:, 0], offset[:, 1]))
    return np.asarray(np.abs(offset[:, 0] * along[1] - offset[:, 1] * along[0]) / length)
