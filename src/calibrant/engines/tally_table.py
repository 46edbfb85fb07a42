"""A tally computed inside an engine, in a few passes; only cells come to Python."""

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from calibrant import _validation
from calibrant._numerics import bins
from calibrant._optional import require
from calibrant.engines import score_grid
from calibrant.engines.score_grid import Grid, number, nw
from calibrant.engines.tables import connect, open_table, suggest
from calibrant.errors import InvalidInputError
from calibrant.tally import Tally

SHOWN_LABELS = 6
LARGEST_SCORE = 1e290  # differences of scores must not overflow
BETWEEN, MISSING = "\x1f", "\x1e"  # control characters that separate the parts of a segment, or stand for none
Cells = dict[str, np.ndarray[Any, Any]]
Labels = tuple[Any, Any]
PEEK_CELLS = 16
TOO_HEAVY = 3.0  # times the mass that a cell should have


def tally(
    source: Any,
    *,
    score: str,
    label: str,
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
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
        Files as `open_table` reads them, or a folder of Parquet files, with DuckDB; or a table of any library that
        Narwhals supports, which then does the work: a PySpark, Dask, Polars or pandas frame, a DuckDB relation, an Ibis
        table (BigQuery, Snowflake, …). A pyarrow table is counted by DuckDB.
    score, label : str
        Names of the columns.
    weight : str, optional
        Column of non-negative weights.
    by : str or list of str, optional
        Column of segments (a model, a day): gives one tally for each of its values. With a list, one for each
        combination of values of its columns, a tuple.
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
    >>> {pair: t.total for pair, t in engines.tally(table, score="p", label="hit", by=["day", "hit"]).items()}
    {('mon', 0): 2.0, ('tue', 1): 2.0}
    """
    _validation.check_count("max_cells", max_cells)
    is_one = by is None or isinstance(by, str)
    names = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    if not is_one and not names:
        raise InvalidInputError("`by` must name at least one column; got an empty list.")
    with _open_frame(source) as frame:
        tallies = _count(select_rows(frame, score, label, weight, names), int(max_cells), pos_label)
    if by is None:
        return tallies[()]
    ordered = sorted(tallies, key=lambda segment: [(x is None, str(type(x)), 0 if x is None else x) for x in segment])
    return {segment[0] if is_one else segment: tallies[segment] for segment in ordered}


@contextmanager
def _open_frame(source: Any) -> Iterator[Any]:
    """A lazy Narwhals frame of `source`; a DuckDB that was started for it ends with the block."""
    if isinstance(source, str | os.PathLike):
        with open_table(source) as table:
            yield nw.from_native(table.relation)
        return
    frame = nw.from_native(source, pass_through=True)
    # Narwhals groups Arrow tables slowly; DuckDB reads their memory in place.
    if isinstance(frame, nw.DataFrame | nw.LazyFrame) and not frame.implementation.is_pyarrow():
        yield frame.lazy()
        return
    if not hasattr(source, "__arrow_c_stream__"):
        raise InvalidInputError(
            "`source` must be a path or glob of files, or a table of a library that Narwhals supports (pandas, Polars, "
            f"PySpark, Dask, DuckDB, Ibis, pyarrow); got {type(source).__name__}."
        )
    with connect() as connection:
        table = require("pyarrow", "tables", "calibrant.engines.tally").table(source)
        yield nw.from_native(connection.from_arrow(table))


@dataclass(frozen=True)
class Rows:
    """A lazy frame of `score`, `label` and maybe `weight` and `segment`, and the user's names for them.

    A segment of several keys is one text, which every engine can compare, beside a column `key_…` for each key.
    """

    frame: Any
    score: str
    label: str
    weight: str | None
    by: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[str, ...]:
        """The column that tells tallies apart; engines are faster without a constant one."""
        return ("segment",) if self.by else ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the parts of a segment, where it has several."""
        return tuple(f"key_{i}" for i in range(len(self.by))) if len(self.by) > 1 else ()


def select_rows(frame: Any, score: str, label: str, weight: str | None, by: Sequence[str] = ()) -> Rows:
    """Find and check the columns. Nothing is read."""
    schema = frame.collect_schema()
    for role, name in [("score", score), ("label", label), ("weight", weight), *(("by", name) for name in by)]:
        if name is not None and name not in schema:
            near = suggest(str(name), schema.names(), f"It has {', '.join(schema.names())}.")
            raise InvalidInputError(f"`{role}` must name a column of the table; there is no {name!r}. {near}")
    columns = {"score": _as_number(score, schema)}
    columns["label"] = _as_number(label, schema) if schema[label] == nw.Boolean else nw.col(label)
    if weight is not None:
        columns["weight"] = _as_number(weight, schema)
    rows = Rows(frame, score, label, weight, tuple(by))
    segments = [_segment(name, schema) for name in by]
    columns |= dict(zip(rows.keys or rows.groups, segments, strict=True))
    frame = frame.select(**columns)
    if rows.keys:
        frame = frame.with_columns(segment=_joined(rows.keys))
    return replace(rows, frame=frame)


def _segment(name: str, schema: Any) -> Any:
    """The column, in which NaN is missing like NULL, and one segment with it."""
    column = nw.col(name)
    return nw.when(~column.is_nan()).then(column) if schema[name].is_float() else column


def _joined(names: Sequence[str]) -> Any:
    """One text for each combination of values, never NULL."""
    texts = [
        nw.when(nw.col(name).is_null()).then(nw.lit(MISSING)).otherwise(nw.col(name).cast(nw.String)) for name in names
    ]
    return nw.concat_str(texts, separator=BETWEEN)


def _as_number(name: str, schema: Any) -> Any:
    """The column as doubles; anything but numbers is refused."""
    column, kind = nw.col(name), schema[name]
    if kind == nw.Boolean:
        # A bare cast would reach DuckDB's reader of CSV files, which would then look for numbers instead of true.
        column = column == nw.lit(True)
    elif not kind.is_numeric():
        raise InvalidInputError(f"`{name}` must be numbers; got {str(kind).lower()}. Convert it to float first.")
    return column.cast(nw.Float64)


def fetch(frame: Any) -> Cells:
    """Run a query: columns of doubles, and segments and their keys as Python values, None where they are missing."""
    table = frame.collect()
    named = [x for x in table.columns if x == "segment" or x.startswith("key_")]
    cells: Cells = {x: np.asarray(table[x].to_numpy(), np.float64) for x in table.columns if x not in named}
    for x in {"segment", *named}:
        cells[x] = np.full(len(table), None, object)
    for x in named:
        is_known = ~table[x].is_null().to_numpy()
        cells[x][is_known] = table[x].drop_nulls().to_list()
    return cells


def survey(rows: Rows, pos_label: Any) -> tuple[float, float, Labels]:
    """The extremes of the scores, and the negative and the positive label, as far as can be told without a scan.

    Many engines know extremes from statistics, without reading the columns.
    """
    kind = rows.frame.collect_schema()["label"]
    wanted = {"rows": nw.len(), "low": nw.col("score").min(), "high": nw.col("score").max()}
    if kind.is_numeric():
        wanted["lowest_label"] = nw.col("label").min()
    extremes = {name: values.item() for name, values in fetch(rows.frame.select(**wanted)).items()}
    if extremes["rows"] == 0:
        raise InvalidInputError("`source` must have at least one row; the table is empty.")
    if not (extremes["low"] >= -LARGEST_SCORE and extremes["high"] <= LARGEST_SCORE):  # not so for NaN, either
        _refuse_scores(rows)
    if pos_label is not None or not kind.is_numeric():
        return extremes["low"], extremes["high"], _read_labels(rows, pos_label)
    # Labels of 0 and 1 or -1 and 1 need not be looked up. If there are others, the scan will show it.
    return extremes["low"], extremes["high"], (-1 if extremes["lowest_label"] < 0.0 else 0, 1)


def _read_labels(rows: Rows, pos_label: Any) -> Labels:
    """The negative and the positive label, checked as for arrays, from the distinct values alone."""
    distinct = rows.frame.select("label").unique().head(SHOWN_LABELS).collect()["label"]
    labels = distinct.to_list()
    if distinct.is_null().any() or any(label != label for label in labels):  # noqa: PLR0124  # NaN differs from itself
        raise InvalidInputError(f"`{rows.label}` must have no missing labels; got NULL or NaN. Drop these rows first.")
    negative, positive = _validation.encode_labels(np.array(sorted(labels)), pos_label, rows.label)[1]
    return tuple(x.item() if isinstance(x, np.generic) else x for x in (negative, positive))


def check_cells(cells: Cells, rows: Rows, pos_label: Any) -> None:
    """Refuse wrong scores, labels and weights; rows that were not counted as good have a wrong one."""
    if not np.isfinite(cells["key"]).all():
        _refuse_scores(rows)
    if (cells["labelled"] != cells["rows"]).any():
        _read_labels(rows, pos_label)  # says what is wrong with them
        raise InvalidInputError(f"`{rows.label}` must have two classes; another one came up while rows were counted.")
    bad = (cells["rows"] - cells["weighed"]).sum() if rows.weight is not None else 0
    if bad:
        number = "1 row has" if bad == 1 else f"{bad:.0f} rows have"
        raise InvalidInputError(
            f"`{rows.weight}` must be finite and not negative; {number} NaN, NULL, inf or a negative one."
        )


def _refuse_scores(rows: Rows) -> NoReturn:
    raise InvalidInputError(
        f"`{rows.score}` must be finite; got NaN, NULL, inf or a number beyond {LARGEST_SCORE:g}. Drop or repair these "
        "rows first."
    )


def _count(rows: Rows, max_cells: int, pos_label: Any) -> dict[tuple[Any, ...], Tally]:
    """The tally of each segment, a tuple of its keys.

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
    if rows.by or not crowded:  # segments may begin after the first rows
        others = rows.frame.filter(~_is_in(crowded)) if crowded else rows.frame
        crowded |= _crowded_segments(others, rows.groups, max_cells)
    grid = score_grid.first_grid(low, high, max_cells)
    cells = _scan(rows, labels, crowded, grid)
    check_cells(cells, rows, pos_label)
    parts = _split_by_segment(cells)
    if any(_is_too_heavy(parts[s], max_cells) for s in crowded):
        grid = score_grid.finer(grid, [(parts[s]["key"], parts[s]["total"]) for s in crowded], max_cells)
        parts = _split_by_segment(_scan(rows, labels, crowded, grid))
    return {
        tuple(part[name][0] for name in rows.keys or rows.groups): _make_tally(
            part, grid if segment in crowded else None, rows, max_cells
        )
        for segment, part in parts.items()
    }


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
    if rows.by and crowded:
        moved = _is_in(crowded)
        key, offset = nw.when(moved).then(key).otherwise(score), nw.when(moved).then(offset).otherwise(number(0.0))
    sums = {"labelled": negative + positive, "positive": positive, "offset": offset}
    if rows.weight is not None:
        is_good = (weight >= number(0.0)) & weight.is_finite()
        sums |= {"positive": positive * weight, "offset": offset * weight}
        sums |= {"total": weight, "weighed": is_good.cast(nw.Float64)}
    groups = (*rows.groups, *rows.keys)
    table = rows.frame.select(*groups, key=key, **sums)
    totals = [nw.len().alias("rows"), *(nw.col(name).sum() for name in sums)]
    cells = fetch(table.group_by(*groups, "key").agg(*totals))
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
    return Tally(*bins.group_sums(scores, positive, total)).coarsen(max_cells)


def _split_by_segment(cells: Cells) -> dict[Any, Cells]:
    places: dict[Any, list[int]] = {}
    for place, segment in enumerate(cells["segment"]):
        places.setdefault(segment, []).append(place)
    return {s: {name: column[where] for name, column in cells.items()} for s, where in places.items()}
