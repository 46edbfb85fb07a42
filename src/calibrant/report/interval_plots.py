"""Figures with a value and its interval for each method or segment: in the rows of a table, or along time."""

from collections.abc import Sequence

import numpy as np

from calibrant.comparison import Comparison
from calibrant.intervals import Interval
from calibrant.report.figures import Figure, error_bars, listed, scatter, titled
from calibrant.report.segments import Gap, Segment
from calibrant.report.wording import EVENT, Outcome, rounded, short_title

WIDE = 3.0  # intervals so many times as wide as the usual one may be cut off
FEW = 40  # segments along an axis that have room for points of the usual size
APART = 0.17  # of a row, between before and after, so that the two do not hide each other


def comparison_figure(changes: Sequence[Interval | None], n_shown: int, place: int | None) -> Figure:
    """Changes of the log-loss with their intervals in rows; the axis is for the first `n_shown`, `place` stands out."""
    rows = [(row, change) for row, change in enumerate(changes) if change is not None]
    values = [change for _, change in rows]
    trace = scatter("markers", "methods", [v.value for v in values], [float(row) for row, _ in rows]) | {
        "marker": {"color": ["@after" if row == place else "@neutral" for row, _ in rows], "size": 10},
        "error_x": error_bars([v.high - v.value for v in values], [v.value - v.low for v in values], "@neutral"),
    }
    seen = [change for row, change in rows if row < n_shown] or values
    limits = _with_margin(min([0.0, *(v.low for v in seen)]), max([0.0, *(v.high for v in seen)]))
    return {"data": [trace], "layout": {"xaxis": {"zeroline": True, "range": limits, "nticks": 3}}, "meta": {}}


def reference_title(comparison: Comparison) -> str:
    """The title of the method that differences are taken to."""
    own = comparison[comparison.reference]
    return "doing nothing" if own.name == "identity" else short_title(own.title or own.name)


def segments_figure(segments: tuple[Segment, ...]) -> Figure:
    """Predicted minus happened for each segment in percentage points, before and after, in rows."""
    data = []
    for side, symbol, at in _sides(segments):
        kept = [(row, gap) for row, gap in enumerate(_gaps(segments, side)) if gap is not None]
        x = [100.0 * (gap.predicted - gap.happened) for _, gap in kept]
        look = {"marker": {"color": f"@{side}", "size": 9, "symbol": symbol}}
        own = look | {"error_x": error_bars(*_lengths([gap for _, gap in kept]), f"@{side}")}
        data.append(scatter("markers", f"{side} calibration", x, [row + at for row, _ in kept]) | own)
    limits, cut = _limits(segments)
    return {"data": data, "layout": {"xaxis": {"zeroline": True, "range": limits, "nticks": 5}}, "meta": {"cut": cut}}


def timeline_figure(segments: tuple[Segment, ...], words: Outcome = EVENT) -> Figure:
    """Predicted minus happened along segments that have an order, such as days."""
    data = []
    for side, symbol, at in _sides(segments):
        kept = [(place, gap) for place, gap in enumerate(_gaps(segments, side)) if gap is not None]
        y = listed([100.0 * (gap.predicted - gap.happened) for _, gap in kept])
        colors, symbols = zip(*[("@bad", "diamond") if g.off else (f"@{side}", symbol) for _, g in kept], strict=True)
        own = {
            "marker": {"color": colors, "size": 8 if len(segments) <= FEW else 5, "symbol": symbols},
            "error_y": error_bars(*_lengths([gap for _, gap in kept]), f"@{side}"),
            "text": [segments[place].name for place, _ in kept],
            "customdata": [[rounded(g.predicted), rounded(g.happened), " – off" if g.off else ""] for _, g in kept],
            "hovertemplate": f"%{{text}}, {side} calibration%{{customdata[2]}}<br>"
            f"predicted %{{customdata[0]:.3p}}, {words.happened} %{{customdata[1]:.3p}}<extra></extra>",
        }
        data.append(scatter("markers", side, [place + at for place, _ in kept], y) | own)
    limits, cut = _limits(segments)
    names = [segment.name for segment in segments]
    time = {"range": [-0.7, len(names) - 0.3], "tickvals": [*range(len(names))], "ticktext": names}
    gap = titled(f"Predicted − {words.share}, percentage points", zeroline=True, range=limits)
    return {"data": data, "layout": {"xaxis": time, "yaxis": gap}, "meta": {"cut": cut}}


def _sides(segments: tuple[Segment, ...]) -> list[tuple[str, str, float]]:
    """The sides that any segment has, with the symbol of each and how far it stands beside its place."""
    apart = APART if any(s.before is not None for s in segments) else 0.0
    sides = (("before", "circle-open", -apart), ("after", "circle", apart))
    return [one for one in sides if any(gap is not None for gap in _gaps(segments, one[0]))]


def _gaps(segments: tuple[Segment, ...], side: str) -> list[Gap | None]:
    return [getattr(segment, side) for segment in segments]


def _lengths(gaps: list[Gap]) -> tuple[list[float], list[float]]:
    """How far the interval of predicted minus happened reaches above and below its value."""
    return [100.0 * (g.happened - g.low) for g in gaps], [100.0 * (g.high - g.happened) for g in gaps]


def _limits(segments: tuple[Segment, ...]) -> tuple[list[float], bool]:
    """Ends of the axis, and whether any interval is cut: that of a single row would squeeze all others."""
    gaps = [gap for side in ("before", "after") for gap in _gaps(segments, side) if gap is not None]
    lows = np.array([100.0 * (g.predicted - g.high) for g in gaps])
    highs = np.array([100.0 * (g.predicted - g.low) for g in gaps])
    values = np.array([100.0 * (g.predicted - g.happened) for g in gaps])
    usual = highs - lows <= WIDE * np.median(highs - lows)
    low, high = min(0.0, values.min(), lows[usual].min()), max(0.0, values.max(), highs[usual].max())
    return _with_margin(low, high), bool(lows.min() < low or highs.max() > high)


def _with_margin(low: float, high: float) -> list[float]:
    margin = 0.04 * (high - low) or 1.0
    return listed([low - margin, high + margin])
