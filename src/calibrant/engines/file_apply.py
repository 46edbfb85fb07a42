"""Maps applied to tables in files: rows pass through in batches, old columns stay as they are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from calibrant._files import replacing
from calibrant._optional import require
from calibrant.engines.new_columns import NewColumns
from calibrant.engines.table_batches import add_fields, parquet_options, read_ahead, read_batches, write_batches
from calibrant.engines.table_files import format_of_name, is_remote
from calibrant.engines.tables import Table, open_table
from calibrant.errors import InvalidInputError

if TYPE_CHECKING:
    from calibrant.maps.matrix import MatrixMap
    from calibrant.maps.score import CalibrationMap
    from calibrant.maps.segments import SegmentedMap

CALLER = "calibrant.engines.apply_file"
FORMATS = ("csv", "parquet", "arrow", "json")


class Applied(NamedTuple):
    """What `apply_file` did: rows written, rows without a probability, and the names of the new columns.

    With a map of segments, also the rows with a segment that the fit did not see, and how many segments these are. With
    a map of one score, the range of the scores, and how many rows lie outside that of the fit.
    """

    rows: int
    unusable: int
    columns: list[str]
    unseen_rows: int = 0
    unseen_segments: int = 0
    score_range: tuple[float, float] | None = None
    outside: int = 0


def apply_file(
    map_: CalibrationMap | MatrixMap | SegmentedMap,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Table,
    output: str | os.PathLike[str],
    *,
    score: str | Sequence[str] | None = None,
    by: Sequence[str] = (),
    missing: str | None = None,
    name: str = "probability",
    only_new: bool = False,
    format: str | None = None,
) -> Applied:
    r"""Add calibrated probabilities to a table in files of any size.

    Rows are read, calibrated and written in batches; the output appears whole or not at all, and may be the input.
    Old columns are kept as they are, or the table is refused with the name of the column that cannot be kept. Parquet
    and Arrow keep types and metadata, CSV the text of every field, JSON lines the entries of every object. Scores that
    are missing, not finite, or outside the range of the map give missing probabilities; where these are most of the
    rows, nothing is written.

    Parameters
    ----------
    map_ : CalibrationMap, MatrixMap or SegmentedMap
        A map of several classes adds a column for each of them.
    source : path, glob, several of them, or an open table
        What to read; see `open_table`.
    output : path
        What to write.
    score : str or list of str, optional
        The score column, by default ``score``; of several, the map is applied to the highest score of each row. For
        several classes the columns in the order of the classes, by default those that the map was fitted to.
    by : sequence of str
        For a map of segments the columns of its keys, in their order; by default those with the names of the fit.
    missing : {"error", "segment"}, optional
        For a map of segments: refuse rows whose segment is missing, or take them for a segment of their own, which
        has the pooled map if the fit did not see it. By default as in the fit.
    name : str
        The name of the new column; for several classes the beginning of the names, as in ``probability_cat``.
    only_new : bool
        Write the new columns only; quicker for wide tables.
    format : {"csv", "parquet", "arrow", "json"}, optional
        By default what the ending of `output` says.

    Returns
    -------
    Applied
        Named tuple of ``rows``, ``unusable``, ``columns``, ``unseen_rows``, ``unseen_segments``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant import IsotonicCalibration, engines
    >>> steps = IsotonicCalibration(target_correction=False).fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "new.csv"
    ...     _ = path.write_text("id,score\n007,0.9\n008,\n")
    ...     print(engines.apply_file(steps.map_, path, path))  # doctest: +ELLIPSIS
    ...     print(path.read_text())
    Applied(rows=2, unusable=1, columns=['probability'], unseen_rows=0, unseen_segments=0, score_range=(0.9, 0.9), ...)
    id,score,probability
    007,0.9,1.0
    008,,
    <BLANKLINE>
    """
    kind = output_format(os.fspath(output), format)
    with ExitStack() as stack:
        table = source if isinstance(source, Table) else stack.enter_context(open_table(source))
        if any(map(is_remote, table.files)):
            raise InvalidInputError(f"{table.name} is not on this machine; copy it here first.")
        scores = [score] if isinstance(score, str) else list(score or ())
        new = NewColumns(map_, scores, name, by=by, missing=missing)
        path = stack.enter_context(replacing(output))
        old, batches = read_batches(table, new.sources if only_new else None, as_text=table.format == kind == "csv")
        new.check(table.name, old.names, only_new)
        schema = add_fields(require("pyarrow", "tables", CALLER).schema([]) if only_new else old, new.names)
        keep = table.format == kind == "parquet" and not only_new
        options = parquet_options(table.files[0], schema) if keep else {}
        new.decimal = table.csv.get("decimal", ".")
        appended = read_ahead(_append(batch, new, schema) for batch in batches)
        write_batches(kind, path, schema, appended, output=os.fspath(output), csv=table.csv, **options)
        new.check_most(table.name)
    return Applied(
        rows=new.rows,
        unusable=new.unusable,
        columns=new.names,
        unseen_rows=new.segments.unseen_rows if new.segments else 0,
        unseen_segments=len(new.segments.unseen) if new.segments else 0,
        score_range=new.range,
        outside=new.outside,
    )


def output_format(output: str, given: str | None) -> str:
    """Return the format to write: as given, or by the ending of the name."""
    kind = given or format_of_name(output)
    if kind is None:
        raise InvalidInputError(
            f"The name {output} does not say the format: end it in .csv, .parquet, .arrow or .jsonl."
        )
    if kind not in FORMATS:
        raise InvalidInputError(f"`format` must be one of {', '.join(FORMATS)}; got {given!r}.")
    return kind


def _append(batch: Any, new: NewColumns, schema: Any) -> Any:
    """Return a batch with the new columns, or the new columns alone if the schema has no others."""
    pa = require("pyarrow", "tables", CALLER)
    added = [pa.array(column, from_pandas=True) for column in new.from_batch(batch)]
    old = batch.columns if len(schema) > len(added) else []
    return pa.RecordBatch.from_arrays([*old, *added], schema=schema)
