"""New columns at the end of each line of CSV or JSON, so that all other text stays as it is."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._typing import Floats
from calibrant.engines.new_columns import NewColumns
from calibrant.engines.table_files import Dialect, open_bytes
from calibrant.engines.table_writers import open_sink, quote_field
from calibrant.engines.tables import Table
from calibrant.errors import InvalidInputError

__all__ = ["append_to_text"]

BATCH = 50_000
LONGEST_ROW = 1 << 26  # characters; more than that is a quote that nobody closed


def append_to_text(table: Table, new: NewColumns, path: Path, output: str, only_new: bool) -> None:
    """Write the lines of a table with the new columns, or the new columns alone."""
    add = _append_to_csv if table.format == "csv" else _append_to_json
    with open_sink(path, output) as sink:
        for place, name in enumerate(table.files):
            with open_bytes(name) as file:
                # Bytes that are not UTF-8 pass through unchanged.
                text = io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="")
                for part in add(text, table, new, only_new, place == 0):
                    sink.write(part.encode("utf-8", "surrogateescape"))


def _append_to_csv(file: Any, table: Table, new: NewColumns, only_new: bool, is_first: bool) -> Iterator[str]:
    dialect = table.dialect
    assert dialect is not None  # every local CSV file has one
    sign, rows = dialect.delimiter, _read_rows(file)
    if dialect.fields:
        header = next(rows)
        if next(csv.reader([header.removeprefix("\ufeff")], delimiter=sign)) != dialect.fields:
            raise InvalidInputError(f"{file.name} must have the columns of {table.files[0]}, in the same order.")
        if is_first:
            yield _join(header, [quote_field(name, sign) for name in new.names], sign, only_new)
    places = [table.columns.index(score) for score in new.scores]
    while batch := list(islice(rows, BATCH)):
        if len(table.columns) > 1:
            batch = [row for row in batch if row.strip("\r\n")]
        fields = _parse_csv(batch, dialect, len(table.columns))
        scores = [_to_doubles([row[place] for row in fields], table.columns[place]) for place in places]
        texts = [["" if x != x else repr(x) for x in column.tolist()] for column in new.compute(scores)]  # noqa: PLR0124
        yield "".join(_join(row, list(values), sign, only_new) for row, *values in zip(batch, *texts, strict=True))


def _parse_csv(rows: list[str], dialect: Dialect, width: int) -> list[list[str]]:
    try:
        fields = [row or [""] for row in csv.reader(rows, delimiter=dialect.delimiter)]
    except csv.Error as error:
        raise InvalidInputError(f"A line is not sound CSV: {error}.") from None
    odd = next((place for place, row in enumerate(fields) if len(row) != width), None)
    if odd is not None:
        text = rows[odd].strip()[:60] if len(rows) == len(fields) else ""
        raise InvalidInputError(f"A line has {len(fields[odd])} columns, the table has {width}: {text!r}. Repair it.")
    return fields


def _read_rows(file: Any) -> Iterator[str]:
    """Yield the rows of CSV; a row goes on while a quote is open."""
    row = ""
    for line in file:
        row += line
        if row.count('"') % 2 == 0:
            yield row
            row = ""
        elif len(row) > LONGEST_ROW:
            break
    if row:
        raise InvalidInputError(f"A quote is not closed in the row that begins with {row.strip()[:40]!r}.")


def _join(row: str, values: list[str], sign: str, only_new: bool) -> str:
    old = row.rstrip("\r\n")
    end = row[len(old) :] or "\n"
    return sign.join(values if only_new else [old, *values]) + end


def _append_to_json(file: Any, table: Table, new: NewColumns, only_new: bool, _is_first: bool) -> Iterator[str]:
    lines = (line.strip() for line in file if line.strip())
    while batch := list(islice(lines, BATCH)):
        rows = [_parse_json(line, table.name, new.names) for line in batch]
        scores = [_to_doubles([row.get(score) for row in rows], score) for score in new.scores]
        columns = [[None if x != x else x for x in column.tolist()] for column in new.compute(scores)]  # noqa: PLR0124
        for line, row, *values in zip(batch, rows, *columns, strict=True):
            added = json.dumps(dict(zip(new.names, values, strict=True)), ensure_ascii=False)
            yield (added if only_new or not row else f"{line[:-1].rstrip()}, {added[1:]}") + "\n"


def _parse_json(line: str, name: str, taken: list[str]) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise InvalidInputError(f"{name} must have one JSON object on each line; got {line[:60]!r}.")
    if any(key in row for key in taken):
        raise InvalidInputError(f"{name} already has an entry '{taken[0]}' in some row; choose another with `name`.")
    return row


def _to_doubles(values: list[Any], name: str) -> Floats:
    """Return fields as doubles, with NaN where one is empty."""
    try:
        return np.array([np.nan if value is None or value == "" else float(value) for value in values])
    except (TypeError, ValueError):
        odd = next(value for value in values if not _is_number(value))
        raise InvalidInputError(f"The scores in '{name}' must be numbers; got {str(odd)[:40]!r}.") from None


def _is_number(value: Any) -> bool:
    try:
        float(value or 0)
    except (TypeError, ValueError):
        return False
    return True
