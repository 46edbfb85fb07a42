"""Figures with one row for each method or segment: a value and its interval."""

import re

import numpy as np

from calibrant.comparison import Comparison
from calibrant.report.figures import Figure, error_bars, listed, plain, scatter, titled
from calibrant.report.segments import Gap, Segment
from calibrant.report.wording import EVENT, Outcome, rounded, sentence_case, short_title

WIDE = 3.0  # intervals so many times as wide as the usual one may be cut off
LONGEST, NARROW = 29, 20  # letters of a name beside the axis, on wide and on narrow screens


def comparison_figure(comparison: Comparison, shown: str) -> Figure:
    """The change of the log-loss against doing nothing, with its interval, best at the top."""
    rows = [r for r in comparison.results if r.log_loss_difference is not None]
    diffs = [r.log_loss_difference for r in rows if r.log_loss_difference is not None]
    colors = ["@after" if r.name == shown else "@neutral" for r in rows]
    titles = [r.title or r.name for r in rows]
    trace = scatter("markers", "methods", [d.value for d in diffs], [*range(len(rows))]) | {
        "text": [plain(sentence_case(title)) for title in titles],
        "marker": {"color": colors, "size": 10},
        "error_x": error_bars([d.high - d.value for d in diffs], [d.value - d.low for d in diffs], "@neutral", width=3),
        "customdata": [[rounded(d.value, 4), rounded(d.low, 4), rounded(d.high, 4)] for d in diffs],
        "hovertemplate": "%{text}<br>%{customdata[0]:+} (%{customdata[1]:+} to %{customdata[2]:+})<extra></extra>",
    }
    axis = titled(f"Change of log-loss against {reference_title(comparison)}", zeroline=True)
    layout = {"xaxis": axis, "yaxis": row_axis([sentence_case(title) for title in titles])}
    meta = row_meta("Change of log-loss", [_narrow(title) for title in titles])
    return {"data": [trace], "layout": layout, "meta": meta}


def reference_title(comparison: Comparison) -> str:
    """The title of the method that differences are taken to."""
    own = comparison[comparison.reference]
    return "doing nothing" if own.name == "identity" else short_title(own.title or own.name)


def segments_figure(segments: tuple[Segment, ...], words: Outcome = EVENT) -> Figure:
    """Predicted minus happened for each segment in percentage points, before and after, with exact intervals."""
    shift = 0.17 if any(s.before is not None for s in segments) else 0.0  # so that the two do not hide each other
    drawn = (("before", "circle-open", -shift), ("after", "circle", shift))
    data = [
        _segment_gaps(segments, side, f"@{side}", symbol, at=at, words=words)
        for side, symbol, at in drawn
        if any(getattr(s, side) is not None for s in segments)
    ]
    limits, cut = _limits([gap for s in segments for gap in (s.before, s.after) if gap is not None])
    names = [s.name for s in segments]
    axis = titled(f"Predicted − {words.share}, percentage points", zeroline=True, range=limits)
    meta = row_meta("Difference in points", names) | {"cut": cut}
    return {"data": data, "layout": {"xaxis": axis, "yaxis": row_axis(names)}, "meta": meta}


def _segment_gaps(
    segments: tuple[Segment, ...], side: str, color: str, symbol: str, *, at: float, words: Outcome
) -> Figure:
    kept = [(i, getattr(s, side)) for i, s in enumerate(segments) if getattr(s, side) is not None]
    x = [100.0 * (g.predicted - g.happened) for _, g in kept]
    return scatter("markers", f"{side} calibration", x, [i + at for i, _ in kept]) | {
        "marker": {"color": color, "size": 9, "symbol": symbol, "line": {"width": 2, "color": color}},
        "error_x": error_bars(
            [100.0 * (g.happened - g.low) for _, g in kept], [100.0 * (g.high - g.happened) for _, g in kept], color
        ),
        "customdata": [[rounded(g.predicted), rounded(g.happened), plain(segments[i].name)] for i, g in kept],
        "hovertemplate": "%{customdata[2]}<br>predicted %{customdata[0]:.3p}, "
        f"{words.happened} %{{customdata[1]:.3p}}<extra></extra>",
        "meta": {"label": side},
    }


def _limits(gaps: list[Gap]) -> tuple[list[float], bool]:
    """Ends of the axis, and whether any interval is cut: that of a single row would squeeze all others."""
    lows = np.array([100.0 * (g.predicted - g.high) for g in gaps])
    highs = np.array([100.0 * (g.predicted - g.low) for g in gaps])
    values = np.array([100.0 * (g.predicted - g.happened) for g in gaps])
    usual = highs - lows <= WIDE * np.median(highs - lows)
    low, high = min(0.0, values.min(), lows[usual].min()), max(0.0, values.max(), highs[usual].max())
    margin = 0.04 * (high - low)
    return listed([low - margin, high + margin]), bool(lows.min() < low or highs.max() > high)


def row_axis(names: list[str]) -> Figure:
    """An axis with one name for each row, the first at the top."""
    texts = [plain(name) for name in shortened(names, LONGEST)]
    return {"range": [len(names) - 0.5, -0.5], "tickvals": list(range(len(names))), "ticktext": texts}


def row_meta(title: str, names: list[str]) -> Figure:
    """A short title and short names, for narrow screens."""
    return {"rows": len(names), "short": title, "names": [plain(name) for name in shortened(names, NARROW)]}


def shortened(names: list[str], longest: int) -> list[str]:
    """Long names without their end, or their middle, or their beginning: whichever leaves most of them distinct.

    Examples
    --------
    >>> from calibrant.report.interval_plots import shortened
    >>> shortened(["Ward in the north", "Ward in the south"], 9)
    ['Ward …rth', 'Ward …uth']
    """
    tail = longest // 3

    def cut(head: int, end: int) -> list[str]:
        return [n if len(n) <= longest else f"{n[:head]}…{n[len(n) - end :]}" for n in names]

    return max((cut(longest - 1, 0), cut(longest - tail - 1, tail), cut(0, longest - 1)), key=lambda one: len(set(one)))


def _narrow(title: str) -> str:
    """The name of a method without the noun that goes without saying beside the others."""
    return sentence_case(re.sub(r" (scaling|regression|binning|calibration)$", "", short_title(title)))
