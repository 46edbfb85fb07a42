"""What the template of the page is filled with."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

import calibrant
from calibrant.report import figures, interval_plots, svg, tables
from calibrant.report.advice import comparison_result, next_steps
from calibrant.report.answer import answer
from calibrant.report.meaning import score_meaning
from calibrant.report.segments import natural_order
from calibrant.report.study import Side, Study
from calibrant.report.tiles import make_tiles
from calibrant.report.wording import Outcome, count, outcome_of, percent, sentence_case, short_title

MOST_SEGMENTS = 40  # at once; the others are behind a click
MANY_IN_ORDER = 12  # segments in an order, from which on they are drawn along it


def page_context(study: Study, title: str) -> dict[str, Any]:
    """What the template shows besides figures, methods and segments."""
    comparison = study.comparison
    return {
        "title": title,
        "study": study,
        "version": calibrant.__version__,
        "level": f"{100 * study.level:g} %",
        "total": count(study.total),
        "weighted": _weighted(study),
        "positive": percent(study.base_rate),
        "outcome": outcome_of(study.top_label),
        "answer": answer(study),
        "steps": next_steps(study),
        "method": study.title_of(study.name),
        "tiles": make_tiles(study),
        "meaning": score_meaning(study),
        "sides": [_side_context(side, name, outcome_of(study.top_label)) for name, side in study.sides.items()],
        "has_before": study.before is not None,
        "has_after": "after" in study.sides,
        "map_rows": tables.map_rows(study.maps[study.name], study.before is not None),
        "log_axes": figures.log_axes(study),
        "groups": tables.measure_groups(study),
        "result": comparison_result(study),
        "reference": interval_plots.reference_title(comparison) if comparison is not None else "",
        "notes": [
            _note(text, study.titles) for text in (*study.notes, *(comparison.notes if comparison is not None else ()))
        ],
    }


def _note(text: str, titles: Mapping[str, str]) -> str:
    """A note that begins with names of methods, which readers of the page know by their titles."""
    match = re.match(r"(\w+(?:, \w+)*)(: | is )", text)
    if match is None or not all(name in titles for name in match[1].split(", ")):
        return text
    names = ", ".join(short_title(titles[name]) for name in match[1].split(", "))
    return sentence_case(f"{names}{text[match.end(1) :]}")


def _weighted(study: Study) -> bool:
    """Whether rows were counted by weight: only then can a number of rows be broken."""
    totals = (study.before or study.after).tally.totals
    return bool(np.any(totals != np.rint(totals)))


def method_context(study: Study, markup: Any) -> dict[str, Any]:
    """The rows of the methods with their intervals drawn, those that may be the best apart from the others."""
    rows = tables.method_rows(study)
    if not rows:
        return {"shown": [], "others": [], "all": []}
    shown = [row for row in rows if not row["other"]]
    place = next((i for i, row in enumerate(rows) if row["shown"]), None)
    figure = interval_plots.comparison_figure([row["interval"] for row in rows], len(shown), place)
    head, strips = svg.draw_strips(figure, len(rows))
    lines = {name: _line(place) for place, name in enumerate(study.maps)}
    for row, strip in zip(rows, strips, strict=True):
        row |= {"strip": markup(strip), "line": lines.get(row["key"], "")}
    return {"shown": shown, "others": rows[len(shown) :], "all": rows, "scale": markup(head)}


def _line(place: int) -> str:
    """The classes of a sample of the line that the map draws for the method at this place."""
    color, dash = figures.line_of(place)
    return f"{color[1:]} line-{dash}"


def segment_context(study: Study, markup: Any) -> dict[str, Any]:
    """The rows of the segments with their gaps drawn, or one figure of all where they are many in an order."""
    rows = tables.segment_rows(study.segments)
    if not rows:
        return {"all": [], "timeline": False}
    in_order = natural_order([one.name for one in study.segments]) is not None
    figure = interval_plots.segments_figure(study.segments)
    head, strips = svg.draw_strips(figure, len(rows))
    for row, strip in zip(rows, strips, strict=True):
        row["strip"] = markup(strip)
    drawn = [one for one in study.segments if one.diagram is not None]
    return {
        "all": rows,
        "timeline": in_order and len(rows) > MANY_IN_ORDER,
        "shown": rows[:MOST_SEGMENTS],
        "others": rows[MOST_SEGMENTS:],
        "scale": markup(head),
        "off": any(row[side]["off"] for row in rows for side in ("before", "after")),
        "cut": figure["meta"]["cut"],
        "choices": [one.name for one in drawn],
        "points": [tables.point_rows(one.diagram.points) for one in drawn if one.diagram is not None],
    }


def _side_context(side: Side, name: str, words: Outcome) -> dict[str, Any]:
    gaps = side.linear.points["mean_score"] - side.linear.points["fraction"]
    worst = side.linear.points[abs(gaps).argmax()]
    return {
        "name": name,
        "alt": f"Reliability diagram {name} calibration, {len(gaps)} groups of rows. The widest gap is where "
        f"{percent(worst['mean_score'])} was predicted and {percent(worst['fraction'])} {words.past}. "
        "All values are in the table below the figure.",
        "points": tables.point_rows(side.linear.points),
        "bars": tables.histogram_rows(side.linear.histogram),
    }


def draw_study(study: Study) -> dict[str, str]:
    """The markup of every figure by its name."""
    scale, words = figures.shared_scale(study), outcome_of(study.top_label)
    sides = study.sides
    drawn = {name: figures.reliability_figure(side, f"@{name}", scale, words) for name, side in sides.items()}
    drawn |= {f"scores-{name}": one for name, one in figures.scores_figures(study, scale).items()}
    if "after" in sides:
        drawn["map"] = figures.map_figure(study, scale)
    if study.segments:
        drawn["timeline"] = interval_plots.timeline_figure(study.segments, words)
    drawn |= {f"segment-{place}": one for place, one in enumerate(figures.segment_diagrams(study, scale))}
    return {name: svg.draw_figure(figure) for name, figure in drawn.items()}
