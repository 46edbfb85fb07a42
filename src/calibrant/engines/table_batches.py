"""Arrow batches, read from and written to files of every format; a column that cannot be kept is refused by name."""

import errno
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from calibrant._optional import require
from calibrant.engines.tables import Table, codec_of_name, connect, first_sentence, literal, quote
from calibrant.errors import InvalidInputError

CALLER = "Writing tables"
duckdb: Any = require("duckdb", "tables", CALLER)
pa: Any = require("pyarrow", "tables", CALLER)
pc: Any = require("pyarrow.compute", "tables", CALLER)
parquet: Any = require("pyarrow.parquet", "tables", CALLER)
ROWS = 122_880  # of a batch, and so of a row group: DuckDB's own number, so that its groups need not be cut
SPARK = b"org.apache.spark.sql.parquet.row.metadata"
NOT_WRITTEN = {
    "csv": ("binary", "list", "struct", "map<", "extension", "union"),
    "json": ("binary", "duration", "map<", "extension", "union"),
}


def read_batches(table: Table, only: list[str] | None, as_text: bool) -> tuple[Any, Iterator[Any]]:
    """Return a schema, and batches of all columns or at least of `only` some.

    Columns of CSV and JSON have the types that DuckDB guesses, unless those of CSV are wanted `as_text`; an entry that
    a JSON object lacks is null.
    """
    mixed = [name for name in only or table.columns if table.kind(name) == "JSON"]
    if mixed:
        raise InvalidInputError(f"Column '{mixed[0]}' has values of several types; write only the new column.")
    if table.format in ("csv", "json") or table.partition_columns:
        relation = table.as_text() if as_text else table.relation
        if only is not None:
            relation = relation.project(", ".join(map(quote, only)))
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # DuckDB renamed it
        batches = reader(ROWS)
        return batches.schema, iter(batches)
    files = [parquet.ParquetFile(name) for name in table.files]
    schema = files[0].schema_arrow
    for name, file in zip(table.files, files, strict=True):
        if not file.schema_arrow.equals(schema):
            odd = _described(file.schema_arrow) ^ _described(schema) or {"their order"}
            raise InvalidInputError(
                f"{name} must have the same columns and types as {table.files[0]}; they differ by '{min(odd)}'."
            )
    return schema, chain.from_iterable(file.iter_batches(ROWS, columns=only) for file in files)


def _described(schema: Any) -> set[str]:
    return {f"{field.name}: {field.type}" for field in schema}


def write_parquet(path: Path, schema: Any, batches: Iterable[Any], **options: Any) -> None:
    """Write batches as Parquet, by Arrow, which keeps types and metadata that DuckDB does not know."""
    with parquet.ParquetWriter(path, schema, **options) as writer:
        for batch in batches:
            writer.write_batch(batch)


def write_folder(path: Path, schema: Any, batches: Iterable[Any], columns: Sequence[str]) -> None:
    """Write batches as Parquet files in folders with the values of these columns as names: ``day=2026-01-01``."""
    dataset = require("pyarrow.dataset", "tables", CALLER)
    by = dataset.partitioning(pa.schema([schema.field(name) for name in columns]), flavor="hive")
    rows = pa.RecordBatchReader.from_batches(schema, batches)
    # One thread keeps the order of rows.
    dataset.write_dataset(rows, path, format="parquet", partitioning=by, use_threads=False)


def write_text(
    kind: str, path: Path, schema: Any, batches: Iterable[Any], *, output: str, csv: Mapping[str, Any]
) -> None:
    """Write batches as CSV or JSON lines, by DuckDB: packed as the name `output` says, CSV as `csv` says."""
    failed: list[BaseException] = []

    def watched() -> Iterator[Any]:
        # DuckDB would turn what goes wrong in here into an error of its own.
        try:
            for batch in batches:
                if kind == "json":
                    _check_finite(batch)
                yield batch
        except BaseException as error:
            failed.append(error)
            raise

    # An existing file is written in place, with the mode that it has.
    options = f"FORMAT {kind}, COMPRESSION {codec_of_name(output) or 'none'}, USE_TMP_FILE false"
    if kind == "csv":
        options += f", HEADER true, DELIMITER '{csv.get('delimiter', ',')}'"
    with connect() as connection:
        columns = _check_columns(kind, schema, connection)
        connection.register("batches", pa.RecordBatchReader.from_batches(schema, watched()))
        try:
            connection.execute(f"COPY (SELECT {', '.join(columns)} FROM batches) TO {literal(str(path))} ({options})")
        except duckdb.Error as error:
            if failed:
                raise failed[0] from None
            if isinstance(error, duckdb.IOException):  # of writing: what is read comes through `watched`
                raise OSError(errno.EIO, first_sentence(str(error)), output) from error
            raise


def _check_columns(kind: str, schema: Any, connection: Any) -> list[str]:
    """Return the columns as SQL writes them; refuse one that a text format cannot hold under its own name."""
    for field in schema:
        is_known = not any(name in str(field.type) for name in NOT_WRITTEN[kind])
        try:
            connection.from_arrow(pa.schema([pa.field("x", field.type)]).empty_table())
        except duckdb.Error:
            is_known = False
        if not is_known:
            raise InvalidInputError(
                f"Column '{field.name}' of type {field.type} cannot be written as {kind.upper()}; write Parquet, "
                "or only the new column."
            )
    for name, renamed in zip(schema.names, connection.from_arrow(schema.empty_table()).columns, strict=True):
        if name != renamed:  # DuckDB does not tell a from A
            raise InvalidInputError(
                f"Column '{name}' cannot be written as {kind.upper()}: it would be called '{renamed}'. Write Parquet, "
                "or only the new column."
            )
    return [quote(name) for name in schema.names]


def _check_finite(batch: Any) -> None:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if not _is_finite(column):
            raise InvalidInputError(
                f"Column '{name}' has NaN or infinity, which JSON cannot hold; write another format."
            )


def _is_finite(column: Any) -> bool:
    """Tell whether all numbers of a column, also those inside lists and structures, are finite."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        return bool(pc.all(pc.is_finite(column), min_count=0).as_py())
    if pa.types.is_nested(column.type):
        parts = column.flatten()
        return all(map(_is_finite, parts if isinstance(parts, list) else [parts]))
    return True


def add_fields(schema: Any, names: list[str]) -> Any:
    """Append columns of doubles; where Spark has described the columns for itself, it must know of them, too."""
    for name in names:
        schema = schema.append(pa.field(name, "float64"))
    metadata = dict(schema.metadata or {})
    if SPARK in metadata:
        known = json.loads(metadata[SPARK])
        known["fields"] += [{"name": name, "type": "double", "nullable": True, "metadata": {}} for name in names]
        metadata[SPARK] = json.dumps(known, separators=(",", ":")).encode()
    return schema.with_metadata(metadata or None)


def parquet_options(path: str, schema: Any) -> dict[str, Any]:
    """Choose the compression of a Parquet file; a column whose type Arrow would change is refused."""
    source = parquet.ParquetFile(path)
    metadata, old = source.metadata, source.schema
    codec = metadata.row_group(0).column(0).compression if metadata.num_row_groups else "ZSTD"
    options = {
        "compression": codec.replace("UNCOMPRESSED", "NONE"),
        "use_deprecated_int96_timestamps": any(old.column(i).physical_type == "INT96" for i in range(len(old))),
    }
    empty = io.BytesIO()
    parquet.ParquetWriter(empty, schema, **options).close()
    written = parquet.ParquetFile(empty).schema
    for i in range(len(old)):
        before, after = _content_type(old.column(i)), _content_type(written.column(i))
        if before != after:
            raise InvalidInputError(
                f"Column '{old.column(i).path}' cannot be kept as it is: {before} would become {after}. Write only the "
                "new column."
            )
    return options


def _content_type(column: Any) -> str:
    """Return what a Parquet column holds; how decimals are stored, and by which writer, does not matter."""
    facts = json.loads(column.logical_type.to_json())
    flags = ("is_from_converted_type", "force_set_converted_type")
    words = " ".join(str(value) for key, value in facts.items() if key not in flags)
    is_plain = facts["Type"] in ("None", "Undefined") or words in ("Int 32 True", "Int 64 True")
    return str(column.physical_type) if is_plain else words
