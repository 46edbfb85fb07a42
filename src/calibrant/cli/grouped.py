"""Rows with their groups, for commands that must keep the rows of a group together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from calibrant.cli.errors import Problem
from calibrant.cli.printing import shorten
from calibrant.cli.tallies import count, positive_label
from calibrant.engines.tables import quote

if TYPE_CHECKING:
    from calibrant.cli.columns import Columns
    from calibrant.engines.tables import Table


class TableRows(NamedTuple):
    """The rows of a table: scores, whether they are positive, weights and groups."""

    scores: Any
    labels: Any
    weights: Any
    groups: Any


def read_rows(table: Table, columns: Columns, positive: str | None = None) -> TableRows:
    """Fetch the rows of a table whose columns name groups; a tally would no longer know which belong together."""
    from calibrant._validation import encode_labels

    count(table, columns, positive)  # says in good words what is wrong with scores, labels and weights
    group = quote(columns.groups or "")
    missing = table.values(f"SELECT count(*) FROM rows WHERE {group} IS NULL")[0][0]
    if missing:
        raise Problem(
            f"--groups '{shorten(columns.groups or '')}' is missing in {missing} rows; drop them, or give each of them "
            "a group of its own."
        )
    named = {"score": columns.score, "label": columns.label, "weight": columns.weight}
    view = table.select({role: quote(name) for role, name in named.items() if name is not None} | {"group": group})
    arrays = view.relation.fetchnumpy()
    labels, _ = encode_labels(arrays["label"], positive_label(table, columns.label, positive), "label")
    return TableRows(arrays["score"], labels, arrays.get("weight"), arrays["group"])
