"""New columns at the end of each line of CSV or JSON, so that all other text stays as it is."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from calibrant._typing import Floats
from calibrant.engines.new_columns import NewColumns
from calibrant.engines.table_files import open_bytes
from calibrant.engines.table_writers import quote_field
from calibrant.engines.tables import Table
from calibrant.errors import InvalidInputError

__all__ = ["append_to_text"]

BATCH = 50_000
LONGEST_ROW = 1 << 26  # characters; more than that is a quote that nobody closed


def append_to_text(table: Table, new: NewColumns, only_new: bool) -> Iterator[str]:
    """Yield the text of a table with the new columns, or of the new columns alone."""
    for place, name in enumerate(table.files):
        with open_bytes(name) as file:
            # Bytes that are not UTF-8 pass through unchanged.
            text = io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="")
            try:
                if table.format == "json":
                    yield from _append_to_json(text, new, only_new)
                else:
                    yield from _append_to_csv(text, table, new, only_new, place == 0)
            except (csv.Error, ValueError) as error:
                raise InvalidInputError(f"{name} could not be read: {error}") from None


def _append_to_csv(file: Any, table: Table, new: NewColumns, only_new: bool, is_first: bool) -> Iterator[str]:
    sign, fields = (",", []) if table.dialect is None else (table.dialect.delimiter, table.dialect.fields)
    rows = _read_rows(file)
    if fields:
        header = next(rows)
        if next(csv.reader([header.removeprefix("\ufeff")], delimiter=sign)) != fields:
            raise ValueError(f"its columns are not those of {table.files[0]}, in the same order.")
        if is_first:
            yield _join(header, [quote_field(name, sign) for name in new.names], sign, only_new)
    places = [table.columns.index(score) for score in new.scores]
    while batch := list(islice(rows, BATCH)):
        if len(table.columns) > 1:  # where there is one, an empty line is a missing value
            batch = [row for row in batch if row.strip("\r\n")]
        parsed = [row or [""] for row in csv.reader(batch, delimiter=sign)]
        odd = next((i for i, row in enumerate(parsed) if len(row) != len(table.columns)), None)
        if odd is not None:
            width = len(parsed[odd])
            raise ValueError(f"a line has {width} of {len(table.columns)} columns: {batch[odd].strip()[:60]!r}.")
        scores = [_to_doubles([row[place] for row in parsed], table.columns[place]) for place in places]
        texts = [["" if x != x else repr(x) for x in column.tolist()] for column in new.compute(scores)]  # noqa: PLR0124
        yield "".join(_join(row, list(values), sign, only_new) for row, *values in zip(batch, *texts, strict=True))


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
        raise ValueError(f"a quote is not closed in the row that begins with {row.strip()[:40]!r}.")


def _join(row: str, values: list[str], sign: str, only_new: bool) -> str:
    old = row.rstrip("\r\n")
    return sign.join(values if only_new else [old, *values]) + (row[len(old) :] or "\n")


def _append_to_json(file: Any, new: NewColumns, only_new: bool) -> Iterator[str]:
    lines = (line.strip() for line in file if line.strip())
    while batch := list(islice(lines, BATCH)):
        rows = [_parse_json(line) for line in batch]
        if any(name in row for row in rows for name in new.names):
            raise ValueError(f"some rows have an entry '{new.names[0]}' already; choose another with `name`.")
        scores = [_to_doubles([row.get(score) for row in rows], score) for score in new.scores]
        columns = [[None if x != x else x for x in column.tolist()] for column in new.compute(scores)]  # noqa: PLR0124
        for line, row, *values in zip(batch, rows, *columns, strict=True):
            added = json.dumps(dict(zip(new.names, values, strict=True)), ensure_ascii=False)
            yield (added if only_new or not row else f"{line[:-1].rstrip()}, {added[1:]}") + "\n"


def _parse_json(line: str) -> dict[str, Any]:
    row = json.loads(line) if line.endswith("}") else None
    if not isinstance(row, dict):
        raise ValueError(f"it must have one JSON object on each line; got {line[:60]!r}.")
    return row


def _to_doubles(values: list[Any], name: str) -> Floats:
    """Return fields as doubles, with NaN where one is empty."""
    numbers = np.full(len(values), np.nan)
    for i, value in enumerate(values):
        try:
            numbers[i] = np.nan if value is None or value == "" else float(value)
        except (TypeError, ValueError):
            raise ValueError(f"the scores in '{name}' must be numbers; got {str(value)[:40]!r}.") from None
    return numbers
