"""monitor --by: whether the probabilities of every segment still hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from calibrant.cli.errors import Problem
from calibrant.cli.options import load_score_map, load_segments

if TYPE_CHECKING:
    from calibrant.maps.segments import SegmentedMap
    from calibrant.monitoring import TallyComparison


def compare_segments(
    pair: tuple[list[str], list[str]],
    score: list[str] | None,
    label: str | None,
    by: list[str],
    *,
    drop: bool,
    positive: str | None,
    model: str | None,
) -> TallyComparison:
    """Compare current with reference rows in each segment."""
    from calibrant.cli.evaluate import check_probabilities
    from calibrant.cli.tallies import binary, count_segments, open_with_columns
    from calibrant.monitoring import compare_tallies

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
    return compare_tallies(*tallies, map_=map_)


def _check_keys(map_: SegmentedMap | None, by: Sequence[str]) -> None:
    if map_ is not None and len(by) != len(map_.keys.names):
        raise Problem(f"--by must name a column for each key of the model, {', '.join(map_.keys.names)}.")
