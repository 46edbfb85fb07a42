"""Apply maps to a table of any size: rows stream from the engine through the map and back, never all in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from calibrant.cli.problems import Problem
from calibrant.cli.tables import Table, quoted
from calibrant.cli.writing import batches, copied

if TYPE_CHECKING:
    from calibrant.maps import CalibrationMap

__all__ = ["Scoring"]

SCORED = "calibrant_scored"


class Scoring:
    """The table with a new column for each map; `unusable` counts the rows whose score no map accepts.

    Parameters
    ----------
    table : Table
        The rows; every column is kept.
    maps : dict of str to (str, CalibrationMap)
        New column → SQL expression of its score, and the map.
    normalise : bool
        Whether the new columns of a row are scaled to add up to 1.
    """

    def __init__(self, table: Table, maps: Mapping[str, tuple[str, CalibrationMap]], normalise: bool = False) -> None:
        taken = [name for name in maps if name in table.columns]
        if taken:
            raise Problem(f"{table.name} already has a column '{taken[0]}'; choose another name with --name.")
        self.table, self.maps, self.normalise = table, maps, normalise
        self.rows = self.unusable = 0

    def write(self, output: str | None, given: str | None) -> None:
        """Write all rows, in their order."""
        import pyarrow as pa

        scores = (f"({expression})::DOUBLE AS {quoted(self._hidden(name))}" for name, (expression, _) in self._items())
        reader = batches(self.table.selected("*", *scores).relation)
        kept = [field for field in reader.schema if field.name in self.table.columns]
        schema = pa.schema([*kept, *(pa.field(name, pa.float64()) for name in self.maps)])
        stream = pa.RecordBatchReader.from_batches(schema, self._scored(reader, schema))
        # The rows are being read on the table's own connection; another one writes them.
        writer = self.table.connection.cursor()
        writer.register(SCORED, stream)
        copied(writer, f"SELECT * FROM {SCORED}", output, given)

    def _items(self) -> Any:
        return self.maps.items()

    def _hidden(self, name: str) -> str:
        return f"score of {name}"

    def _scored(self, reader: Any, schema: Any) -> Iterator[Any]:
        import numpy as np
        import pyarrow as pa

        n_kept = len(self.table.columns)
        for batch in reader:
            parts = [
                self._probabilities(batch.column(n_kept + place), map_)
                for place, (_, map_) in enumerate(self.maps.values())
            ]
            if self.normalise:
                with np.errstate(invalid="ignore"):
                    total = np.sum(parts, axis=0)
                    # Where every class is impossible, all are equally likely, as in `CalibratedClassifier`.
                    parts = [np.where(total > 0.0, part / total, 1.0 / len(parts)) for part in parts]
            self.rows += batch.num_rows
            columns = [pa.array(part, from_pandas=True) for part in parts]
            yield pa.record_batch([*batch.columns[:n_kept], *columns], schema=schema)

    def _probabilities(self, column: Any, map_: CalibrationMap) -> Any:
        """What the map gives; NaN, written as a missing value, for a score that it refuses."""
        import numpy as np

        scores = column.to_numpy(zero_copy_only=False)
        low, high = (0.0, 1.0) if map_.space == "probability" else (np.finfo(np.float64).min, np.finfo(np.float64).max)
        # Comparisons with NaN are false, so a missing score is outside as well.
        if len(scores) and scores.min() >= low and scores.max() <= high:
            return map_.form(scores)
        inside = (scores >= low) & (scores <= high)
        self.unusable += int(len(scores) - inside.sum())
        out = np.full(len(scores), np.nan)
        out[inside] = map_.form(scores[inside])
        return out
