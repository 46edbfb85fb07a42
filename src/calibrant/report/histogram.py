"""Bars of a histogram of probabilities on even or stretched axes."""

from dataclasses import dataclass, replace
from typing import Any

from calibrant.report.axis import Axis

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
    >>> from calibrant.report.histogram import place_bars
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
