"""Where rows come from: files, data frames and DuckDB relations, which DuckDB counts; Ibis tables, by their engine."""

from __future__ import annotations

import difflib
import glob
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant.engines.relations import Relation, cases, number
from calibrant.errors import InvalidInputError

__all__ = ["Columns", "Source", "column", "ibis_number", "of_duckdb", "of_ibis", "opened"]

CALLER = "calibrant.engines"
Columns = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Source:
    """A table, how an expression of it is run, and the words of its language that are not methods of columns.

    Attributes
    ----------
    table : Ibis table or Relation
        Where the expressions begin.
    engine : str
        The name of the engine that runs them.
    run : callable
        The result of an expression as numpy columns, one pass over the data.
    number : callable
        A double that the engine reads exactly; a bare decimal would be rounded a second time by some.
    cases : callable
        The value of the first branch (condition, value) whose condition holds, or `else_`.
    ranked : callable
        A table with a `rank` from 0 on inside the groups of one column, in the order of another.
    """

    table: Any
    engine: str
    run: Callable[[Any], Columns]
    number: Callable[[float], Any]
    cases: Callable[..., Any]
    ranked: Callable[[Any, str, str], Any]


def of_ibis(table: Any) -> Source:
    """A table of any engine that Ibis knows."""
    ibis = require("ibis", "tables", CALLER)

    def run(expression: Any) -> Columns:
        result = expression.to_pyarrow().cast(expression.schema().to_pyarrow())
        return {name: result.column(name).to_numpy(zero_copy_only=False) for name in result.column_names}

    def ranked(table: Any, by: str, order: str) -> Any:
        return table.mutate(rank=ibis.row_number().over(group_by=table[by], order_by=table[order]))

    return Source(table, str(table.get_backend().name), run, ibis_number, ibis.cases, ranked)


def ibis_number(value: float) -> Any:
    """An exact double in Ibis."""
    return require("ibis", "tables", CALLER).literal(repr(float(value))).cast("float64")


def of_duckdb(relation: Any) -> Source:
    """A relation of DuckDB, which is spoken to directly: loading Ibis takes longer than counting millions of rows."""
    return Source(Relation(relation), "duckdb", Relation.collect, number, cases, Relation.ranked)


def column(table: Any, name: str, role: str) -> Any:
    """A column of a table, or an error that names the ones it could have been."""
    names = list(table.columns)
    if name in names:
        return table[name]
    near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.4)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"It has {', '.join(names)}."
    raise InvalidInputError(f"`{role}` must name a column of the table; there is no {name!r}. {hint}")


@contextmanager
def opened(source: Any) -> Iterator[Source]:
    """The table behind `source`; a DuckDB that was started for it ends with the block."""
    if type(source).__name__ == "DuckDBPyRelation":
        yield of_duckdb(source)
    elif type(source).__module__.partition(".")[0] == "ibis":
        with warnings.catch_warnings():
            # Ibis 12 still calls a method by the name that DuckDB 2 deprecates.
            warnings.filterwarnings("ignore", ".*use to_arrow_table", DeprecationWarning)
            yield of_ibis(source)
    else:
        duckdb = require("duckdb", "tables", CALLER)
        with duckdb.connect() as connection:
            connection.execute("SET enable_progress_bar = false")
            with suppress(duckdb.Error):  # a DuckDB that was built without time zones
                connection.execute("SET TimeZone = 'UTC'")
            yield of_duckdb(_read(source, connection))


def _read(source: Any, connection: Any) -> Any:
    if isinstance(source, str | Path):
        return _read_files(str(source), connection)
    if type(source).__name__ == "LazyFrame":
        source = source.collect()
    arrow = require("pyarrow", "tables", CALLER)
    if type(source).__module__.startswith("pandas"):
        return _registered(arrow.Table.from_pandas(source, preserve_index=False), connection)
    if not hasattr(source, "__arrow_c_stream__"):
        raise InvalidInputError(
            "`source` must be a path or glob of Parquet, CSV or Arrow files, a pandas, polars or pyarrow table, "
            f"a DuckDB relation or an Ibis table; got {type(source).__name__}."
        )
    return _registered(arrow.table(source), connection)


def _read_files(pattern: str, connection: Any) -> Any:
    paths = sorted(glob.glob(pattern, recursive=True)) or ([pattern] if "://" in pattern else [])  # noqa: PTH207  # patterns may be absolute
    if not paths:
        raise InvalidInputError(f"`source` must match at least one file; nothing is at {pattern!r}.")
    name = paths[0].lower().removesuffix(".gz").removesuffix(".zst")
    if name.endswith((".parquet", ".pq")):
        return connection.read_parquet(paths)
    if name.endswith((".csv", ".tsv", ".txt")):
        return connection.read_csv(paths)
    if name.endswith((".arrow", ".feather", ".ipc")):
        return _registered(require("pyarrow.dataset", "tables", CALLER).dataset(paths, format="ipc"), connection)
    raise InvalidInputError(
        f"`source` must be Parquet, CSV or Arrow files, known by their endings (.parquet, .csv, .csv.gz, .arrow, "
        f".feather); got {pattern!r}."
    )


def _registered(data: Any, connection: Any) -> Any:
    # DuckDB reads Arrow memory and Arrow files in place; nothing is copied.
    return connection.from_arrow(data)
