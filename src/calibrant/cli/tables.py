"""Any table of the command line as a DuckDB relation: files, globs, standard input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from calibrant.cli.files import (
    STDIN,
    check_gzip,
    delimiter_of,
    format_of,
    found_files,
    header_width,
    is_stream,
    odd_line,
    spooled,
)
from calibrant.cli.problems import Problem, reading
from calibrant.engines.relations import quoted

__all__ = ["Table", "connected", "opened", "quoted"]

STANDARD_INPUT = "standard input"

NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
           "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN")  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A relation, its connection, and how the user calls it; and the Parquet file that it is, if it is one."""

    name: str
    connection: Any
    relation: Any
    parquet: str | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.relation.columns)

    def kind(self, column: str) -> str:
        """The type of a column, in DuckDB's words and without its parameters."""
        return str(self.relation.types[self.columns.index(column)]).partition("(")[0]

    def is_number(self, column: str) -> bool:
        """Whether a column holds numbers or booleans."""
        return self.kind(column) in NUMBERS

    def values(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query of ``rows``."""
        return list(self.relation.query("rows", query).fetchall())

    def distinct(self, column: str, most: int) -> list[Any]:
        """Some of the distinct values of a column, sorted, at most `most`; missing ones are left out."""
        name = quoted(column)
        found = self.values(f"SELECT DISTINCT {name} FROM rows WHERE {name} IS NOT NULL LIMIT {most}")
        return sorted(value for (value,) in found)

    def selected(self, *expressions: str) -> Table:
        """Another table computed from this one."""
        return Table(self.name, self.connection, self.relation.project(", ".join(expressions)))


@contextmanager
def connected() -> Iterator[Any]:
    """A DuckDB that lives as long as the command."""
    from calibrant._optional import require

    connection = require("duckdb", "tables", "Reading tables").connect()
    try:
        connection.execute("SET enable_progress_bar = false")
        yield connection
    finally:
        connection.close()


@contextmanager
def opened(sources: Sequence[str]) -> Iterator[Table]:
    """The table in some files, in order; ``-`` is standard input."""
    with ExitStack() as stack:
        called = list(sources) if list(sources) == [STDIN] else _files(sources)
        names = [stack.enter_context(spooled(one)) if one == STDIN or is_stream(one) else one for one in called]
        shown = [STANDARD_INPUT if one == STDIN else one for one in called]
        formats = {format_of(*pair) for pair in zip(names, shown, strict=True)}
        if len(formats) > 1:
            raise Problem(f"The files must have one format; they are {' and '.join(sorted(formats))}.")
        title = shown[0] if len(names) == 1 else f"{len(names)} files"
        stack.enter_context(reading(title))
        connection = stack.enter_context(connected())
        if connection.execute("SELECT version()").fetchall()[0][0].startswith("v1."):
            for name in names:
                check_gzip(name)  # later versions of DuckDB do it themselves
        kind = formats.pop()
        alone = kind == "parquet" and len(names) == 1 and "://" not in names[0]
        yield Table(title, connection, _relation(connection, names, kind), names[0] if alone else None)


def _files(sources: Sequence[str]) -> list[str]:
    if STDIN in sources:
        raise Problem("Standard input (-) cannot be mixed with files.")
    return [name for source in sources for name in found_files(source)]


def _relation(connection: Any, names: list[str], kind: str) -> Any:
    if kind == "parquet":
        return connection.read_parquet(names, union_by_name=True)
    if kind == "json":
        return connection.read_json(names)
    if kind == "arrow":
        return connection.from_arrow(_arrow(names))
    signs = {delimiter_of(name) for name in names}
    sign = signs.pop()
    if signs:
        raise Problem("The files must separate their columns by the same sign; convert some of them first.")
    several = {"union_by_name": True} if len(names) > 1 else {}  # files may order their columns differently
    if sign is None:
        return connection.read_csv(names, **several)
    try:
        # A fixed delimiter makes a line with too many columns an error; left to guess, the engine takes whole lines.
        found = connection.read_csv(names, delimiter=sign, **several)
    except Exception:
        _check_lines(names[0], sign)
        raise
    if not several and len(found.columns) != header_width(names[0], sign):
        _check_lines(names[0], sign)  # DuckDB 1 begins at the first line that suits the lines below it
    return found


def _check_lines(name: str, sign: str) -> None:
    odd = odd_line(name, sign)
    if odd is not None:
        raise Problem(f"{name} is not a sound CSV file: {odd}") from None


def _arrow(names: list[str]) -> Any:
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        found = ds.dataset(names, format="ipc")
    except pa.ArrowInvalid:  # the streaming form of Arrow has no footer and cannot be a data set
        found = pa.concat_tables([pa.ipc.open_stream(name).read_all() for name in names])
    for batch in found.to_batches():
        batch.validate(full=True)  # the engine trusts the offsets in it, and would read beyond the data
    return found
