"""A tally computed inside an engine, in a few passes; only cells come to Python.

Few distinct scores are counted one by one. Of many, cells are made that every engine computes alike: quantiles and
logarithms differ between engines, so cells are scores rounded to their leading bits, with what IEEE arithmetic defines
to the last bit. Where cells turn out too heavy, because scores crowd there, another pass gives these more bits.
"""

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from calibrant import _validation
from calibrant._numerics import bins
from calibrant._optional import require
from calibrant.engines.tables import connect, open_table, suggest
from calibrant.errors import InvalidInputError
from calibrant.tally import Tally

nw: Any = require("narwhals.stable.v2", "tables", "calibrant.engines.tally")
SHOWN_LABELS = 6
LARGEST_SCORE = 1e290  # differences of scores must not overflow
Cells = dict[str, np.ndarray[Any, Any]]
Labels = tuple[Any, Any]
FETCHED = 2**17  # distinct scores that come to Python as they are
FEWEST_BITS, MORE_BITS, ALL_BITS = 6, 8, 53
TOO_HEAVY = 3.0  # times the mass that a cell should have
FEW_ROWS = 32  # where they lie inside a cell is not worth another pass
ONE_SCORE = 2.0**-40  # scores that are closer, relative to their size, are one in a tally anyway


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

    Up to 131,072 distinct scores, over all segments, or `max_cells` if that is more, are counted one by one: the tally
    is that of ``Tally.from_arrays`` with `max_cells`. More are grouped into cells of similar mass: ties are never
    split, counts are exact, and a cell's score lies between its smallest and its largest one. Without weights the
    result is the same number for number on every engine.

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
    Tally(3 cells at 0.2 … 0.9, 4 rows, 2 positive (50 %))
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
        tallies = _count(select_rows(frame, score, label, weight, names, pos_label=pos_label), int(max_cells))
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
    """A lazy frame of `score`, `label` and maybe `weight` and `by_0`, `by_1`, …, and what the user said about them."""

    frame: Any
    score: str
    label: str
    weight: str | None
    groups: tuple[str, ...]
    pos_label: Any


def select_rows(
    frame: Any, score: str, label: str, weight: str | None, by: Sequence[str], *, pos_label: Any = None
) -> Rows:
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
    segments = {f"by_{i}": _segment(name, schema) for i, name in enumerate(by)}
    return Rows(frame.select(**columns, **segments), score, label, weight, tuple(segments), pos_label)


def _segment(name: str, schema: Any) -> Any:
    """The column, in which NaN is missing like NULL, and one segment with it."""
    column = nw.col(name)
    return nw.when(~column.is_nan()).then(column) if schema[name].is_float() else column


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
    """Run a query: columns of doubles, and those of segments as Python values, None where they are missing."""
    table = frame.collect()
    cells: Cells = {}
    for name in table.columns:
        if name.startswith("by_"):
            cells[name] = np.full(len(table), None, object)
            cells[name][~table[name].is_null().to_numpy()] = table[name].drop_nulls().to_list()
        else:
            cells[name] = np.asarray(table[name].to_numpy(), np.float64)
    return cells


def survey(rows: Rows) -> tuple[float, float, Labels]:
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
    if rows.pos_label is not None or not kind.is_numeric():
        return extremes["low"], extremes["high"], _read_labels(rows)
    # Labels of 0 and 1 or -1 and 1 need not be looked up. If there are others, the scan will show it.
    return extremes["low"], extremes["high"], (-1 if extremes["lowest_label"] < 0.0 else 0, 1)


def _read_labels(rows: Rows) -> Labels:
    """The negative and the positive label, checked as for arrays, from the distinct values alone."""
    distinct = rows.frame.select("label").unique().head(SHOWN_LABELS).collect()["label"]
    labels = distinct.to_list()
    if distinct.is_null().any() or any(label != label for label in labels):  # noqa: PLR0124  # NaN differs from itself
        raise InvalidInputError(f"`{rows.label}` must have no missing labels; got NULL or NaN. Drop these rows first.")
    negative, positive = _validation.encode_labels(np.array(sorted(labels)), rows.pos_label, rows.label)[1]
    return tuple(x.item() if isinstance(x, np.generic) else x for x in (negative, positive))


def check_cells(cells: Cells, rows: Rows) -> None:
    """Refuse wrong scores, labels and weights; rows that were not counted as good have a wrong one."""
    if not np.isfinite(cells["cell"]).all():
        _refuse_scores(rows)
    if (cells["labelled"] != cells["rows"]).any():
        _read_labels(rows)  # says what is wrong with them
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


def _count(rows: Rows, max_cells: int) -> dict[tuple[Any, ...], Tally]:
    """The tally of each segment, a tuple of values.

    Every pass is one query, each decided by the answers before it:

    1. the extremes of the columns, which Parquet files and many databases know without reading them;
    2. the distinct scores among the first rows;
    3. only where these are few: the counts at each score, unless they are too many after all;
    4. else the counts in cells, and again in finer ones as long as some are too heavy.
    """
    low, high, labels = survey(rows)
    most = max(FETCHED, max_cells)
    first = rows.frame.head(2 * most).group_by(*rows.groups, "score").agg(nw.len().alias("rows"))
    is_few = fetch(first.select(n=nw.len()))["n"].item() <= most
    cells = _scan(rows, rows.frame.with_columns(cell=nw.col("score")), labels, most + 1) if is_few else {}
    if is_few and len(cells["cell"]) <= most:
        parts = _split_by_segment(cells, rows)
    else:
        parts = _make_cells(rows, labels, (low, high), max_cells)
    return {segment: _make_tally(part, rows, max_cells) for segment, part in parts.items()}


def _make_cells(rows: Rows, labels: Labels, ends: tuple[float, float], max_cells: int) -> dict[tuple[Any, ...], Cells]:
    """Count rows in cells of leading bits, which are fine near 0.

    Where no score is negative, those in the upper half enter as their negative distance from the end, so that cells
    are as fine near 1 as near 0. Powers of two and whole numbers reach every engine unchanged, other numbers do not.
    """
    largest = max(-ends[0], ends[1], 1.0 / LARGEST_SCORE)
    place = nw.col("score") * 2.0 ** -math.ceil(math.log2(largest))  # from -1 to 1
    if ends[0] >= 0.0:
        place = place - ((place > 0.5) & (place < 1.0)).cast(nw.Float64)
    bits = max(math.ceil(math.log2(max_cells)) - 1, FEWEST_BITS)
    frame, place = rows.frame.with_columns(place=place), nw.col("place")
    frame, cell = frame.with_columns(cell=round_bits(place, bits)), nw.col("cell")
    while True:
        parts = _split_by_segment(_scan(rows, frame, labels), rows)
        heavy = np.concatenate([part["cell"][_is_too_heavy(part, max_cells)] for part in parts.values()])
        if len(heavy) == 0 or bits == ALL_BITS:
            return parts
        bits = min(bits + MORE_BITS, ALL_BITS)
        is_heavy = whole_number(cell).cast(nw.Int64).is_in(np.unique(whole_number(heavy)).astype(int).tolist())
        frame = frame.with_columns(cell=nw.when(is_heavy).then(round_bits(place, bits)).otherwise(cell))


def round_bits(x: Any, bits: int) -> Any:
    """Round numbers to some number of leading bits (Veltkamp 1968); at 53 bits nothing is rounded."""
    scaled = x * (2.0 ** (ALL_BITS - bits) + 1.0)
    return scaled - (scaled - x)


def whole_number(cell: Any) -> Any:
    """A whole number for each cell from -1 to 1; cells closer than 2^-51 may share one."""
    return (cell * 2.0**51 + 1.5 * 2.0**52) - 1.5 * 2.0**52


def _is_too_heavy(part: Cells, max_cells: int) -> Any:
    """Which cells of a tally hold too much of its mass at several scores."""
    spread = part["high"] - part["low"] > ONE_SCORE * np.abs(part["high"])
    return spread & (part["total"] > TOO_HEAVY * part["total"].sum() / max_cells) & (part["rows"] > FEW_ROWS)


def _scan(rows: Rows, frame: Any, labels: Labels, most: int | None = None) -> Cells:
    """Count the rows of a frame with the column `cell`, checked; where there are as many as `most`, not all cells.

    Every sum is of a plain column, computed beforehand, which is what all engines group by fastest. A row with a wrong
    label or weight is found by its absence: it is one of the `rows`, but not `labelled` or `weighed`.
    """
    score, label, weight = nw.col("score"), nw.col("label"), nw.col("weight")
    negative, positive = ((label == value).cast(nw.Float64) for value in labels)
    sums = {"labelled": negative + positive, "positive": positive}
    if rows.weight is not None:
        is_good = (weight >= 0.0) & weight.is_finite()
        sums |= {"positive": positive * weight, "total": weight, "weighed": is_good.cast(nw.Float64)}
    table = frame.select(*rows.groups, "score", "cell", **sums).group_by(*rows.groups, "cell")
    found = table.agg(
        nw.len().alias("rows"), score.min().alias("low"), score.max().alias("high"), *(nw.col(x).sum() for x in sums)
    )
    cells = fetch(found if most is None else found.head(most))
    if len(cells["cell"]) != most:
        check_cells(cells, rows)
    return {"total": cells["rows"], **cells}


def _make_tally(part: Cells, rows: Rows, max_cells: int) -> Tally:
    weighs = part["total"] > 0.0
    low, high, positive, total = (part[name][weighs] for name in ("low", "high", "positive", "total"))
    if len(total) == 0:
        raise InvalidInputError(f"`{rows.weight}` must have a positive entry; all weights are zero.")
    return Tally(*bins.group_sums(low + 0.5 * (high - low), positive, total)).coarsen(max_cells)


def _split_by_segment(cells: Cells, rows: Rows) -> dict[tuple[Any, ...], Cells]:
    if not rows.groups:
        return {(): cells}
    places: dict[tuple[Any, ...], list[int]] = {}
    for place, segment in enumerate(zip(*(cells[name] for name in rows.groups), strict=True)):
        places.setdefault(segment, []).append(place)
    return {s: {name: column[where] for name, column in cells.items()} for s, where in places.items()}
