"""Tables in files, opened by DuckDB, with their columns under the names that the files give them."""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from calibrant._optional import require
from calibrant.engines.table_files import check_gzip, detect_dialect, detect_format, find_files, is_remote
from calibrant.errors import InvalidInputError

CALLER = "Reading tables"
STDIN = "-"
NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
           "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN")  # fmt: skip
AnyPath = str | os.PathLike[str]


@dataclass(frozen=True)
class Table:
    """An open table; `open_table` makes it.

    Attributes
    ----------
    name : str
        What to call the table in messages.
    relation : DuckDB relation
        The rows. Where DuckDB cannot tell names apart, as `a` and `A`, one of them has another name there.
    files : list of str
        The files that are read.
    format : str
        csv, parquet, arrow or json.
    partitioned : bool
        Whether some columns are in the names of folders, as in ``day=2026-01-01``.
    """

    name: str
    relation: Any
    files: list[str] = field(default_factory=list)
    format: str = ""
    csv: dict[str, Any] = field(default_factory=dict)
    connection: Any = None
    partitioned: bool = False

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.relation.columns)

    def as_text(self) -> Any:
        """Return the rows of CSV with every field as the text that it is, not as the number that it may be."""
        return _read_csv(self.connection, self.files, all_varchar=True, **self.csv)

    def kind(self, column: str) -> str:
        """Return the type of a column, in DuckDB's words and without its parameters."""
        return str(self.relation.types[self.columns.index(column)]).partition("(")[0]

    def is_number(self, column: str) -> bool:
        """Tell whether a column holds numbers or booleans."""
        return self.kind(column) in NUMBERS

    def values(self, query: str) -> list[tuple[Any, ...]]:
        """Fetch the rows of a query of ``rows``."""
        return list(self.relation.query("rows", query).fetchall())

    def distinct(self, column: str, most: int) -> list[Any]:
        """Fetch up to `most` distinct values of a column, sorted; missing ones are left out."""
        name = quote(column)
        values = self.values(f"SELECT DISTINCT {name} FROM rows WHERE {name} IS NOT NULL LIMIT {most}")
        return sorted(value for (value,) in values)

    def lacks(self, column: str) -> str:
        """Write in SQL that a row has no value in a column; NaN and infinity are none."""
        name = quote(column)
        if self.kind(column) not in ("DOUBLE", "FLOAT"):
            return f"{name} IS NULL"
        return f"coalesce(NOT isfinite({name}), true)"

    def segment(self, column: str) -> str:
        """Write a column of segments in SQL, as one of the types that maps of segments know; dates become text."""
        kind, name = self.kind(column), quote(column)
        by_hours = f"SELECT 1 FROM rows WHERE {name} <> {name}::DATE LIMIT 1"
        if kind.startswith("TIMESTAMP") and "ZONE" not in kind and not self.values(by_hours):
            return f"{name}::DATE::VARCHAR"  # days, which pandas writes as times
        if kind.startswith("TIME") or "[" in kind or kind in ("STRUCT", "MAP", "UNION", "BLOB", "INTERVAL"):
            raise InvalidInputError(
                f"`by` must be a column of text, numbers, booleans or dates; {column!r} is of type {kind.lower()}. "
                "Make such a column from it first."
            )
        if kind in ("VARCHAR", "BOOLEAN") or (self.is_number(column) and kind != "DECIMAL"):
            return name
        return f"{name}::{'DOUBLE' if kind == 'DECIMAL' else 'VARCHAR'}"

    def select(self, expressions: dict[str, str]) -> Table:
        """Compute another table from this one: name → SQL expression."""
        relation = self.relation.project(", ".join(f"{text} AS {quote(name)}" for name, text in expressions.items()))
        return Table(self.name, relation)


def quote(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def open_table(source: AnyPath | Sequence[AnyPath]) -> Iterator[Table]:
    r"""Open a table in one or several files, in the block of a ``with`` statement.

    Formats are told by content: CSV with any of the usual delimiters, packed or not, Parquet, Arrow, and JSON lines.
    Several files are one table; their columns are matched by name. In a folder, names of folders such as
    ``day=2026-01-01`` are a column, too.

    Parameters
    ----------
    source : path, folder of Parquet files, glob, or several of them
        What to read. A path that exists is that file, even with ``[``, ``*`` or ``?`` in its name; ``-`` is standard
        input. A pipe is read once, into a temporary file.

    Yields
    ------
    Table
        Its ``relation`` can be given to `engines.tally`, the table itself to `engines.apply_file`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant import engines
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     _ = path.write_text("score;label\n0.2;0\n0.8;1\n")
    ...     with engines.open_table(path) as table:
    ...         print(table.columns, table.format)
    ...         print(engines.tally(table.relation, score="score", label="label"))
    ['score', 'label'] csv
    Tally(2 cells, 2 rows, 1 positive (50 %), scores 0.2 … 0.8)
    """
    sources = [source] if isinstance(source, str | os.PathLike) else list(source)
    if len(sources) > 1 and STDIN in sources:
        raise InvalidInputError("Standard input (-) cannot be mixed with files.")
    with ExitStack() as stack:
        named = [STDIN] if sources == [STDIN] else [name for one in sources for name in find_files(os.fspath(one))]
        files = [stack.enter_context(_spool(name)) if _is_stream(name) else name for name in named]
        shown = ["standard input" if name == STDIN else name for name in named]
        title = shown[0] if len(files) == 1 else f"{len(files)} files"
        stack.enter_context(reading(title))
        formats = sorted({detect_format(*pair) for pair in zip(files, shown, strict=True)})
        if len(formats) > 1:
            raise InvalidInputError(f"The files must have one format; they are {' and '.join(formats)}.")
        connection = stack.enter_context(connect())
        hive = formats == ["parquet"] and all(_is_partition(name, sources) for name in named)
        relation, names, csv = _read(connection, files, shown, formats[0], hive)
        twice = next((name for name in names if names.count(name) > 1 and name in relation.columns), None)
        if twice is not None:
            raise InvalidInputError(f"{title} has {names.count(twice)} columns '{twice}'; rename one of them.")
        yield Table(title, relation, files, formats[0], csv, connection, hive)


def _is_partition(name: str, sources: Sequence[AnyPath]) -> bool:
    """Tell whether a file of a folder that was asked for lies in one with a column and its value as name."""
    inner = (Path(name).relative_to(source) for source in sources if Path(name).is_relative_to(source))
    return any("=" in folder for path in inner for folder in path.parts[:-1])


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what DuckDB or Arrow say about the content of a file into one sentence with the file's name."""
    try:
        yield
    except Exception as error:
        # What Arrow finds wrong with a file is an OSError without the system's number.
        # DuckDB's binding has no kind of error for names that are no text.
        is_plain = (isinstance(error, OSError) and error.errno is None) or "nanobind" in str(error)
        engines = ("duckdb", "_duckdb", "pyarrow", "binascii", "zlib")
        if not is_plain and not any(kind.__module__.partition(".")[0] in engines for kind in type(error).__mro__):
            raise
        if isinstance(error, MemoryError) or "No space left" in str(error):
            raise
        raise InvalidInputError(f"{name} could not be read: {first_sentence(str(error))}") from error


def first_sentence(text: str) -> str:
    """Return the first line of a message, short and with a full stop."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "no details")
    line = line if len(line) <= 300 else f"{line[:300]}…"
    return line if line.endswith((".", "…", "!", "?")) else f"{line}."


@contextmanager
def connect() -> Iterator[Any]:
    """Start a DuckDB in memory that ends with the block."""
    duckdb = require("duckdb", "tables", CALLER)
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        with suppress(duckdb.Error):  # a DuckDB that was built without time zones
            connection.execute("SET TimeZone = 'UTC'")
        yield connection


def _read(
    connection: Any, files: list[str], shown: list[str], kind: str, hive: bool = False
) -> tuple[Any, list[str], dict[str, Any]]:
    """Return the rows, the names of the columns in the first file, and how CSV is written."""
    alone = not is_remote(files[0])
    if kind == "parquet":
        relation = connection.read_parquet(_escape(files), union_by_name=len(files) > 1, hive_partitioning=hive)
        parquet = require("pyarrow.parquet", "tables", CALLER)
        return relation, parquet.read_schema(files[0]).names if alone else [], {}
    if kind == "arrow":
        table = _read_arrow(files)
        return connection.from_arrow(_drop_unknown_types(table, connection)), table.column_names, {}
    for name in files:
        check_gzip(name)
    if kind == "json":
        return connection.read_json(_escape(files)), [], {}
    dialects = [detect_dialect(*pair) for pair in zip(files, shown, strict=True)] if alone else []
    if len({delimiter for delimiter, fields in dialects if len(fields) > 1}) > 1:
        raise InvalidInputError("The files must use the same delimiter; convert some of them first.")
    # A fixed delimiter makes a line with too many columns an error; left to guess, DuckDB takes whole lines.
    delimiter, fields = dialects[0] if dialects else (None, [])
    options = {"delimiter": delimiter} if delimiter else {}
    relation = _read_csv(connection, files, **options)
    if delimiter == ";":  # a comma is then free for decimals, as where it is the custom
        by_comma = _read_csv(connection, files, **options, decimal=",")
        if _count_numbers(by_comma) > _count_numbers(relation):
            relation, options = by_comma, options | {"decimal": ","}
    header = {"header": any(pair[0] == pair[1] for pair in zip(fields, relation.columns, strict=False))}
    return relation, fields, options | header


def _count_numbers(relation: Any) -> int:
    return sum(str(kind).partition("(")[0] in NUMBERS for kind in relation.types)


def _escape(files: list[str]) -> list[str]:
    """Return names that DuckDB takes for these very files: it takes every name for a pattern."""
    return [name if is_remote(name) else glob.escape(name) for name in files]


def _read_csv(connection: Any, files: list[str], **options: Any) -> Any:
    return connection.read_csv(_escape(files), union_by_name=len(files) > 1, **options)


def _read_arrow(files: Iterable[str]) -> Any:
    pa = require("pyarrow", "tables", CALLER)
    tables = [open_arrow(name).read_all() for name in files]
    table = tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="default")
    for batch in table.to_batches():
        batch.validate(full=True)  # DuckDB trusts the offsets in it, and would read beyond the data
    return table


def _drop_unknown_types(table: Any, connection: Any) -> Any:
    """Leave columns empty whose type DuckDB does not know."""
    pa = require("pyarrow", "tables", CALLER)
    for i, name in enumerate(table.column_names):
        try:
            connection.from_arrow(pa.table({"x": table.column(i).slice(0, 0)}))
        except Exception:  # DuckDB has many kinds of errors
            table = table.set_column(i, name, pa.nulls(len(table)))
    return table


def open_arrow(name: str) -> Any:
    """Open an Arrow file, or the streaming form of it, without copying it into memory."""
    pa = require("pyarrow", "tables", CALLER)
    with Path(name).open("rb") as file:
        is_file = file.read(6) == b"ARROW1"
    source = pa.memory_map(name)
    return pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)


def _is_stream(name: str) -> bool:
    """Tell whether a name is that of a pipe or device, which can be read only once."""
    return name == STDIN or (not is_remote(name) and not Path(name).is_file())


@contextmanager
def _spool(name: str) -> Iterator[str]:
    """Copy standard input, or a pipe or device, into a file that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="calibrant-") as folder, ExitStack() as stack:
        path = Path(folder) / "table"
        source = sys.stdin.buffer if name == STDIN else stack.enter_context(Path(name).open("rb"))
        with path.open("wb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
        if path.stat().st_size == 0:
            shown = "Standard input" if name == STDIN else name
            raise InvalidInputError(f"{shown} is empty; pipe a table into it, or name a file.")
        yield str(path)
