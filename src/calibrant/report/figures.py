"""The figures as plain plotly dictionaries.

Colours are names such as "@before", which the page replaces by those of its light or dark theme. A trace with `low` and
`high` in its `meta` gets a band; figures with `scale` in their `meta` can be switched to stretched (logit) axes.
Strings of the user go through `plain`, because plotly reads a few HTML tags in its texts.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from calibrant._kernels import links
from calibrant.displays import axes
from calibrant.reliability import Reliability, visible_range
from calibrant.reliability.tables import Table
from calibrant.report.study import Side, Study
from calibrant.report.wording import EVENT, Outcome, outcome_of, rounded, sentence_case

__all__ = [
    "Figure",
    "error_bars",
    "line_of",
    "listed",
    "map_figure",
    "plain",
    "reliability_figure",
    "scores_figure",
    "segment_diagrams",
    "shared_scale",
]

Figure = dict[str, Any]
LOG_RATIO = 100.0  # bars that differ more than this cannot be read on a linear axis
PREDICTED = "Predicted probability"
SEGMENT_PLACES = 120
PALETTE = 8  # colours of the page for methods: @m0 … @m7
POINT_COLUMNS = {"low": "low", "high": "high", "rows": "total", "left": "left", "right": "right"}
DASHES = ("solid", "dash", "dot")
CURVE = "%{meta.label}<br>predicted %{customdata[0]:.3p}<br>WORD %{customdata[1]:.3p}"
MAPPED = "%{meta.label}<br>score %{customdata[0]:.3p}<br>becomes %{customdata[1]:.3p}"
BAND = " (%{customdata[2]:.3p} to %{customdata[3]:.3p})"


def plain(text: str) -> str:
    """A text that plotly shows letter by letter."""
    return escape(text, quote=False).replace("{", "&#123;")


def listed(values: Any, digits: int = 6) -> list[float]:
    """Numbers for JSON, rounded."""
    return [rounded(float(value), digits) for value in values]


def error_bars(above: Any, below: Any, color: str, *, thickness: float = 1.5, width: int = 0) -> Figure:
    """Bars of different length on both sides of a point."""
    lengths = {"type": "data", "symmetric": False, "array": listed(above), "arrayminus": listed(below)}
    return lengths | {"color": color, "thickness": thickness, "width": width}


def _curve(table: Table, color: str, label: str, hover: str, **more: Any) -> Figure:
    """A line, with its band where the table has one."""
    meta: Figure = {"label": plain(label)}
    banded = "low" in (table.dtype.names or ())
    if banded:
        meta |= {"low": listed(table["low"], 5), "high": listed(table["high"], 5), "band": f"{color}/band"}
    return {
        "type": "scatter",
        "mode": "lines",
        "name": plain(label),
        "x": listed(table["score"]),
        "y": listed(table["probability"], 5),
        "line": {"color": color, "width": 2.5},
        "meta": meta,
        "hovertemplate": hover + (BAND if banded else "") + "<extra></extra>",
    } | more


def _points(points: Table, color: str, label: str, words: Outcome) -> Figure:
    size = 6.0 + 6.0 * np.sqrt(points["total"] / points["total"].max())
    low, high = points["low"], points["high"]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plain(label),
        "x": listed(points["mean_score"]),
        "y": listed(points["fraction"]),
        "marker": {"color": color, "size": listed(size, 3), "opacity": 1, "line": {"color": "@paper", "width": 1}},
        "error_y": error_bars(high - points["fraction"], points["fraction"] - low, color, thickness=1.2),
        # How far the scores of a group reach: a wide group need not lie on the curve.
        "error_x": {"type": "data", "symmetric": False, "color": f"{color}/thin", "thickness": 1, "width": 0},
        "meta": {"label": plain(label)} | {key: listed(points[column], 5) for key, column in POINT_COLUMNS.items()},
        "hovertemplate": "%{customdata[4]:,} rows between %{customdata[5]:.3p} and %{customdata[6]:.3p}<br>"
        f"predicted %{{customdata[0]:.3p}}<br>{words.happened} %{{customdata[1]:.3p}}{BAND}<extra></extra>",
    }


def _diagonal() -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "perfect",
        "x": [0.0, 1.0],
        "y": [0.0, 1.0],
        "line": {"color": "@faint", "width": 1.5, "dash": "dash"},
        "meta": {"label": "perfect", "diagonal": True},
        "hoverinfo": "skip",
    }


def _scale(results: list[Reliability]) -> Figure:
    """Limits of both kinds of axes, wide enough for all results."""
    linear = np.concatenate([axes.drawn_values(one.points, None, "linear") for one in results])
    low = min(linear.min(), *(one.histogram["left"][one.histogram["total"] > 0][0] for one in results))
    high = max(linear.max(), *(one.histogram["right"][one.histogram["total"] > 0][-1] for one in results))
    stretched = np.concatenate([axes.drawn_values(one.points, None, "logit") for one in results])
    ends = axes.logit_limits(stretched, max(one.total for one in results))
    ticks = axes.logit_ticks(*ends)
    return {
        "linear": list(visible_range(float(low), float(high))),
        "logit": listed(links.logit(np.array(ends))),
        "ticks": listed(links.logit(np.array(ticks))),
        "texts": [f"{100.0 * tick:.8g}%" for tick in ticks],
    }


def shared_scale(study: Study) -> Figure:
    """The limits that all diagrams of a page share, so that they compare."""
    return _scale([side.linear for side in (study.before, study.after) if side is not None])


def reliability_figure(side: Side, color: str, scale: Figure, words: Outcome = EVENT) -> Figure:
    """Points with intervals, the curve with its credible band, and the diagonal."""
    curve = side.linear.curve
    data = [_diagonal()]
    if curve is not None:
        data.append(_curve(curve, color, "curve with credible band", CURVE.replace("WORD", words.happens)))
    data.append(_points(side.linear.points, color, f"groups of rows, {100 * side.linear.level:g} % interval", words))
    return {"data": data, "layout": _square(words), "meta": {"scale": scale, "square": True, "both": True}}


def _square(words: Outcome) -> Figure:
    titles = {"xaxis": PREDICTED, "yaxis": f"How often it {words.happened}"}
    return {axis: {"title": {"text": text}} for axis, text in titles.items()} | {"showlegend": False}


def line_of(place: int) -> tuple[str, str]:
    """Colour and dash of the method at this place of the list; the first 25 differ."""
    if place == 0:
        return "@after", "solid"
    return f"@m{(place - 1) % PALETTE}", DASHES[((place - 1) // PALETTE) % len(DASHES)]


def map_figure(study: Study, scale: Figure) -> Figure:
    """The chosen map with its band; the others wait to be switched on."""
    probabilities = study.before is not None
    data = [_diagonal()] if probabilities else []
    for place, (name, table) in enumerate(study.maps.items()):
        color, dash = line_of(place)
        more = {"line": {"color": color, "width": 3 if place == 0 else 2, "dash": dash}, "visible": place == 0}
        one = _curve(table, color, sentence_case(study.titles[name]), MAPPED, **more)
        one["meta"]["method"] = name
        if not probabilities:
            one["hovertemplate"] = one["hovertemplate"].replace("[0]:.3p", "[0]:.4~g")
        data.append(one)
    title = "Score" if not probabilities else "Score (predicted probability)"
    layout: Figure = {"xaxis": {"title": {"text": title}}, "yaxis": {"title": {"text": "Calibrated probability"}}}
    layout["showlegend"] = False
    meta: Figure = {"square": True, "both": probabilities}
    if probabilities:
        meta["scale"] = scale
    else:
        layout["yaxis"] |= {"range": [-0.02, 1.02], "tickformat": ",.0%"}
    return {"data": data, "layout": layout, "meta": meta}


def scores_figure(study: Study, scale: Figure) -> Figure:
    """Histograms of the probabilities, before above after."""
    sides = [(s, c) for s, c in ((study.before, "before"), (study.after, "after")) if s is not None]
    data: list[Figure] = []
    layout: Figure = {"bargap": 0, "showlegend": False, "xaxis": {"title": {"text": PREDICTED}}}
    log = {
        "linear": any(_needs_log(side.linear.histogram["total"]) for side, _ in sides),
        "logit": any(_needs_log(side.logit.histogram["total"]) for side, _ in sides),
    }
    for place, (side, name) in enumerate(sides):
        axis = "y" if place == 0 else f"y{place + 1}"
        data.append(_bars(side, f"@{name}", f"{name} calibration", axis, outcome_of(study.top_label)))
        height = 1.0 / len(sides)
        top = 1.0 - place * height
        layout[f"yaxis{'' if place == 0 else place + 1}"] = {
            "title": {"text": f"Rows, {name}"},
            "domain": [top - height + (0.04 if len(sides) > 1 else 0.0), top],
            "tickformat": ",",
        }
    if len(sides) > 1:
        layout["xaxis"]["anchor"] = "y2"
    return {"data": data, "layout": layout, "meta": {"scale": scale, "both": False, "log": log}}


def _needs_log(totals: Any) -> bool:
    return bool(totals.max() > LOG_RATIO * np.median(totals[totals > 0.0]))


def _bars(side: Side, color: str, label: str, axis: str, words: Outcome) -> Figure:
    linear, stretched = side.linear.histogram, side.logit.histogram
    stretched = stretched[stretched["total"] > 0]
    return {
        "type": "bar",
        "name": label,
        "yaxis": axis,
        "marker": {"color": color, "line": {"width": 0.5, "color": "@paper"}},
        "meta": {"label": label, "bars": {"linear": _edges(linear), "logit": _edges(stretched)}},
        "hovertemplate": "%{customdata[0]:.3p} to %{customdata[1]:.3p}<br>%{customdata[2]:,} rows, "
        f"%{{customdata[3]:.3p}} of them {words.positive}<extra></extra>",
    }


def _edges(table: Table) -> dict[str, list[float]]:
    return {key: listed(table[key]) for key in ("left", "right", "total", "positives")}


def segment_diagrams(study: Study, scale: Figure) -> list[Figure]:
    """One diagram for each of the largest segments, over the curve of all rows."""
    side = study.before or study.after
    color = "@before" if study.before is not None else "@after"
    everything, words = side.linear.curve, outcome_of(study.top_label)
    hover = CURVE.replace("WORD", words.happens)
    figures = []
    for segment in study.segments:
        if segment.diagram is None or segment.diagram.curve is None:
            continue
        data = [_diagonal()]
        if everything is not None:
            line = {"color": "@neutral", "width": 1.5, "dash": "dot"}
            data.append(
                _curve(_thinned(everything)[["score", "probability"]], "@neutral", "all rows", hover, line=line)
            )
        data.append(_curve(_thinned(segment.diagram.curve), color, segment.name, hover))
        data.append(_points(segment.diagram.points, color, segment.name, words))
        meta = {"scale": scale, "square": True, "both": True}
        figures.append({"data": data, "layout": _square(words), "meta": meta})
    return figures


def _thinned(table: Table) -> Table:
    """Fewer places along a curve, the ends among them: many segments must not make the page large."""
    places = np.unique(np.linspace(0, len(table) - 1, SEGMENT_PLACES).round().astype(int))
    thinned: Table = table[places]
    return thinned
