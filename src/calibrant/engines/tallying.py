"""A tally computed inside an engine: at most two scans, and only the cells come to Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibrant._kernels import grouping
from calibrant.engines import score_grid
from calibrant.engines.columns import Rows, Survey, actual_labels, bind, check_cells, has_wrong_labels, survey
from calibrant.engines.sources import Columns, Source, opened
from calibrant.errors import InvalidInputError
from calibrant.tally import Tally

__all__ = ["tally"]

PEEK_CELLS = 16
TOO_HEAVY = 3.0  # times the mass that a cell should have
PACKING = ("duckdb", "pyspark")  # engines that group by whole numbers
JOBS = ("pyspark",)  # engines to which a short query is not a cheap one


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

    When the distinct scores fit into `max_cells`, the tally is that of ``Tally.from_arrays``. When they do not, scores
    are grouped into cells of similar mass: ties are never split, counts are exact, and a cell's score is its mean
    score. Without weights the result is the same number for number on every engine.

    The engine is first asked for the extremes of the columns, which Parquet files and many databases know without
    reading them, and then groups all rows in one scan. Where cells turn out too heavy, because the scores crowd in a
    narrow range, one more scan is done with finer cells there.

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
        seen = survey(opened_source, score=score, label=label, pos_label=pos_label)
        labels = seen.labels
        while True:
            rows = bind(opened_source, score=score, label=label, weight=weight, by=by, labels=labels)
            tallies = _Counting(opened_source, rows, seen, int(max_cells)).run()
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
    seen: Survey
    max_cells: int

    def run(self) -> dict[Any, Tally] | None:
        """The tally of each segment; None if a label is not one of the two that were expected."""
        # Starting a job can cost more than a peek saves; then scores are taken to be too many until they are seen.
        assumed = self.rows.by is None and self.source.engine in JOBS
        crowded = {None} if assumed else self._peek()
        grid = None
        while crowded is not None:
            if crowded and grid is None:
                grid = self._first_grid()
            cells = self._scan(crowded, grid)
            check_cells(cells, self.rows)
            if has_wrong_labels(cells):
                return None
            found = _by_segment(cells)
            if assumed and len(cells["key"]) <= self.max_cells:
                assumed, crowded, grid = False, set(), None
                continue
            # Only segments whose first rows shared few scores can turn out to be crowded here.
            late = {s for s, part in found.items() if s not in crowded and len(part["key"]) > self.max_cells}
            parts = [part for s, part in found.items() if s in crowded]
            if not late and (grid is None or not grid.is_first or not any(map(self._is_rough, parts))):
                return {s: self._tally(part, grid if s in crowded else None) for s, part in found.items()}
            if not late and grid is not None:
                grid = score_grid.finer(grid, [(part["key"], part["total"]) for part in parts], self.max_cells)
            crowded |= late
        return None

    def _peek(self) -> set[Any] | None:
        """Segments that already in the first rows have too many distinct scores, without a full scan."""
        head = self.rows.table.limit(PEEK_CELLS * self.max_cells)
        groups = () if self.rows.by is None else ("segment",)
        scores = head.aggregate(by=(*groups, "score"), positive=head.hit.sum())
        found = self.source.run(scores.aggregate(by=groups, distinct=scores.count(), positive=scores.positive.sum()))
        if has_wrong_labels(found):
            return None
        return {s for s, n in zip(_segments(found), found["distinct"], strict=True) if n > self.max_cells}

    def _first_grid(self) -> score_grid.Grid:
        low, high = (self.seen.low, self.seen.high) if self.seen.is_finite else (0.0, 1.0)
        return score_grid.first_grid(low, high, self.max_cells)

    def _is_rough(self, part: Columns) -> bool:
        """Whether a cell of the first scan is too heavy, or has too many rows for an exact sum."""
        spread = part["total"][part["offset"] != 0.0]  # all rows of another cell have one score
        most = min(TOO_HEAVY * part["total"].sum() / self.max_cells, score_grid.LARGEST_COUNT)
        return bool((spread > most).any())

    def _scan(self, crowded: set[Any], grid: score_grid.Grid | None) -> Columns:
        table, engine, number = self.rows.table, self.source.engine, self.source.number
        packs = grid is not None and grid.is_first and not self.rows.by
        packs = packs and engine in PACKING and self.seen.is_finite
        if grid is None:
            table = table.mutate(key=table.score, offset=number(0.0))
        else:
            key, offset = grid.cell(table.score, number)
            if self.rows.by:  # segments whose scores fit keep them
                moved = _is_in(table.segment, crowded)
                key = self.source.cases((moved, key), else_=table.score)
                offset = self.source.cases((moved, offset), else_=number(0.0))
            table = table.mutate(key=score_grid.packed(key, engine, number) if packs else key, offset=offset)
        cells = table.aggregate(by=self.rows.groups, **self.rows.sums(table))
        found = self.source.run(self._bounded(cells, crowded))
        return found | {"key": score_grid.unpacked(found["key"], engine)} if packs else found

    def _bounded(self, cells: Any, crowded: set[Any]) -> Any:
        """At most one cell too many of a segment that was thought to fit: enough to notice."""
        if not self.rows.by:
            return cells if crowded else cells.limit(self.max_cells + 1)
        ranked = self.source.ranked(cells, "segment", "key")
        kept = ranked["rank"] <= self.max_cells
        return ranked.filter(kept | _is_in(ranked.segment, crowded) if crowded else kept).drop("rank")

    def _tally(self, part: Columns, grid: score_grid.Grid | None) -> Tally:
        counted = part["total"] > 0.0
        key, positive, total, offset = (part[name][counted] for name in ("key", "positive", "total", "offset"))
        scores = key if grid is None else grid.scores(key, offset / total)
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
