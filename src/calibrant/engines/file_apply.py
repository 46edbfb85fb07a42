"""Maps applied to tables in files: rows pass through in batches, old columns stay as they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from calibrant._files import replacing
from calibrant._optional import require
from calibrant.engines.new_columns import NewColumns, to_doubles
from calibrant.engines.table_files import format_of_name, is_remote
from calibrant.engines.table_writers import add_fields, open_sink, open_writer, parquet_options
from calibrant.engines.tables import Table, open_arrow, open_table
from calibrant.engines.text_rows import append_to_text
from calibrant.errors import InvalidInputError

if TYPE_CHECKING:
    from calibrant.maps import CalibrationMap

__all__ = ["Applied", "apply_file"]

CALLER = "calibrant.engines.apply_file"
FORMATS = ("csv", "parquet", "arrow", "json")
FEWEST_ROWS, MOST_ROWS = 1 << 16, 1 << 18  # of a batch, and so of a row group


class Applied(NamedTuple):
    """What `apply_file` did: rows written, scores that gave no probability, and the names of the new columns."""

    rows: int
    unusable: int
    columns: list[str]


def apply_file(
    map_: CalibrationMap | Mapping[str, CalibrationMap],
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Table,
    output: str | os.PathLike[str],
    *,
    score: str | Sequence[str] = "score",
    name: str = "probability",
    only_new: bool = False,
    format: str | None = None,
) -> Applied:
    r"""Add calibrated probabilities to a table in files of any size.

    Rows are read, calibrated and written in batches; the output appears whole or not at all, and may be the input.
    Old columns are kept as they are, or the table is refused with the name of the column that cannot be kept. Parquet
    and Arrow keep types and metadata, CSV and JSON lines the very text. Scores that are missing, not finite, or outside
    the range of the map give missing probabilities.

    Parameters
    ----------
    map_ : CalibrationMap, or dict of score column to CalibrationMap
        With a dict, one for each class, the new columns of a row are scaled to add up to 1.
    source : path, glob, several of them, or an open table
        What to read; see `open_table`.
    output : path
        What to write.
    score : str or list of str
        The score column; of several, the map is applied to the highest score of each row. Not used with a dict.
    name : str
        The name of the new column; with a dict, the beginning of the names, as in ``probability_cat``.
    only_new : bool
        Write the new columns only; quicker for wide tables.
    format : {"csv", "parquet", "arrow", "json"}, optional
        By default what the ending of `output` says.

    Returns
    -------
    Applied
        Named tuple of ``rows``, ``unusable``, ``columns``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant import IsotonicCalibration, engines
    >>> steps = IsotonicCalibration(target_correction=False).fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "new.csv"
    ...     _ = path.write_text("id,score\n007,0.9\n008,\n")
    ...     print(engines.apply_file(steps.map_, path, path))
    ...     print(path.read_text())
    Applied(rows=2, unusable=1, columns=['probability'])
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
        new = NewColumns(map_, [score] if isinstance(score, str) else list(score), name)
        new.check(table, only_new)
        path = stack.enter_context(replacing(output))
        if table.format == kind and kind in ("csv", "json"):
            with open_sink(path, os.fspath(output)) as sink:
                for text in append_to_text(table, new, only_new):
                    sink.write(text.encode("utf-8", "surrogateescape"))
        else:
            old, batches = _read_batches(table, new.scores if only_new else None)
            options = _parquet_options(table, old, new) if table.format == kind == "parquet" and not only_new else {}
            schema = add_fields(None if only_new else old, new.names)
            with open_writer(kind, path, schema, os.fspath(output), **options) as write:
                for batch in batches:
                    write(_append(batch, new, schema))
    return Applied(new.rows, new.unusable, new.names)


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
    scores = [to_doubles(batch.column(batch.schema.names.index(score)), score) for score in new.scores]
    added = [pa.array(column, from_pandas=True) for column in new.compute(scores)]
    old = batch.columns if len(schema) > len(added) else []
    return pa.RecordBatch.from_arrays([*old, *added], schema=schema)


def _parquet_options(table: Table, old: Any, new: NewColumns) -> dict[str, Any]:
    source = require("pyarrow.parquet", "tables", CALLER).ParquetFile(table.files[0])
    return parquet_options(source, add_fields(old, new.names), new.scores[0], new.names)


def _read_batches(table: Table, only: list[str] | None) -> tuple[Any, Iterator[Any]]:
    """Return a schema and batches of it, of all columns or `only` some; types of text files are DuckDB's guess."""
    if table.format in ("csv", "json"):
        pa = require("pyarrow", "tables", CALLER)
        relation = table.relation  # DuckDB renamed the method
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        batches = reader(MOST_ROWS)
        schema = pa.schema([one.with_name(name) for one, name in zip(batches.schema, table.columns, strict=True)])
        return schema, (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in batches)
    files = [(_read_parquet if table.format == "parquet" else _read_arrow)(name, only) for name in table.files]
    schema = files[0][0]
    for name, (other, _) in zip(table.files, files, strict=True):
        if not other.equals(schema):
            odd = _described(other) ^ _described(schema) or {"their order"}
            raise InvalidInputError(
                f"{name} must have the same columns and types as {table.files[0]}; they differ by '{min(odd)}'."
            )
    return schema, chain.from_iterable(batches for _, batches in files)


def _described(schema: Any) -> set[str]:
    return {f"{field.name}: {field.type}" for field in schema}


def _read_parquet(name: str, only: list[str] | None) -> tuple[Any, Iterator[Any]]:
    file = require("pyarrow.parquet", "tables", CALLER).ParquetFile(name)
    groups = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    size = max(min(max(groups, default=0), MOST_ROWS), FEWEST_ROWS)
    schema = file.schema_arrow
    kept = schema if only is None else schema.empty_table().select(only).schema
    return kept, file.iter_batches(size, columns=only)


def _read_arrow(name: str, only: list[str] | None) -> tuple[Any, Iterator[Any]]:
    reader = open_arrow(name)
    is_file = hasattr(reader, "num_record_batches")
    batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)
    if only is None:
        return reader.schema, batches
    return reader.schema.empty_table().select(only).schema, (batch.select(only) for batch in batches)
