"""Apply maps to a table of any size, inside the engine: rows never come to Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from calibrant.cli.appending import growable
from calibrant.cli.problems import Problem
from calibrant.cli.tables import Table, quoted
from calibrant.cli.writing import batches, copied, format_for, written

if TYPE_CHECKING:
    from calibrant.maps import CalibrationMap

__all__ = ["Scoring"]

ROWS, LISTS = "calibrant_rows", "calibrant_lists"


class Scoring:
    """The table with a new column for each map; all other columns and the order of the rows are kept.

    Parameters
    ----------
    table : Table
        The rows.
    maps : dict of str to (str, CalibrationMap)
        New column → SQL expression of its score, and the map.
    normalise : bool
        Whether the new columns of a row are scaled to add up to 1.
    """

    def __init__(self, table: Table, maps: Mapping[str, tuple[str, CalibrationMap]], normalise: bool = False) -> None:
        new = {name.casefold() for name in maps}  # engines do not tell a from A
        taken = next((name for name in table.columns if name.casefold() in new), None)
        if taken is not None:
            raise Problem(f"{table.name} already has a column '{taken}'; choose another name with --name.")
        self.table, self.maps, self.normalise = table, maps, normalise

    def write(self, output: str | None, given: str | None) -> int:
        """Write all rows, and return their number."""
        connection = self.table.connection
        connection.register(ROWS, self.table.relation)
        grown = None
        if self.table.parquet is not None and format_for(output, given) == "parquet":
            grown = growable(self.table.parquet, self.table.columns)
        if grown is None:
            return copied(connection, self._query(self.table.columns), output, given)
        with written(output) as path:
            reader = batches(connection.sql(self._query([])))
            return grown.write(path, reader, reader.schema)

    def unusable(self) -> int:
        """How many scores are missing, not finite or outside what their map accepts."""
        from calibrant.cli.lookups import number
        from calibrant.export.expression_graph import DOMAINS

        inside = []
        for score, map_ in self.maps.values():
            low, high = DOMAINS[map_.space]
            inside.append(f"count(*) FILTER (({score}) BETWEEN {number(low)} AND {number(high)})")
        found = self.table.values(f"SELECT count(*) * {len(inside)} - ({' + '.join(inside)}) FROM rows")
        return int(found[0][0])

    def _query(self, kept: list[str]) -> str:
        from calibrant.cli.lookups import Lookups

        lookups = Lookups()
        parts = [lookups.add(map_, score) for score, map_ in self.maps.values()]
        texts = [text for text, _ in parts]
        if self.normalise:
            total, _ = lookups.column(f"({' + '.join(texts)})", max(stage for _, stage in parts))
            # Where every class is impossible, all are equally likely, as in `CalibratedClassifier`.
            texts = [
                f"CASE WHEN {total} > 0 THEN {text} / {total} WHEN {total} = 0 THEN 1 / {len(texts)} END"
                for text in texts
            ]
        if lookups.lists:
            named = ", ".join(f"? AS {quoted(name)}" for name in lookups.lists)
            made = f"CREATE OR REPLACE TEMP TABLE {LISTS} AS SELECT {named}"
            self.table.connection.execute(made, list(lookups.lists.values()))
        return lookups.query(ROWS, LISTS, dict(zip(self.maps, texts, strict=True)), kept)
