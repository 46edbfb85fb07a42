"""Where rows come from: files, data frames, DuckDB relations and Ibis tables, all as one Ibis table that can be run."""

from __future__ import annotations

import difflib
import glob
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant.errors import InvalidInputError

__all__ = ["Source", "opened"]

CALLER = "calibrant.engines"
RELATION = "calibrant_source"
Columns = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Source:
    """An Ibis table, and how to run an expression of it."""

    table: Any
    relation: Any = None

    def run(self, expression: Any) -> Columns:
        """The result of an expression as numpy columns, one pass over the data."""
        schema = expression.schema().to_pyarrow()
        if self.relation is None:
            result = expression.to_pyarrow()
        else:
            # A relation does not tell its connection, but it runs any query about itself.
            query = require("ibis", "tables", CALLER).to_sql(expression, dialect="duckdb")
            result = self.relation.query(RELATION, query).to_arrow_table()
        result = result.cast(schema)
        return {name: result.column(name).to_numpy(zero_copy_only=False) for name in result.column_names}

    @property
    def engine(self) -> str:
        """The name of the engine that runs the expressions."""
        return "duckdb" if self.relation is not None else str(self.table.get_backend().name)

    def column(self, name: str, role: str) -> Any:
        """A column of the table, or an error that names the ones it could have been."""
        if name in self.table.columns:
            return self.table[name]
        near = difflib.get_close_matches(str(name), self.table.columns, n=3, cutoff=0.4)
        hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"It has {', '.join(self.table.columns)}."
        raise InvalidInputError(f"`{role}` must name a column of the table; there is no {name!r}. {hint}")


@contextmanager
def opened(source: Any) -> Iterator[Source]:
    """The table behind `source`; a DuckDB that was started for it ends with the block."""
    ibis = require("ibis", "tables", CALLER)
    if isinstance(source, ibis.expr.types.Table):
        yield Source(source)
        return
    if _is_relation(source):
        schema = ibis.schema(source.limit(0).to_arrow_table().schema)
        yield Source(ibis.table(schema, name=RELATION), source)
        return
    connection = require("ibis.backends.duckdb", "tables", CALLER).Backend()
    connection.do_connect()
    try:
        with warnings.catch_warnings():
            # Ibis 12 still calls a method by the name that DuckDB 2 deprecates.
            warnings.filterwarnings("ignore", ".*use to_arrow_table", DeprecationWarning)
            yield Source(_read(source, connection))
    finally:
        connection.disconnect()


def _is_relation(source: Any) -> bool:
    kind = type(source)
    return kind.__name__ == "DuckDBPyRelation"


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
    connection.con.register(RELATION, data)
    return connection.table(RELATION)
