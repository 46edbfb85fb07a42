"""Any table as a lazy Narwhals frame: frames as they are; files and Arrow tables through DuckDB."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from calibrant._optional import require
from calibrant.errors import InvalidInputError

__all__ = ["nw", "open_frame"]

CALLER = "calibrant.engines.tally"
nw: Any = require("narwhals.stable.v2", "tables", CALLER)


@contextmanager
def open_frame(source: Any) -> Iterator[Any]:
    """A lazy Narwhals frame of `source`; a DuckDB that was started for it ends with the block."""
    is_path = isinstance(source, str | os.PathLike)
    frame = None if is_path else nw.from_native(source, pass_through=True)
    # Narwhals groups Arrow tables slowly; DuckDB reads their memory in place.
    if isinstance(frame, nw.DataFrame | nw.LazyFrame) and not frame.implementation.is_pyarrow():
        yield frame.lazy()
        return
    if not is_path and not hasattr(source, "__arrow_c_stream__"):
        raise InvalidInputError(
            "`source` must be a path or glob of Parquet, CSV or Arrow files, or a table of a library that Narwhals "
            f"supports (pandas, Polars, PySpark, Dask, DuckDB, Ibis, pyarrow); got {type(source).__name__}."
        )
    duckdb = require("duckdb", "tables", CALLER)
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        with suppress(duckdb.Error):  # a DuckDB that was built without time zones
            connection.execute("SET TimeZone = 'UTC'")
        if is_path:
            relation = _read_files(os.fspath(source), connection)
        else:
            relation = connection.from_arrow(require("pyarrow", "tables", CALLER).table(source))
        yield nw.from_native(relation)


def _read_files(pattern: str, connection: Any) -> Any:
    paths = _find_files(pattern)
    name = paths[0].lower().removesuffix(".gz").removesuffix(".zst")
    # DuckDB takes every name for a pattern, so that a file called a[1].csv would be read as a1.csv.
    literal = [path if "://" in path else glob.escape(path) for path in paths]
    if name.endswith((".parquet", ".pq")):
        return connection.read_parquet(literal)
    if name.endswith((".csv", ".tsv", ".txt")):
        return connection.read_csv(literal)
    if name.endswith((".arrow", ".feather", ".ipc")):
        return connection.from_arrow(require("pyarrow.dataset", "tables", CALLER).dataset(paths, format="ipc"))
    raise InvalidInputError(
        f"`source` must be Parquet, CSV or Arrow files, known by their endings (.csv, .csv.gz, …); got {pattern!r}."
    )


def _find_files(pattern: str) -> list[str]:
    """An existing file is itself, a folder its Parquet files, anything else a glob."""
    path = Path(pattern)
    if path.is_file() or "://" in pattern:
        return [pattern]
    if path.is_dir():  # as Spark writes a table, with its own files beside the data
        inside = ((part, part.relative_to(path).parts) for part in path.rglob("*.parquet"))
        paths = sorted(str(part) for part, names in inside if not any(name.startswith(("_", ".")) for name in names))
    else:
        paths = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207  # patterns may be absolute
    if not paths:
        raise InvalidInputError(f"`source` must match at least one file; nothing is at {pattern!r}.")
    return paths
