"""The figures as plain plotly dictionaries.

Colours are names such as "@before", which the page replaces by those of its light or dark theme. A trace with `low` and
`high` in its `meta` gets a band; figures with `scale` in their `meta` can be switched to stretched (logit) axes.
Strings of the user go through `plain`, because plotly reads a few HTML tags in its texts.
"""

from html import escape
from typing import Any

import numpy as np

from calibrant._kernels import links
from calibrant.displays import axes
from calibrant.reliability import Reliability, visible_range
from calibrant.reliability.tables import Table
from calibrant.report.study import Side, Study
from calibrant.report.wording import EVENT, Outcome, outcome_of, rounded, sentence_case

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


def scatter(mode: str, label: str, x: Any, y: list[float]) -> Figure:
    """A trace of lines or markers, with its label as text."""
    text = plain(label)
    return {"type": "scatter", "mode": mode, "name": text, "x": listed(x), "y": y, "meta": {"label": text}}


def titled(text: str, **more: Any) -> Figure:
    """An axis with its title."""
    return {"title": {"text": text}} | more


def _curve(table: Table, color: str, label: str, hover: str, **more: Any) -> Figure:
    """A line, with its band where the table has one."""
    meta: Figure = {"label": plain(label)}
    banded = "low" in (table.dtype.names or ())
    if banded:
        meta |= {"low": listed(table["low"], 5), "high": listed(table["high"], 5), "band": f"{color}/band"}
    own: Figure = {"line": {"color": color, "width": 2.5}, "meta": meta}
    own["hovertemplate"] = hover + (BAND if banded else "") + "<extra></extra>"
    return scatter("lines", label, table["score"], listed(table["probability"], 5)) | own | more


def _points(points: Table, color: str, label: str, words: Outcome) -> Figure:
    size = 6.0 + 6.0 * np.sqrt(points["total"] / points["total"].max())
    low, high = points["low"], points["high"]
    return scatter("markers", label, points["mean_score"], listed(points["fraction"])) | {
        "marker": {"color": color, "size": listed(size, 3), "opacity": 1, "line": {"color": "@paper", "width": 1}},
        "error_y": error_bars(high - points["fraction"], points["fraction"] - low, color, thickness=1.2),
        # How far the scores of a group reach: a wide group need not lie on the curve.
        "error_x": {"type": "data", "symmetric": False, "color": f"{color}/thin", "thickness": 1, "width": 0},
        "meta": {"label": plain(label)} | {key: listed(points[column], 5) for key, column in POINT_COLUMNS.items()},
        "hovertemplate": "%{customdata[4]:,} rows between %{customdata[5]:.3p} and %{customdata[6]:.3p}<br>"
        f"predicted %{{customdata[0]:.3p}}<br>{words.happened} %{{customdata[1]:.3p}}{BAND}<extra></extra>",
    }


def _diagonal() -> Figure:
    return scatter("lines", "perfect", [0.0, 1.0], [0.0, 1.0]) | {
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
    curve, hover = side.linear.curve, CURVE.replace("WORD", words.happens)
    curves = [] if curve is None else [_curve(curve, color, "curve with credible band", hover)]
    points = _points(side.linear.points, color, f"groups of rows, {100 * side.linear.level:g} % interval", words)
    return _diagram([*curves, points], scale, words)


def _diagram(traces: list[Figure], scale: Figure, words: Outcome) -> Figure:
    layout = {"xaxis": titled(PREDICTED), "yaxis": titled(f"How often it {words.happened}")}
    return {"data": [_diagonal(), *traces], "layout": layout, "meta": {"scale": scale, "square": True, "both": True}}


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
    layout = {"xaxis": titled(title), "yaxis": titled("Calibrated probability")}
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
    layout: Figure = {"bargap": 0, "xaxis": titled(PREDICTED)}
    totals = {key: [getattr(side, key).histogram["total"] for side, _ in sides] for key in ("linear", "logit")}
    log = {key: any(map(_needs_log, each)) for key, each in totals.items()}
    for place, (side, name) in enumerate(sides):
        axis = "y" if place == 0 else f"y{place + 1}"
        data.append(_bars(side, f"@{name}", f"{name} calibration", axis, outcome_of(study.top_label)))
        height = 1.0 / len(sides)
        top = 1.0 - place * height
        domain = [top - height + (0.04 if len(sides) > 1 else 0.0), top]
        layout[axis.replace("y", "yaxis")] = titled(f"Rows, {name}", domain=domain, tickformat=",")
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
    side, color = (study.after, "@after") if study.before is None else (study.before, "@before")
    everything, words = side.linear.curve, outcome_of(study.top_label)
    hover, line = CURVE.replace("WORD", words.happens), {"color": "@neutral", "width": 1.5, "dash": "dot"}
    data = []
    if everything is not None:
        data = [_curve(_thinned(everything)[["score", "probability"]], "@neutral", "all rows", hover, line=line)]
    figures = []
    for name, diagram in ((one.name, one.diagram) for one in study.segments):
        if diagram is not None and diagram.curve is not None:
            own = [_curve(_thinned(diagram.curve), color, name, hover), _points(diagram.points, color, name, words)]
            figures.append(_diagram([*data, *own], scale, words))
    return figures


def _thinned(table: Table) -> Table:
    """Fewer places along a curve, the ends among them: many segments must not make the page large."""
    places = np.unique(np.linspace(0, len(table) - 1, SEGMENT_PLACES).round().astype(int))
    thinned: Table = table[places]
    return thinned
