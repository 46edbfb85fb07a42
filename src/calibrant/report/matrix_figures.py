"""Figures on several classes: a small diagram of one class, and the pairs of classes that are confused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calibrant.calibrators import registry
from calibrant.reliability.tables import curve_grid, tabulate_map, visible_range
from calibrant.report.figures import Figure, error_bars, listed, scatter, titled
from calibrant.report.segments import JUDGE
from calibrant.report.study import LEVEL
from calibrant.report.wording import rounded, shortened
from calibrant.tally import Tally

if TYPE_CHECKING:
    from calibrant.report.matrix_sections import Pair

PLACES = 60  # along a curve
LONGEST = 40  # letters of a name


def class_figure(before: Tally, after: Tally) -> Figure:
    """The curve of one class with its credible band, before and after calibration, on axes just as long as needed."""
    highest = max(float(side.scores[-1]) for side in (before, after))
    low, high = visible_range(0.0, highest)
    margin = 0.03 * (high - low)
    axis = {"range": listed([low - margin, high + margin]), "tickformat": ",.3~%", "nticks": 5}
    perfect = scatter("lines", "perfect", [low, high], listed([low, high])) | {
        "line": {"color": "@faint", "width": 1.5, "dash": "dash"},
        "hoverinfo": "skip",
    }
    curves = [_curve(before, "@before", "before"), _curve(after, "@after", "after")]
    layout = {"xaxis": titled("Predicted", **axis), "yaxis": titled("How often it was the class", **axis)}
    return {"data": [perfect, *curves], "layout": layout, "meta": {"square": True, "both": False}}


def _curve(tally: Tally, color: str, label: str) -> Figure:
    grid = curve_grid(tally, probabilities=True)
    places = np.unique(np.linspace(0, len(grid) - 1, PLACES).round().astype(int))
    curve = tabulate_map(registry.create(JUDGE).fit_tally(tally), grid[places], LEVEL)
    band = {key: listed(curve[key], 4) for key in ("low", "high")} | {"band": f"{color}/band"}
    return scatter("lines", label, curve["score"], listed(curve["probability"], 4)) | {
        "line": {"color": color, "width": 2.5},
        "meta": {"label": label} | band,
        "hovertemplate": "%{meta.label}<br>predicted %{customdata[0]:.3p}<br>was the class %{customdata[1]:.3p} "
        "(%{customdata[2]:.3p} to %{customdata[3]:.3p})<extra></extra>",
    }


def pairs_figure(pairs: list[Pair]) -> Figure:
    """Predicted minus right for each pair, in percentage points; the first pair at the top."""
    names = shortened([pair.arrow for pair in pairs], LONGEST)
    data = [_gaps(pairs, side, at) for side, at in (("before", -0.15), ("after", 0.15))]
    axis = {"range": [len(pairs) - 0.5, -0.5], "tickvals": list(range(len(pairs))), "ticktext": names}
    layout = {"xaxis": titled("Predicted − right, percentage points", zeroline=True), "yaxis": axis}
    return {"data": data, "layout": layout, "meta": {"rows": len(pairs), "short": "Points", "names": names}}


def _gaps(pairs: list[Pair], side: str, at: float) -> Figure:
    color, symbol = f"@{side}", "circle-open" if side == "before" else "circle"
    x = [100.0 * (getattr(pair, side) - pair.share.value) for pair in pairs]
    above = [100.0 * (pair.share.value - pair.share.low) for pair in pairs]
    below = [100.0 * (pair.share.high - pair.share.value) for pair in pairs]
    return scatter("markers", f"{side} calibration", x, [place + at for place in range(len(pairs))]) | {
        "marker": {"color": color, "size": 9, "symbol": symbol, "line": {"width": 2, "color": color}},
        "error_x": error_bars(above, below, color),
        "customdata": [[rounded(getattr(p, side)), rounded(p.share.value), p.name] for p in pairs],
        "hovertemplate": "%{customdata[2]}<br>predicted %{customdata[0]:.3p}<br>right %{customdata[1]:.3p}"
        "<extra></extra>",
        "meta": {"label": side},
    }
