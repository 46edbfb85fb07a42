"""The section over time: whether the map of the first period still holds, period by period."""

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrant._typing import ArrayLike
from calibrant.calibrators import registry
from calibrant.comparison.candidates import create
from calibrant.displays.axes import name_places
from calibrant.errors import InvalidInputError
from calibrant.monitoring import walk_forward
from calibrant.monitoring.adaptive import Period
from calibrant.report.figures import COLORS, open_figure, to_svg
from calibrant.report.sections import Figure, Section, Table
from calibrant.report.texts import say
from calibrant.report.wording import count, percent
from calibrant.tally import Tally

HEAD = ("Period", "Rows", "Observed", "Static map", "Adaptive", "Correction", "E-value, log10")


def time_section(
    scores: Any, y: Any, time: ArrayLike, *, every: str | None = None, of_rows: Mapping[str, Any] | None = None
) -> Section:
    """Replay the rows: the level of the scores, what was observed, the correction and the e-value of each period.

    See `calibrant.monitoring.walk_forward`; `of_rows` are those options of `calibrant.compare` that say what rows are.

    Returns
    -------
    Section

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.report.time_section import time_section
    >>> rows = simulate.from_truth("D1", 600)
    >>> time_section(rows.scores, rows.labels, [row // 200 for row in range(600)]).title
    'Over time'
    """
    said = of_rows or {}
    if isinstance(scores, Tally) or y is None or said.get("sample_weight") is not None:
        raise InvalidInputError("`time` needs scores and `y` of single rows, without weights.")
    how = {"reference": create(registry.DEFAULT_METHOD, space=said.get("space", "probability"))}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = walk_forward(scores, y, time, every=every, pos_label=said.get("pos_label"), **how)
    history, reached = found.adaptive.history, "has" if found.adaptive.promote(0.05) else "has not"
    sentences = [
        say("time", "replayed", periods=len(found.periods), advice=found.advice),
        say("time", "evidence", reached=reached),
    ]
    if caught:
        sentences.append(say("time", "shared"))
    rows = []
    for one in history:
        shares = map(percent, (one.observed, one.reference, one.adaptive))
        moved = f"{100 * (one.adaptive - one.reference):+.1f}", f"{one.log_e_value / math.log(10):.1f}"
        rows.append((str(one.period), count(one.rows), *shares, *moved))
    numbers = Table(say("time", "numbers"), HEAD, tuple(rows), folded=True)
    figure = Figure(_draw(history), say("time", "caption"), "whole", numbers)
    return Section("time", "Over time", tuple(sentences), (figure,))


def _draw(history: tuple[Period, ...]) -> str:
    places = np.arange(len(history))
    with open_figure(5.0, 9.0) as figure:
        level, evidence = figure.subplots(2, sharex=True, height_ratios=(2, 1))
        observed = [one.observed for one in history]
        errors = [1.645 * one.deviation / one.rows for one in history]
        level.errorbar(places, observed, errors, fmt="o", color=COLORS["ink"], markersize=4, label="observed")
        level.plot(places, [one.reference for one in history], color=COLORS["before"], label="static map")
        level.plot(places, [one.adaptive for one in history], color=COLORS["after"], label="adaptive")
        level.set(ylabel="Share of positives")
        level.legend(frameon=False)
        evidence.plot(places, [one.log_e_value / math.log(10) for one in history], color=COLORS["after"])
        evidence.axhline(math.log10(20.0), color=COLORS["soft"], linestyle=":", linewidth=1.0)
        evidence.set(xlabel="Period", ylabel="E-value, log10")
        name_places(evidence, [one.period for one in history])
        return to_svg(figure, "time", say("time", "alt"))
