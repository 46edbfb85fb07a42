"""Figures as SVG inside the page: no library, no script.

Places are percentages of the plotting area, so that a figure fills whatever width it gets while its letters, points and
lines keep their size; paths, which know no percentages, are stretched without their strokes. Colours are variables of
the style sheet. Every text goes through an XML tree, which escapes it.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from calibrant.report.axis import Axis, Tick, make_axis, probability_axis
from calibrant.report.bars import draw_bars, histogram_bars
from calibrant.report.hover import line_text, point_text
from calibrant.report.marks import append_mark, at_percent, color_style
from calibrant.report.paths import draw_line
from calibrant.report.wording import shortened

Figure = dict[str, Any]
SIDES = {"even": False, "stretched": True}
DERIVED = ("low", "high", "rows", "left", "right")  # in the meta of a trace, after x and y
LONGEST, SHORTEST = 29, 20  # letters of a name beside an axis, on wide and on narrow screens
STRIP = 120.0  # pixels that a strip has at least
MOST_STOPS = 60  # places of a line whose texts are written out
EM = 0.62  # the width of a letter


def draw_figure(figure: Figure) -> str:
    """The markup of a figure: its axes, once or, where it can be stretched, twice; see `figures.py` for its form.

    Examples
    --------
    >>> from calibrant.report.figures import scatter, titled
    >>> from calibrant.report.svg import draw_figure
    >>> line = scatter("lines", "a & b", [0.0, 1.0], [0.0, 2.0])
    >>> markup = draw_figure({"data": [line], "layout": {"xaxis": titled("Days")}, "meta": {}})
    >>> "a &amp; b" in markup, "<path" in markup
    (True, True)
    """
    figure = _numbered(figure)
    meta = figure["meta"]
    kinds = SIDES if meta.get("scale") else {"": False}
    areas = [_area(figure, kind, stretched=stretched) for kind, stretched in kinds.items()]
    x, y = areas[0][1:]
    texts = [tick for _, _, axis in areas for tick in axis.ticks]
    room = [max((EM * len(text) for text in of), default=0.0) + 0.8 for of in _tick_texts(texts)]
    style = f"--left:{room[0]:.1f}em;--narrow-left:{room[1]:.1f}em;--rows:{meta.get('rows', 0)}"
    plot = ET.Element("div", {"class": "plot rows" if "rows" in meta else "plot", "style": style})
    plot.extend(area for area, _, _ in areas)
    return _title(y.title, "y-title") + _markup(plot) + _title(x.title, "x-title", meta.get("short", ""))


def draw_strips(figure: Figure, n_rows: int) -> tuple[str, list[str]]:
    """A figure of points in rows, cut up for the rows of a table: its axis for the head, and a strip for each row."""
    x = make_axis((figure.get("layout") or {}).get("xaxis") or {}, [*_values(figure["data"], "x")], width=STRIP)
    head = _strip(x, "scale")
    for tick in x.ticks:
        name = f"of-x {_screen(tick)}".strip()
        ET.SubElement(head, "text", {"x": at_percent(tick.place), "y": "1em", "class": name}).text = tick.text
    strips = []
    for row in range(n_rows):
        strip, own = _strip(x, "strip"), Axis("linear", row + 0.5, row - 0.5)
        for trace in figure["data"]:
            for place, at in enumerate(trace["y"]):
                if row - 0.5 < at < row + 0.5:
                    append_mark(strip, trace, place, (x, own), "")
        strips.append(_markup(strip))
    return _markup(head), strips


def _strip(x: Axis, name: str) -> ET.Element:
    strip = ET.Element("svg", {"class": name, "aria-hidden": "true"})
    zero = at_percent(x.inside(0.0))
    ET.SubElement(strip, "line", {"x1": zero, "x2": zero, "y1": "0", "y2": "100%", "class": "zero"})
    return strip


def _numbered(figure: Figure) -> Figure:
    """The figure with a number for each word on its axes; words on the y-axis are rows, the first at the top."""
    data, layout, meta = figure["data"], dict(figure.get("layout") or {}), dict(figure.get("meta") or {})
    for key in ("x", "y"):
        words = list(dict.fromkeys(v for trace in data for v in trace.get(key) or () if isinstance(v, str)))
        if not words:
            continue
        number = {word: place for place, word in enumerate(words)}
        data = [t | {key: [number.get(v, v) for v in t[key]]} if t.get(key) else t for t in data]
        ends = [-0.5, len(words) - 0.5] if key == "x" else [len(words) - 0.5, -0.5]
        ticks = {"tickvals": [*number.values()], "ticktext": words, "range": ends}
        if key == "y":
            ticks["ticktext"] = shortened(words, LONGEST)
            meta = {"rows": len(words), "names": words} | meta
        layout[f"{key}axis"] = ticks | (layout.get(f"{key}axis") or {})
    return figure | {"data": data, "layout": layout, "meta": meta}


def _tick_texts(ticks: list[Tick]) -> tuple[list[str], list[str]]:
    return [tick.text for tick in ticks if tick.wide], [tick.short or tick.text for tick in ticks if tick.narrow]


def _title(text: str, name: str, short: str = "") -> str:
    if not text:
        return ""
    box = ET.Element("div", {"class": name})
    ET.SubElement(box, "span", {"class": "on-wide"} if short else {}).text = text
    if short:
        ET.SubElement(box, "span", {"class": "on-narrow"}).text = short
    return _markup(box)


def _markup(element: ET.Element) -> str:
    return ET.tostring(element, encoding="unicode", short_empty_elements=element.tag != "div")


def _area(figure: Figure, kind: str, *, stretched: bool) -> tuple[ET.Element, Axis, Axis]:
    x, y = _axes(figure, stretched=stretched)
    ends = {f"data-{name}": f"{axis.kind} {axis.low:.6g} {axis.high:.6g}" for name, axis in (("x", x), ("y", y))}
    area = ET.Element("svg", {"class": f"area {kind}".strip(), "aria-hidden": "true"} | ends)
    _draw_axes(area, x, y)
    lines = ET.SubElement(area, "svg", {"class": "lines", "viewBox": "0 0 1000 1000", "preserveAspectRatio": "none"})
    for trace in figure["data"]:
        _draw_trace(area, lines, _with_customdata(trace), x, y)
    return area, x, y


def _axes(figure: Figure, *, stretched: bool) -> tuple[Axis, Axis]:
    """Both axes: probabilities share the scale of the page, others are made for their values."""
    meta, layout = figure.get("meta") or {}, figure.get("layout") or {}
    x_options, y_options = layout.get("xaxis") or {}, dict(layout.get("yaxis") or {})
    scale, bars = meta.get("scale"), any(trace.get("type") == "bar" for trace in figure["data"])
    if "log" in meta:
        y_options |= {"type": "log" if meta["log"]["logit" if stretched else "linear"] else "linear", "nticks": 4}
    x = (
        probability_axis(x_options, scale, stretched=stretched)
        if scale
        else make_axis(x_options, [*_values(figure["data"], "x")])
    )
    if scale and meta.get("both"):
        return x, probability_axis(y_options, scale, stretched=stretched, upright=True)
    heights = [
        *_values(figure["data"], "y"),
        *(bar.rows for trace in figure["data"] for bar in histogram_bars(trace, x)),
    ]
    y = make_axis(y_options, heights, upright=True, zero_based=bars)
    return x, _with_short_names(y, meta.get("names"))


def _with_short_names(axis: Axis, names: list[str] | None) -> Axis:
    """Rows have a place for each name; narrow screens get the shorter ones."""
    if not names:
        return axis
    short = shortened(names, SHORTEST)
    ticks = tuple(Tick(tick.place, tick.text, short=name) for tick, name in zip(axis.ticks, short, strict=True))
    return replace(axis, ticks=ticks)


def _values(traces: list[Figure], key: str) -> Iterable[Any]:
    """All coordinates of one axis, the ends of intervals and bands among them."""
    for trace in traces:
        own = trace.get(key) or []
        yield from own
        bars, meta = trace.get(f"error_{key}") or {}, trace.get("meta") or {}
        for end, sign in (("array", 1.0), ("arrayminus", -1.0)):
            yield from (v + sign * length for v, length in zip(own, bars.get(end, ()), strict=False))
        if key == "y" and "band" in meta:
            yield from (*meta["low"], *meta["high"])


def _draw_axes(area: ET.Element, x: Axis, y: Axis) -> None:
    grid = ET.SubElement(area, "g", {"class": "grid"})
    texts = ET.SubElement(area, "g", {"class": "ticks"})
    for tick in x.ticks:
        at = at_percent(tick.place)
        ET.SubElement(grid, "line", {"x1": at, "x2": at, "y1": "0", "y2": "100%"} | _screens(tick))
        ET.SubElement(texts, "text", {"x": at, "y": "100%", "class": f"of-x {_screen(tick)}".strip()}).text = tick.text
    for tick in y.ticks:
        at = at_percent(100 - tick.place)
        ET.SubElement(grid, "line", {"x1": "0", "x2": "100%", "y1": at, "y2": at} | _screens(tick))
        for text, screen in ((tick.text, "on-wide"), (tick.short, "on-narrow")) if tick.short else ((tick.text, ""),):
            name = f"of-y {screen or _screen(tick)}".strip()
            ET.SubElement(texts, "text", {"x": "0", "y": at, "class": name}).text = text
    for axis, (low, high) in ((x, ("x1", "x2")), (y, ("y1", "y2"))):
        if axis.zero and 0.0 <= axis.place(0.0) <= 100.0:
            zero = axis.place(0.0) if axis is x else 100.0 - axis.place(0.0)
            ends = {"x1": "0", "x2": "100%", "y1": "0", "y2": "100%"} | {key: at_percent(zero) for key in (low, high)}
            ET.SubElement(grid, "line", ends | {"class": "zero"})


def _screen(tick: Tick) -> str:
    return "" if tick.narrow and tick.wide else "on-narrow" if tick.narrow else "on-wide"


def _screens(tick: Tick) -> dict[str, str]:
    return {"class": name} if (name := _screen(tick)) else {}


def _with_customdata(trace: Figure) -> Figure:
    """Points of a diagram show the values of their trace's `meta` beside their own."""
    meta = trace.get("meta") or {}
    if "customdata" in trace or "markers" not in trace.get("mode", "") or "low" not in meta:
        return trace
    columns = [trace["x"], trace["y"], *(meta.get(key, [0.0] * len(trace["x"])) for key in DERIVED)]
    return trace | {"customdata": [list(row) for row in zip(*columns, strict=True)]}


def _draw_trace(area: ET.Element, lines: ET.Element, trace: Figure, x: Axis, y: Axis) -> None:
    mode, meta = trace.get("mode", "markers"), trace.get("meta") or {}
    if trace.get("type") == "bar":
        draw_bars(area, trace, x, y)
        return
    if "lines" in mode:
        group = ET.SubElement(lines, "g", color_style((trace.get("line") or {}).get("color", "@neutral")))
        if "method" in meta:
            group.set("data-method", meta["method"])
            if not trace.get("visible", True):
                group.set("hidden", "")
        draw_line(group, trace, x, y, line_text(trace) if "markers" not in mode else "")
        if "customdata" in trace and "markers" not in mode:
            _draw_stops(area, trace, x, y)
    if "markers" in mode:
        points = ET.SubElement(area, "g", {"class": "points"})
        for place in range(len(trace["x"])):
            append_mark(points, trace, place, (x, y), point_text(trace, place))


def _draw_stops(area: ET.Element, trace: Figure, x: Axis, y: Axis) -> None:
    """Places of a line that show values which cannot be read off the axes."""
    stops = ET.SubElement(area, "g", {"class": "stops"})
    for place in np.unique(np.linspace(0, len(trace["x"]) - 1, MOST_STOPS).round().astype(int)):
        left, top = x.inside(trace["x"][place]), 100.0 - y.inside(trace["y"][place])
        stop = ET.SubElement(stops, "circle", {"cx": at_percent(left), "cy": at_percent(top), "r": "8"})
        ET.SubElement(stop, "title").text = point_text(trace, int(place))
