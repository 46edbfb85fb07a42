"""Arrow batches, read from and written to files of every format; a column that cannot be kept is refused by name."""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from calibrant._optional import require
from calibrant.engines.table_files import codec_of_name
from calibrant.engines.tables import Table, open_arrow, quote
from calibrant.errors import InvalidInputError

CALLER = "Writing tables"
ROWS = 122_880  # of a batch, and so of a row group: DuckDB's own number, so that its groups need not be cut
SPARK = b"org.apache.spark.sql.parquet.row.metadata"
NOT_IN_JSON = ("binary", "duration", "map<", "extension", "union")


def read_batches(table: Table, only: list[str] | None, as_text: bool) -> tuple[Any, Iterator[Any]]:
    """Return a schema, and batches of all columns or at least of `only` some.

    Columns of CSV and JSON have the types that DuckDB guesses, unless those of CSV are wanted `as_text`; an entry that
    a JSON object lacks is null.
    """
    mixed = [name for name in only or table.columns if table.kind(name) == "JSON"]
    if mixed:
        raise InvalidInputError(f"Column '{mixed[0]}' has values of several types; write only the new column.")
    if table.format in ("csv", "json"):
        relation = table.as_text() if as_text else table.relation
        if only is not None:
            relation = relation.project(", ".join(map(quote, only)))
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # DuckDB renamed it
        batches = reader(ROWS)
        return batches.schema, iter(batches)
    files = [_read_parquet(name, only) if table.format == "parquet" else _read_arrow(name) for name in table.files]
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
    return file.schema_arrow, file.iter_batches(ROWS, columns=only)


def _read_arrow(name: str) -> tuple[Any, Iterator[Any]]:
    reader = open_arrow(name)
    is_file = hasattr(reader, "num_record_batches")
    return reader.schema, map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)


def read_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """Prepare a batch in another thread while the one before it is written; Arrow reads and writes without the lock."""
    with ThreadPoolExecutor(1) as thread:
        upcoming = thread.submit(next, batches, None)
        while (batch := upcoming.result()) is not None:
            upcoming = thread.submit(next, batches, None)
            yield batch


@contextmanager
def open_writer(
    kind: str, path: Path, schema: Any, output: str, csv: Mapping[str, Any] = MappingProxyType({}), **options: Any
) -> Iterator[Callable[[Any], object]]:
    """Yield a function that writes one batch; `csv` says how CSV is written, `options` are those of Parquet."""
    pa = require("pyarrow", "tables", CALLER)
    _check_types(kind, schema)
    with pa.output_stream(str(path), compression=codec_of_name(output)) as sink:
        if kind == "parquet":
            with require("pyarrow.parquet", "tables", CALLER).ParquetWriter(sink, schema, **options) as writer:
                yield writer.write_batch
        elif kind == "arrow":
            with pa.ipc.new_file(sink, schema) as writer:
                yield writer.write_batch
        elif kind == "csv":
            header = pa.RecordBatch.from_arrays([pa.array([name]) for name in schema.names], schema.names)
            signs = csv.get("delimiter", ","), csv.get("decimal", ".")
            sink.write(_csv_lines(header, *signs))
            yield lambda batch: sink.write(_csv_lines(batch, *signs))
        else:
            yield lambda batch: sink.write(_json_lines(batch))


def _check_types(kind: str, schema: Any) -> None:
    """Refuse a column that a text format cannot hold."""
    pa = require("pyarrow", "tables", CALLER)
    for field in schema:
        try:
            if kind == "csv":
                pa.nulls(0, field.type).cast(pa.string())
            elif kind == "json" and any(name in str(field.type) for name in NOT_IN_JSON):
                raise pa.ArrowNotImplementedError
        except pa.ArrowNotImplementedError:
            raise InvalidInputError(
                f"Column '{field.name}' of type {field.type} cannot be written as {kind.upper()}; write Parquet or "
                "Arrow, or only the new column."
            ) from None


def _csv_lines(batch: Any, delimiter: str, decimal: str) -> Any:
    """Return the rows of a batch as CSV: a missing value is an empty field, an empty text is quoted.

    Arrow's own writer puts quotes around all text, numbers that are kept as text among it.
    """
    pc = require("pyarrow.compute", "tables", CALLER)
    columns = []
    for column in batch.columns:
        texts = column.cast("string")
        if decimal != "." and str(column.type) in ("double", "float"):
            texts = pc.replace_substring(texts, ".", decimal)
        quoted = pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
        columns.append(pc.if_else(pc.match_substring_regex(texts, f'^$|["\r\n{delimiter}]'), quoted, texts))
    rows = pc.binary_join_element_wise(*columns, delimiter, null_handling="replace", null_replacement="")
    return pc.binary_join_element_wise(rows, "", "\n").buffers()[2] or b""


def _json_lines(batch: Any) -> bytes:
    """Return the rows of a batch as JSON lines; dates and decimals become text."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            json.dumps(column.to_pylist(), default=str, allow_nan=False)
        except ValueError:
            raise InvalidInputError(
                f"Column '{name}' has NaN or infinity, which JSON cannot hold; write another format."
            ) from None
    return "".join(json.dumps(row, default=str, ensure_ascii=False) + "\n" for row in batch.to_pylist()).encode()


def add_fields(schema: Any, names: list[str]) -> Any:
    """Append columns of doubles; where Spark has described the columns for itself, it must know of them, too."""
    pa = require("pyarrow", "tables", CALLER)
    for name in names:
        schema = schema.append(pa.field(name, "float64"))
    metadata = dict(schema.metadata or {})
    if SPARK in metadata:
        known = json.loads(metadata[SPARK])
        known["fields"] += [{"name": name, "type": "double", "nullable": True, "metadata": {}} for name in names]
        metadata[SPARK] = json.dumps(known, separators=(",", ":")).encode()
    return schema.with_metadata(metadata or None)


def parquet_options(path: str, schema: Any) -> dict[str, Any]:
    """Choose the compression and the dictionaries that the columns have in a Parquet file.

    A column whose type would become another one in a file with this Arrow schema is refused.
    """
    parquet = require("pyarrow.parquet", "tables", CALLER)
    source = parquet.ParquetFile(path)
    metadata, old = source.metadata, source.schema
    chunks = [metadata.row_group(0).column(i) for i in range(metadata.num_columns)] if metadata.num_row_groups else []
    options = {
        "compression": {one.path_in_schema: one.compression.replace("UNCOMPRESSED", "NONE") for one in chunks},
        # Dictionaries only where there are some: to try one for every column takes most of the time of writing.
        "use_dictionary": [one.path_in_schema for one in chunks if any("DICT" in name for name in one.encodings)],
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
