"""A tally computed inside an engine, in a few passes; only cells come to Python."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from calibrant._kernels import grouping
from calibrant.engines import score_grid
from calibrant.engines.columns import Cells, Labels, Rows, check_cells, fetch, select_rows, survey
from calibrant.engines.score_grid import Grid, number
from calibrant.engines.sources import nw, open_frame
from calibrant.errors import InvalidInputError
from calibrant.tally import Tally

__all__ = ["tally"]

PEEK_CELLS = 16
TOO_HEAVY = 3.0  # times the mass that a cell should have


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

    Parameters
    ----------
    source : path, glob or table
        Parquet, CSV or Arrow files, or a folder of Parquet files, which DuckDB reads; or a table of any library that
        Narwhals supports, which then does the work: a PySpark, Dask, Polars or pandas frame, a DuckDB relation, an Ibis
        table (BigQuery, Snowflake, …). A pyarrow table is counted by DuckDB.
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
    with open_frame(source) as frame:
        tallies = _count(select_rows(frame, score, label, weight, by), int(max_cells), pos_label)
    if by is not None:
        return dict(sorted(tallies.items(), key=lambda item: (item[0] is None, str(type(item[0])), item[0] or 0)))
    return tallies[None]


def _count(rows: Rows, max_cells: int, pos_label: Any) -> dict[Any, Tally]:
    """The tally of each segment; without segments, of None.

    A segment is crowded if it has more distinct scores than cells. Crowded segments are counted in the cells of a
    grid, the others at each score. Every pass is one query, each decided by the answers before it:

    1. the extremes of the columns, which Parquet files and many databases know without reading them;
    2. the distinct scores among the first rows, which usually show that the scores are crowded;
    3. only where they do not: the distinct scores among all rows;
    4. the cells;
    5. only where cells turn out too heavy, because scores crowd in a narrow range: finer cells.
    """
    low, high, labels = survey(rows, pos_label)
    crowded = _crowded_segments(rows.frame.head(PEEK_CELLS * max_cells), rows.groups, max_cells)
    if rows.by is not None or not crowded:  # segments may begin after the first rows
        others = rows.frame.filter(~_is_in(crowded)) if crowded else rows.frame
        crowded |= _crowded_segments(others, rows.groups, max_cells)
    grid = score_grid.first_grid(low, high, max_cells)
    cells = _scan(rows, labels, crowded, grid)
    check_cells(cells, rows, pos_label)
    parts = _split_by_segment(cells)
    if any(_is_too_heavy(parts[s], max_cells) for s in crowded):
        grid = score_grid.finer(grid, [(parts[s]["key"], parts[s]["total"]) for s in crowded], max_cells)
        parts = _split_by_segment(_scan(rows, labels, crowded, grid))
    return {s: _make_tally(part, grid if s in crowded else None, rows, max_cells) for s, part in parts.items()}


def _crowded_segments(frame: Any, groups: tuple[str, ...], max_cells: int) -> set[Any]:
    """Segments with more distinct scores than cells; one number for each of them comes to Python."""
    distinct = frame.group_by(*groups, "score").agg(nw.len().alias("rows"))
    counts = distinct.group_by(*groups).agg(nw.len().alias("n")) if groups else distinct.select(n=nw.len())
    answer = fetch(counts)
    return set(answer["segment"][answer["n"] > max_cells].tolist())


def _scan(rows: Rows, labels: Labels, crowded: Collection[Any], grid: Grid) -> Cells:
    """Count all rows, in cells.

    Every sum is of a plain column, computed beforehand, which is what all engines group by fastest. A row with a wrong
    label or weight is found by its absence: it is one of the `rows`, but not `labelled` or `weighed`.
    """
    score, label, weight = nw.col("score"), nw.col("label"), nw.col("weight")
    negative, positive = ((label == value).cast(nw.Float64) for value in labels)
    key, offset = grid.cell(score) if crowded else (score, number(0.0))
    if rows.by is not None and crowded:
        moved = _is_in(crowded)
        key, offset = nw.when(moved).then(key).otherwise(score), nw.when(moved).then(offset).otherwise(number(0.0))
    sums = {"labelled": negative + positive, "positive": positive, "offset": offset}
    if rows.weight is not None:
        is_good = (weight >= number(0.0)) & weight.is_finite()
        sums |= {"positive": positive * weight, "offset": offset * weight}
        sums |= {"total": weight, "weighed": is_good.cast(nw.Float64)}
    table = rows.frame.select(*rows.groups, key=key, **sums)
    totals = [nw.len().alias("rows"), *(nw.col(name).sum() for name in sums)]
    cells = fetch(table.group_by(*rows.groups, "key").agg(*totals))
    return {"total": cells["rows"], **cells}


def _is_in(segments: Collection[Any]) -> Any:
    """Whether a row is of one of these segments: never NULL, which a filter would take for no."""
    segment = nw.col("segment")
    named = segment.is_in([value for value in segments if value is not None])
    return nw.when(segment.is_null()).then(nw.lit(None in segments)).otherwise(named)


def _is_too_heavy(part: Cells, max_cells: int) -> bool:
    """Whether a cell of the first grid is too heavy, or has too many rows for an exact sum."""
    spread = part["total"][part["offset"] != 0.0]  # all rows of another cell have one score
    return bool((spread > min(TOO_HEAVY * part["total"].sum() / max_cells, score_grid.LARGEST_COUNT)).any())


def _make_tally(part: Cells, grid: Grid | None, rows: Rows, max_cells: int) -> Tally:
    weighs = part["total"] > 0.0
    key, positive, total, offset = (part[name][weighs] for name in ("key", "positive", "total", "offset"))
    if len(key) == 0:
        raise InvalidInputError(f"`{rows.weight}` must have a positive entry; all weights are zero.")
    scores = key if grid is None else grid.scores(key, offset / total)
    return Tally(*grouping.group_sums(scores, positive, total)).coarsen(max_cells)


def _split_by_segment(cells: Cells) -> dict[Any, Cells]:
    places: dict[Any, list[int]] = {}
    for place, segment in enumerate(cells["segment"]):
        places.setdefault(segment, []).append(place)
    return {s: {name: column[where] for name, column in cells.items()} for s, where in places.items()}
