"""A tally computed inside an engine: at most two scans, and only the cells come to Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._kernels import grouping
from calibrant._optional import require
from calibrant._typing import Bools, Floats
from calibrant.engines import keys
from calibrant.engines.columns import Rows, actual_labels, bind, check_cells, expected_labels, has_wrong_labels
from calibrant.engines.sources import Columns, Source, opened
from calibrant.errors import InvalidInputError
from calibrant.tally import Tally

__all__ = ["tally"]

PEEK_CELLS = 16


def tally(
    source: Any,
    *,
    score: str,
    label: str,
    weight: str | None = None,
    by: str | None = None,
    max_cells: int = 4096,
    pos_label: Any = None,
) -> Any:
    """Count positives and rows at each score inside an engine.

    When the distinct scores fit into `max_cells`, the tally is that of ``Tally.from_arrays``, from one scan. When
    they do not, a first scan finds where the mass is and a second one groups the scores into cells of nearly equal
    mass: ties are never split, counts are exact, and a cell's score is its mean score. Without weights the result
    is the same number for number on every engine.

    Parameters
    ----------
    source : path, glob, table or relation
        Parquet, CSV or Arrow files; a pandas, polars or pyarrow table; a DuckDB relation; or a table of any Ibis
        backend, which then does the work (Spark, BigQuery, Snowflake, …).
    score, label : str
        Names of the columns.
    weight : str, optional
        Column of non-negative weights.
    by : str, optional
        Column of segments (a model, a day): gives one tally for each of its values.
    max_cells : int
        The most cells of one tally.
    pos_label : label, optional
        The positive class, needed unless labels are boolean, {0, 1} or {-1, 1}.

    Returns
    -------
    Tally, or dict of segment to Tally when `by` is given

    Examples
    --------
    >>> import pandas as pd
    >>> from calibrant import engines
    >>> table = pd.DataFrame({"p": [0.2, 0.8, 0.8, 0.9], "hit": [0, 0, 1, 1], "day": ["mon", "mon", "tue", "tue"]})
    >>> engines.tally(table, score="p", label="hit")
    Tally(3 cells, 4 rows, 2 positive (50 %), scores 0.2 … 0.9)
    >>> {day: t.total for day, t in engines.tally(table, score="p", label="hit", by="day").items()}
    {'mon': 2.0, 'tue': 2.0}
    """
    if isinstance(max_cells, bool) or int(max_cells) != max_cells or max_cells < 1:
        raise InvalidInputError(f"`max_cells` must be a positive integer; got {max_cells!r}.")
    with opened(source) as opened_source:
        labels = expected_labels(opened_source, label, pos_label)
        while True:
            rows = bind(opened_source, score=score, label=label, weight=weight, by=by, labels=labels)
            tallies = _Counting(opened_source, rows, int(max_cells)).run()
            if tallies is not None:
                break
            labels = actual_labels(opened_source, label, pos_label)  # {-1, 1}, or an error
    if by is not None:
        return dict(sorted(tallies.items(), key=lambda item: (item[0] is None, str(type(item[0])), item[0] or 0)))
    return tallies[None]


@dataclass
class _Counting:
    """The scans of one call. `crowded` holds the segments that have more distinct scores than cells."""

    source: Source
    rows: Rows
    max_cells: int

    def run(self) -> dict[Any, Tally] | None:
        """The tally of each segment; None if a label is not one of the two that were expected."""
        crowded = self._peek()
        while crowded is not None:
            resolution = self._coarse_scan(crowded) if crowded else None
            cells = self._cell_scan(crowded, resolution)
            check_cells(cells, self.rows)
            if has_wrong_labels(cells):
                return None
            found = _by_segment(cells)
            # Only segments whose first rows shared few scores can turn out to be crowded here.
            late = {s for s, part in found.items() if s not in crowded and len(part["key"]) > self.max_cells}
            if not late:
                return {s: self._tally(part, resolution if s in crowded else None) for s, part in found.items()}
            crowded |= late
        return None

    def _peek(self) -> set[Any] | None:
        """Segments that already in the first rows have too many distinct scores, without a full scan."""
        head = self.rows.table.limit(PEEK_CELLS * self.max_cells)
        groups = () if self.rows.by is None else ("segment",)
        found = self.source.run(head.aggregate(by=groups, distinct=head.score.nunique(), positive=head.hit.sum()))
        if has_wrong_labels(found):
            return None
        return {s for s, n in zip(_segments(found), found["distinct"], strict=True) if n > self.max_cells}

    def _coarse_scan(self, crowded: set[Any]) -> keys.Resolution:
        table = self.rows.table
        table = table.mutate(key=keys.coarse_key(table.score))
        found = self.source.run(
            table.group_by(*self.rows.groups).agg(total=table.count(), low=table.score.min(), high=table.score.max())
        )
        check_cells(found, self.rows)
        parts = [part for s, part in _by_segment(found).items() if s in crowded]
        joined = {name: np.concatenate([part[name] for part in parts]) for name in ("key", "total", "low", "high")}
        joined["share"] = np.concatenate([part["total"] / part["total"].sum() for part in parts])
        _check_fold(joined)
        order = np.argsort(joined["key"])
        columns = {name: column[order] for name, column in joined.items()}
        first = np.flatnonzero(np.concatenate(([True], np.diff(columns["key"]) != 0)))
        lows = np.minimum.reduceat(columns["low"], first)
        ordered = np.argsort(lows)
        return keys.plan(
            lows[ordered],
            np.maximum.reduceat(columns["high"], first)[ordered],
            np.maximum.reduceat(columns["share"], first)[ordered],
            float(columns["total"].max()),
            self.max_cells,
        )

    def _cell_scan(self, crowded: set[Any], resolution: keys.Resolution | None) -> Columns:
        table = self.rows.table
        if resolution is None:
            table = table.mutate(key=table.score, offset=keys.number(0.0))
        else:
            key, offset = keys.fine_key(table.score, resolution)
            if self.rows.by:  # segments whose scores fit keep them
                ibis = require("ibis", "tables", "calibrant.engines")
                fits = ~_is_in(table.segment, crowded)
                key, offset = ibis.ifelse(fits, table.score, key), ibis.ifelse(fits, keys.number(0.0), offset)
            table = table.mutate(key=key, offset=offset)
        cells = table.group_by(*self.rows.groups).agg(**self.rows.sums(table))
        return self.source.run(self._bounded(cells, crowded))

    def _bounded(self, cells: Any, crowded: set[Any]) -> Any:
        """At most one cell too many of a segment that was thought to fit: enough to notice."""
        if not self.rows.by:
            return cells if crowded else cells.limit(self.max_cells + 1)
        ibis = require("ibis", "tables", "calibrant.engines")
        ranked = cells.mutate(rank=ibis.row_number().over(group_by=cells.segment, order_by=cells.key))
        kept = ranked["rank"] <= self.max_cells
        return ranked.filter(kept | _is_in(ranked.segment, crowded) if crowded else kept).drop("rank")

    def _tally(self, part: Columns, resolution: keys.Resolution | None) -> Tally:
        counted = part["total"] > 0.0
        key, positive, total, offset = (part[name][counted] for name in ("key", "positive", "total", "offset"))
        scores = key if resolution is None else resolution.restored(key, offset / total)
        if len(scores) == 0:
            raise InvalidInputError(f"`{self.rows.weight}` must have a positive entry; all weights are zero.")
        return Tally(*grouping.group_sums(scores, positive, total)).coarsen(self.max_cells)


def _is_in(segment: Any, crowded: set[Any]) -> Any:
    named = [value for value in crowded if value is not None]
    inside = segment.isin(named) if named else segment.isnull() & ~segment.isnull()
    return (inside | segment.isnull()) if None in crowded else inside.fill_null(False)


def _by_segment(cells: Columns) -> dict[Any, Columns]:
    """The cells of each segment."""
    places: dict[Any, list[int]] = {}
    for place, segment in enumerate(_segments(cells)):
        places.setdefault(segment, []).append(place)
    return {s: {name: column[where] for name, column in cells.items()} for s, where in places.items()}


def _segments(cells: Columns) -> list[Any]:
    """Segments as Python values, with None for a missing one, and where there are no segments."""
    if "segment" not in cells:
        return [None] * len(next(iter(cells.values())))
    return [None if value is None or value != value else value for value in cells["segment"].tolist()]  # noqa: PLR0124


def _check_fold(cells: dict[str, Floats]) -> None:
    mixed: Bools = keys.is_near_one(cells["key"]) & (cells["low"] <= 0.5)
    if mixed.any():
        raise InvalidInputError(
            f"`score` must not have negative values closer to 0 than 1e-150; got {cells['low'][mixed][0]!r}. "
            "Round them to 0."
        )
