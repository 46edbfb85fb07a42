"""Rows without a score or a label: counted for a message, or left out where --drop-missing says so."""

from __future__ import annotations

from calibrant.cli.columns import Columns
from calibrant.cli.printing import note
from calibrant.engines.tables import Table, quote

ADVICE = "Add --drop-missing to leave them out, or repair them."


def drop_missing(table: Table, columns: Columns) -> Table:
    """Return the table without rows that lack a score or a label, and say how many these are."""
    text = describe_missing(table, columns)
    if text is None:
        return table
    note(f"{text} Such rows are left out.")
    lacking = " OR ".join(_lacks(table, name) for name in (*columns.scores, columns.label))
    return Table(table.name, table.relation.filter(f"NOT ({lacking})"), connection=table.connection)


def describe_missing(table: Table, columns: Columns) -> str | None:
    """Say how many rows have no score or no label; None if all have both."""
    scores = " OR ".join(_lacks(table, name) for name in columns.scores)
    wanted = ("true", scores, _lacks(table, columns.label))
    counts = ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in wanted)
    rows, no_score, no_label = table.values(f"SELECT {counts} FROM rows")[0]
    lacking = ((no_score, "score"), (no_label, "label"))
    parts = [f"{n} of {rows} rows {'have' if n > 1 else 'has'} no {what}" for n, what in lacking if n]
    return f"{' and '.join(parts)}." if parts else None


def _lacks(table: Table, name: str) -> str:
    """Write in SQL that a column has no value in a row; NaN and infinity are none."""
    column = quote(name)
    if table.kind(name) not in ("DOUBLE", "FLOAT"):
        return f"{column} IS NULL"
    return f"coalesce(NOT isfinite({column}), true)"
