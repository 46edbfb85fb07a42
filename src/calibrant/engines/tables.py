"""Tables in files: which ones are meant, whether they are whole, and their rows, which DuckDB reads."""

from __future__ import annotations

import codecs
import csv
import difflib
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

from calibrant._files import AnyPath
from calibrant._optional import require
from calibrant.errors import InvalidInputError

CALLER = "Reading tables"
STDIN = "-"
ENDINGS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv", ".txt"),
    "json": (".jsonl", ".ndjson", ".json"),
}
LONGEST_LINE = 2_000_000  # DuckDB's limit


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
        csv, parquet or json.
    partition_columns : list of str
        The columns that are in the names of folders, as in ``day=2026-01-01``, from the outer one to the inner.
    """

    name: str
    relation: Any
    files: list[str] = field(default_factory=list)
    format: str = ""
    csv: dict[str, Any] = field(default_factory=dict)
    connection: Any = None
    partition_columns: list[str] = field(default_factory=list)

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
        kind = self.kind(column)
        return kind.endswith(("INT", "INTEGER")) or kind in ("FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN")

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

    def describe_missing(self, scores: Sequence[str], label: str) -> str | None:
        """Say how many rows have no score or no label; None if all have both."""
        wanted = ("true", " OR ".join(map(self.lacks, scores)) or "false", self.lacks(label))
        counts = ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in wanted)
        rows, no_score, no_label = self.values(f"SELECT {counts} FROM rows")[0]
        lacking = ((no_score, "score"), (no_label, "label"))
        parts = [f"{n} of {rows} rows {'have' if n > 1 else 'has'} no {what}" for n, what in lacking if n]
        return f"{' and '.join(parts)}." if parts else None

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


def literal(value: Any) -> str:
    """Return a value as SQL writes it."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


@contextmanager
def open_table(source: AnyPath | Sequence[AnyPath]) -> Iterator[Table]:
    r"""Open a table in one or several files, in the block of a ``with`` statement.

    Formats are told by content: CSV with any of the usual delimiters, packed or not, Parquet, and JSON lines.
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
    Tally(2 cells at 0.2 … 0.8, 2 rows, 1 positive (50 %))
    """
    sources = [source] if isinstance(source, str | os.PathLike) else list(source)
    if len(sources) > 1 and STDIN in sources:
        raise InvalidInputError("Standard input (-) cannot be mixed with files.")
    with ExitStack() as stack:
        named = [STDIN] if sources == [STDIN] else [name for one in sources for name in find_files(os.fspath(one))]
        # A pipe or device can be read only once.
        streams = [name == STDIN or not Path(name).is_file() for name in named]
        files = [stack.enter_context(_spool(name)) if once else name for name, once in zip(named, streams, strict=True)]
        shown = ["standard input" if name == STDIN else name for name in named]
        title = shown[0] if len(files) == 1 else f"{len(files)} files"
        stack.enter_context(reading(title))
        formats = sorted({detect_format(*pair) for pair in zip(files, shown, strict=True)})
        if len(formats) > 1:
            raise InvalidInputError(f"The files must have one format; they are {' and '.join(formats)}.")
        connection = stack.enter_context(connect())
        parts = [_partition_columns(name, sources) for name in named]
        parted_by = parts[0] if formats == ["parquet"] and all(parts) else []
        relation, names, dialect = _read(connection, files, shown, formats[0], bool(parted_by))
        twice = next((name for name in names if names.count(name) > 1 and name in relation.columns), None)
        if twice is not None:
            raise InvalidInputError(f"{title} has {names.count(twice)} columns '{twice}'; rename one of them.")
        yield Table(title, relation, files, formats[0], dialect, connection, parted_by)


def _partition_columns(name: str, sources: Sequence[AnyPath]) -> list[str]:
    """List the columns that are in the names of folders, between a folder that was asked for and a file in it."""
    inner = (Path(name).relative_to(source) for source in sources if Path(name).is_relative_to(source))
    return [folder.partition("=")[0] for folder in next(inner, Path()).parts[:-1] if "=" in folder]


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
    if kind == "parquet":
        relation = connection.read_parquet(_escape(files), union_by_name=len(files) > 1, hive_partitioning=hive)
        return relation, require("pyarrow.parquet", "tables", CALLER).read_schema(files[0]).names, {}
    for name in files:
        check_gzip(name)
    if kind == "json":
        return connection.read_json(_escape(files)), [], {}
    dialects = [detect_dialect(*pair) for pair in zip(files, shown, strict=True)]
    if len({delimiter for delimiter, fields in dialects if len(fields) > 1}) > 1:
        raise InvalidInputError("The files must use the same delimiter; convert some of them first.")
    # A fixed delimiter makes a line with too many columns an error; left to guess, DuckDB takes whole lines.
    delimiter, fields = dialects[0]
    relation = _read_csv(connection, files, delimiter=delimiter)
    header = any(pair[0] == pair[1] for pair in zip(fields, relation.columns, strict=False))
    return relation, fields, {"delimiter": delimiter, "header": header}


def _escape(files: list[str]) -> list[str]:
    """Return names that DuckDB takes for these very files: it takes every name for a pattern."""
    return [glob.escape(name) for name in files]


def _read_csv(connection: Any, files: list[str], **options: Any) -> Any:
    return connection.read_csv(_escape(files), union_by_name=len(files) > 1, **options)


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


def find_files(source: str) -> list[str]:
    """List the files of a path, folder or glob in order. An existing path is that file, whatever characters it has."""
    path = Path(source)
    if path.is_dir():
        return _find_parts(path)
    if path.exists():
        return [source]
    if path.is_symlink():
        raise InvalidInputError(f"{source} is a link to {path.readlink()}, which does not exist.")
    matches = sorted(name for name in glob.glob(source, recursive=True) if Path(name).is_file())  # noqa: PTH207
    _check_folders(path)
    if matches:
        return matches
    if glob.has_magic(source):
        raise InvalidInputError(f"No file matches '{source}'.")
    if not path.parent.is_dir():
        raise InvalidInputError(f"There is no file {source}. The folder {path.parent} does not exist.")
    near = suggest(path.name, (entry.name for entry in path.parent.iterdir()), cutoff=0.75)
    raise InvalidInputError(f"There is no file {source}. {near}".rstrip())


def suggest(name: str, known: Iterable[str], otherwise: str = "", cutoff: float = 0.5) -> str:
    """Suggest the known names that are like a wrong one."""
    lower = {one.lower(): one for one in known}
    near = [lower[one] for one in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=cutoff)]
    return f"Did you mean {' or '.join(map(repr, near))}?" if near else otherwise


def _find_parts(folder: Path) -> list[str]:
    """List the Parquet files of a folder: as Spark writes a table, with its own files beside the data."""
    _check_folders(folder / "*")
    parts = sorted(path for path in folder.rglob("*.parquet") if path.is_file())
    names = [str(path) for path in parts if not any(x.startswith(("_", ".")) for x in path.relative_to(folder).parts)]
    if not names:
        raise InvalidInputError(f"{folder} is a folder without Parquet files; name its files, as '{folder / '*.csv'}'.")
    return names


def _check_folders(pattern: Path) -> None:
    """Refuse a pattern with a folder that may not be read: its files would be missing without a word."""
    for part in reversed(pattern.parents):
        for folder in glob.glob(str(part), recursive=True):  # noqa: PTH207
            if Path(folder).is_dir() and not os.access(folder, os.R_OK | os.X_OK):
                raise InvalidInputError(f"The folder {folder} cannot be read: permission denied.")


def format_of_name(name: str) -> str | None:
    """Return the format that the ending of a name stands for."""
    plain = name.lower().removesuffix(".gz").removesuffix(".zst")
    kind = next((kind for kind, endings in ENDINGS.items() if plain.endswith(endings)), None)
    return None if kind == "parquet" and codec_of_name(name) else kind  # no engine reads packed Parquet


def detect_format(name: str, shown: str) -> str:
    """Return the format of a file, by its content; refuse what is not a table, calling it `shown`."""
    head = _read_head(name)
    if not head:
        raise InvalidInputError(f"{shown} is empty; it must be a table with a header and at least one row.")
    if head.startswith(b"PAR1"):
        return "parquet"
    if format_of_name(name) == "parquet":
        raise InvalidInputError(f"{shown} is named as Parquet, but its content is not; it may be damaged.")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InvalidInputError(f"{shown} is UTF-16 text; convert it to UTF-8 first, for example with iconv.")
    if head.startswith(b"\x1f\x8b"):
        raise InvalidInputError(f"{shown} is a gzip file; let its name end in .gz, as in data.csv.gz.")
    sample = head[:65536]
    control = sum(byte < 32 and byte not in b"\t\n\r\f" for byte in sample)
    if b"\0" in sample or control > 0.01 * len(sample):
        raise InvalidInputError(f"{shown} is not a table: it holds binary data, not CSV, Parquet or JSON lines.")
    try:
        # The sample may end inside a character.
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) == len(head))
    except UnicodeDecodeError:
        raise InvalidInputError(f"{shown} is not UTF-8 text; convert it first, for example with iconv.") from None
    if len(head) > LONGEST_LINE and not any(end in head[:LONGEST_LINE] for end in (b"\n", b"\r")):
        raise InvalidInputError(f"{shown} has a line longer than 2 MB, so it is not a table with one row on each line.")
    return "json" if head.lstrip()[:1] in (b"{", b"[") else "csv"


def detect_dialect(name: str, shown: str) -> tuple[str, list[str]]:
    """Return the delimiter of a CSV file and the fields of its first line.

    A line near the beginning with another number of columns is an error.
    """
    text = _read_head(name).decode("utf-8-sig", "replace")
    first = text.splitlines()[0]
    delimiter = max(",;\t|", key=first.count)
    rows = csv.reader(text.splitlines(keepends=True)[:20_000], delimiter=delimiter)
    fields: list[str] = []
    try:
        fields = next(rows, [])
        odd = next(((rows.line_num, len(row)) for row in rows if row and len(row) != len(fields)), None)
    except csv.Error:  # a field longer than Python's reader takes
        odd = None
    # The last line may have been cut where the sample ends.
    if odd is not None and (len(text) < LONGEST_LINE or odd[0] < rows.line_num):
        raise InvalidInputError(
            f"{shown} is not a sound CSV file: line {odd[0]} has {odd[1]} columns, its header has {len(fields)}. "
            "Repair that line."
        )
    return delimiter, fields


def _read_head(name: str) -> bytes:
    with open_bytes(name) as file:
        return bytes(file.read(LONGEST_LINE + 1))


def codec_of_name(name: str) -> str | None:
    """Return the compression that the ending of a name stands for."""
    return {".gz": "gzip", ".zst": "zstd"}.get(Path(name).suffix.lower())


def open_bytes(name: str) -> Any:
    """Open a local file for reading, unpacked as its name says."""
    pyarrow = require("pyarrow", "tables", CALLER)  # first, lest a file stay open where it is missing
    file = Path(name).open("rb")  # noqa: SIM115 - Arrow closes it; its own errors do not name the file
    return pyarrow.input_stream(file, compression=codec_of_name(name))


def check_gzip(name: str) -> None:
    """Read a gzip file to its end: DuckDB 1 takes what a cut one begins with for all of it."""
    if codec_of_name(name) == "gzip":
        with open_bytes(name) as file:
            while file.read(1 << 20):
                pass
