"""Output appears whole or not at all: beside its target first, then moved into place."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calibrant._files import replacing
from calibrant.cli.files import format_named
from calibrant.cli.problems import BROKEN_PIPE, Problem

__all__ = ["batches", "check_screen", "check_target", "copied", "drop_stdout", "format_for", "written"]

COPY = {
    "parquet": "FORMAT parquet",
    "csv": "FORMAT csv, HEADER",
    "json": "FORMAT json",
    "arrow": "",  # written by Arrow itself
}
BINARY = ("parquet", "arrow")
STDOUT = "-"


def check_target(output: str | None) -> None:
    """Refuse a place that cannot be written to before any work is done."""
    if output in (None, STDOUT):
        return
    path = Path(output or "")
    if path.is_dir():
        raise Problem(f"{output} is a folder; give the name of a file.")
    if path.exists() and not path.is_file():
        return  # a pipe or a device is written to, whatever its folder allows
    if not path.parent.is_dir():
        raise Problem(f"The folder {path.parent} does not exist; make it first.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise Problem(f"The folder {path.parent} cannot be written to: permission denied.")


@contextmanager
def written(output: str | None) -> Iterator[Path]:
    """A path to write to; its content goes to the target, or to standard output, if all goes well."""
    check_target(output)
    if output in (None, STDOUT):
        with tempfile.TemporaryDirectory(prefix="calibrant-") as folder:
            path = Path(folder) / "output"
            yield path
            _to_stdout(path)
        return
    with replacing(output or "") as path:
        yield path


def _to_stdout(path: Path) -> None:
    sys.stdout.flush()
    try:
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # the reader, such as head, has seen enough
        drop_stdout()
        raise SystemExit(BROKEN_PIPE) from None


def drop_stdout() -> None:
    """What could not be written to standard output must not fail a second time when Python ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_screen(output: str | None, kind: str) -> None:
    """Refuse to fill a terminal with binary data."""
    if output in (None, STDOUT) and sys.stdout.isatty():
        raise Problem(f"{kind} is not for the screen; name a file with -o.")


def format_for(output: str | None, given: str | None) -> str:
    """The format to write: as given, by the ending, or CSV on standard output."""
    if given is not None:
        kind = "json" if given in ("json", "jsonl") else given
        if kind not in COPY:
            raise Problem(f"--format must be one of {', '.join(COPY)}; got {given!r}.")
        if kind in BINARY:
            check_screen(output, kind.capitalize())
        return kind
    if output in (None, STDOUT):
        return "csv"
    kind = format_named(output or "") or ""
    if not kind:
        raise Problem(f"The name {output} does not say the format: end it in .csv, .parquet, .arrow or .jsonl.")
    return kind


def copied(connection: Any, query: str, output: str | None, given: str | None = None) -> int:
    """Write the result of a query, and return its number of rows."""
    kind = format_for(output, given)
    with written(output) as path:
        if kind == "arrow":
            return _write_arrow(connection, query, path)
        options = COPY[kind] + (", COMPRESSION gzip" if str(output).endswith(".gz") else "")
        options += ", USE_TMP_FILE false"  # this is one already; DuckDB 1 leaves its own behind on errors
        found = connection.execute(
            f"COPY ({query}) TO '{str(path).replace(chr(39), 2 * chr(39))}' ({options})"
        ).fetchall()
        return int(found[0][0])


def _write_arrow(connection: Any, query: str, path: Path) -> int:
    import pyarrow as pa

    reader = batches(connection.sql(query))
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, reader.schema) as writer:
        rows = 0
        for batch in reader:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def batches(relation: Any, rows: int = 122_880) -> Any:
    """A relation as a stream of Arrow batches; DuckDB renamed the method."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return read(rows)
