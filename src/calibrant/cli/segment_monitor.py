"""monitor --by: whether the probabilities of every segment still hold."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from calibrant.cli.errors import Problem
from calibrant.cli.options import load_score_map, load_segments
from calibrant.cli.printing import print_json
from calibrant.engines.table_files import escape

if TYPE_CHECKING:
    from calibrant.maps.segments import SegmentedMap
    from calibrant.monitoring.segments import SegmentComparison

MOST_NAMED = 6


def monitor_segments(
    pair: tuple[list[str], list[str]],
    score: list[str] | None,
    label: str | None,
    by: list[str],
    *,
    drop: bool,
    positive: str | None,
    model: str | None,
    alpha: float,
    as_json: bool,
) -> bool:
    """Compare current with reference rows in each segment, print it, and tell whether there is an alarm."""
    from calibrant.cli.evaluate import check_probabilities
    from calibrant.cli.tallies import binary, count_segments, open_with_columns
    from calibrant.monitoring.segments import compare_segments

    segmented = None if model is None else load_segments(model)
    map_ = segmented if segmented is not None or model is None else load_score_map(model)
    tallies: list[dict[Any, Any]] = []
    for files in pair:
        with open_with_columns(files, score, label, None, by, drop=drop) as (table, columns):
            _check_keys(segmented, columns.by)
            view, own = binary(table, columns, False, "monitor")
            tallies.append(count_segments(view, own, positive))
            for tally in tallies[-1].values() if map_ is None else ():
                check_probabilities(columns.score, tally, "monitor")
            score, label = list(columns.scores), columns.label
    change = compare_segments(*tallies, map_=map_)
    if as_json:
        print_json(_describe(change, alpha))
    else:
        sys.stdout.write(f"{escape_lines(str(change))}\n{_verdict(change, alpha)}\n")
    return bool(change.alarms(alpha))


def escape_lines(text: str) -> str:
    """Return a table without control characters, but with its lines."""
    return "\n".join(map(escape, text.split("\n")))


def _check_keys(map_: SegmentedMap | None, by: Sequence[str]) -> None:
    if map_ is not None and len(by) != len(map_.keys.names):
        raise Problem(f"--by must name a column for each key of the model, {', '.join(map_.keys.names)}.")


def _verdict(change: SegmentComparison, alpha: float) -> str:
    from calibrant.monitoring.segments import name_of

    alarms, looked = change.alarms(alpha), f"over all {len(change.e_values) - 1} segments together"
    if not alarms:
        return f"No alarm: no evidence against the probabilities of any segment (alarm from {1 / alpha:g}, {looked})."
    named = ", ".join(escape(name_of(name)) for name in alarms[:MOST_NAMED])
    more = f" and {len(alarms) - MOST_NAMED} more" if len(alarms) > MOST_NAMED else ""
    return f"ALARM: the probabilities no longer hold in {named}{more} (evidence of {1 / alpha:g} or more, {looked})."


def _describe(change: SegmentComparison, alpha: float) -> dict[str, Any]:
    from calibrant.monitoring.segments import name_of

    alarms = change.alarms(alpha)
    return {
        "alarm": bool(alarms),
        "e_value": change.e_value,
        "p_value": change.p_value,
        "segments": [
            {"segment": name_of(name), "alarm": name in alarms, "adjusted_e_value": change.e_values[name], **vars(one)}
            for name, one in change.segments.items()
        ],
    }
