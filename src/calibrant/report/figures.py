"""The figures as plain dictionaries, which `svg.py` draws.

A figure is ``{"data": [traces], "layout": {"xaxis": axis, "yaxis": axis}, "meta": {…}}``, a small part of Plotly's
form:

- A trace of type "scatter" has a `mode` of "lines", "markers" or both, `x` and `y` (numbers; or words, each of which
  gets a place of its own), a `name`, and if needed `line` (`color`, `width`, `dash`: "solid", "dash", "dot"), `marker`
  (`color`, `size`, `symbol`: "circle", "circle-open", "square", "diamond", "triangle-up" …; each one or a list),
  `error_x` and `error_y` from `error_bars`, and `fill` "toself". One of type "bar" has `x`, `y`, `width`, `marker`.
- `hovertemplate` is what is shown of a point: ``%{x}``, ``%{y}``, ``%{text}``, ``%{customdata[0]:.3p}``,
  ``%{meta.label}`` with a format (see `hover.py`) and ``<br>``; ``hoverinfo="skip"`` shows nothing.
- In the `meta` of a trace, `low`, `high` and `band` (a colour) make a band around a line; `method` a line that the
  page switches on and off; `bars` a histogram with edges for both kinds of axes.
- An axis (`titled`) has a title, and if needed `range`, `tickvals` with `ticktext`, `tickformat`, `nticks`,
  `zeroline`, and `type` "log", whose `range` is in powers of ten.
- In the `meta` of the figure, `scale` (`shared_scale`) gives the x-axis, with `both` also the y-axis, the
  probabilities of the page, which can be stretched (logit); `short` is a title of the x-axis for narrow screens.
- Words as `y` make rows, the first at the top, whose number gives the height of the figure.

Colours are names of the style sheet such as "@before". All texts are escaped when they are drawn.
"""

from typing import Any

import numpy as np

from calibrant._numerics import links
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


def listed(values: Any, digits: int = 6) -> list[float]:
    """Numbers for JSON, rounded."""
    return [rounded(float(value), digits) for value in values]


def error_bars(above: Any, below: Any, color: str) -> Figure:
    """An interval around each point, by its lengths on both sides; thin where the colour ends with "/thin"."""
    return {"array": listed(above), "arrayminus": listed(below), "color": color}


def scatter(mode: str, label: str, x: Any, y: list[float]) -> Figure:
    """A trace of lines or markers with its label."""
    return {"type": "scatter", "mode": mode, "name": label, "x": listed(x), "y": y, "meta": {"label": label}}


def titled(text: str, **more: Any) -> Figure:
    """An axis with its title."""
    return {"title": {"text": text}} | more


def _curve(table: Table, color: str, label: str, hover: str, **more: Any) -> Figure:
    """A line, with its band where the table has one."""
    meta: Figure = {"label": label}
    banded = "low" in (table.dtype.names or ())
    if banded:
        meta |= {"low": listed(table["low"], 5), "high": listed(table["high"], 5), "band": f"{color}/band"}
    own: Figure = {"line": {"color": color, "width": 2.5}, "meta": meta}
    own["hovertemplate"] = hover + (BAND if banded else "") + "<extra></extra>"
    return scatter("lines", label, table["score"], listed(table["probability"], 5)) | own | more


def _points(points: Table, color: str, label: str, words: Outcome) -> Figure:
    size = 6.0 + 6.0 * np.sqrt(points["total"] / points["total"].max())
    mean, share = points["mean_score"], points["fraction"]
    return scatter("markers", label, mean, listed(share)) | {
        "marker": {"color": color, "size": listed(size, 3)},
        "error_y": error_bars(points["high"] - share, share - points["low"], color),
        # How far the scores of a group reach: a wide group need not lie on the curve.
        "error_x": error_bars(points["right"] - mean, mean - points["left"], f"{color}/thin"),
        "meta": {"label": label} | {key: listed(points[column], 5) for key, column in POINT_COLUMNS.items()},
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
    return {"data": [_diagonal(), *traces], "layout": layout, "meta": {"scale": scale, "both": True}}


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
    meta: Figure = {"both": probabilities}
    if probabilities:
        meta["scale"] = scale
    else:
        layout["yaxis"] |= {"range": [-0.02, 1.02], "tickformat": ",.0%"}
    return {"data": data, "layout": layout, "meta": meta}


def scores_figures(study: Study, scale: Figure) -> dict[str, Figure]:
    """Histograms of the probabilities, before and after, with axes of the same kind."""
    sides = study.sides
    meta = {"scale": scale, "log": log_axes(study)}
    words = outcome_of(study.top_label)
    layout = {"xaxis": titled(PREDICTED), "yaxis": titled("Rows", tickformat=",")}
    return {
        name: {"data": [_bars(side, f"@{name}", f"{name} calibration", words)], "layout": layout, "meta": meta}
        for name, side in sides.items()
    }


def log_axes(study: Study) -> dict[str, bool]:
    """Whether the heights of the histograms need a logarithmic axis, for each kind of axis below them."""
    sides = study.sides.values()
    totals = {key: [getattr(side, key).histogram["total"] for side in sides] for key in ("linear", "logit")}
    return {key: any(map(_needs_log, each)) for key, each in totals.items()}


def _needs_log(totals: Any) -> bool:
    return bool(totals.max() > LOG_RATIO * np.median(totals[totals > 0.0]))


def _bars(side: Side, color: str, label: str, words: Outcome) -> Figure:
    linear, stretched = side.linear.histogram, side.logit.histogram
    stretched = stretched[stretched["total"] > 0]
    return {
        "type": "bar",
        "name": label,
        "marker": {"color": color},
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
