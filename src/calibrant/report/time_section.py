"""The section over time: whether the map of the first period still holds, period by period."""

import math
import warnings
from collections.abc import Mapping
from typing import Any

from calibrant._typing import ArrayLike
from calibrant.calibrators import registry
from calibrant.comparison.candidates import create
from calibrant.displays.curves import WalkForwardDisplay
from calibrant.errors import InvalidInputError
from calibrant.monitoring import walk_forward
from calibrant.report.figures import open_figure, to_svg
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
    history, since = found.adaptive.history, found.adaptive.promoted_since()
    first = "" if since is None else say("time", "first", period=since)
    sentences = [
        say("time", "replayed", periods=len(found.periods), advice=found.advice),
        say("time", "evidence", reached="has" if found.adaptive.promote() else "has not", first=first),
    ]
    if caught:
        sentences.append(say("time", "shared"))
    rows = []
    for one in history:
        shares = map(percent, (one.observed, one.reference, one.adaptive))
        moved = f"{100 * (one.adaptive - one.reference):+.1f}", f"{one.log_e_value / math.log(10):.1f}"
        rows.append((str(one.period), count(one.rows), *shares, *moved))
    numbers = Table(say("time", "numbers"), HEAD, tuple(rows), folded=True)
    with open_figure(4.6, 9.0, cycle=("ink", "soft", "before", "after")) as figure:
        WalkForwardDisplay(found).plot(figure.subplots())
        svg = to_svg(figure, "time", say("time", "alt"))
    figures = (Figure(svg, say("time", "caption"), "whole", numbers),)
    return Section("time", "Over time", tuple(sentences), figures)
