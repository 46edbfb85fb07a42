"""Arrow batches written as Parquet, Arrow, CSV or JSON lines; a column that cannot be kept is refused by name."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calibrant._optional import require
from calibrant.errors import InvalidInputError

__all__ = ["add_fields", "open_sink", "open_writer", "parquet_options", "quote_field"]

CALLER = "Writing tables"
SPARK = b"org.apache.spark.sql.parquet.row.metadata"
NOT_IN_JSON = ("binary", "duration", "map<", "extension", "union")


def open_sink(path: Path, output: str) -> Any:
    """Open a file for bytes, packed where the name of the output ends in .gz or .zst."""
    codec = {".gz": "gzip", ".zst": "zstd"}.get(Path(output).suffix.lower())
    return require("pyarrow", "tables", CALLER).output_stream(str(path), compression=codec)


@contextmanager
def open_writer(kind: str, path: Path, schema: Any, output: str, **options: Any) -> Iterator[Callable[[Any], object]]:
    """Yield a function that writes one batch; `options` are those of Parquet."""
    _check_types(kind, schema)
    with open_sink(path, output) as sink:
        if kind == "parquet":
            with require("pyarrow.parquet", "tables", CALLER).ParquetWriter(sink, schema, **options) as writer:
                yield writer.write_batch
        elif kind == "arrow":
            with require("pyarrow", "tables", CALLER).ipc.new_file(sink, schema) as writer:
                yield writer.write_batch
        elif kind == "csv":
            sink.write((",".join(quote_field(name, ",") for name in schema.names) + "\n").encode())
            yield lambda batch: sink.write(_csv_lines(batch))
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


def quote_field(text: str, delimiter: str) -> str:
    """Put quotes around a field of CSV that needs them."""
    needed = not text or any(sign in text for sign in ('"', "\r", "\n", delimiter))
    return '"' + text.replace('"', '""') + '"' if needed else text


def _csv_lines(batch: Any) -> Any:
    """Return the rows of a batch as CSV: a missing value is an empty field, an empty text is quoted."""
    pc = require("pyarrow.compute", "tables", CALLER)
    columns = []
    for column in batch.columns:
        texts = column.cast("string")
        quoted = pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
        columns.append(pc.if_else(pc.match_substring_regex(texts, '^$|[",\r\n]'), quoted, texts))
    rows = pc.binary_join_element_wise(*columns, ",", null_handling="replace", null_replacement="")
    return pc.binary_join_element_wise(rows, "", "\n").buffers()[2] or b""


def _json_lines(batch: Any) -> bytes:
    """Return the rows of a batch as JSON lines; dates and decimals become text."""
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        key = json.dumps(name, ensure_ascii=False)
        try:
            texts = [json.dumps(x, default=str, ensure_ascii=False, allow_nan=False) for x in column.to_pylist()]
        except ValueError:
            raise InvalidInputError(
                f"Column '{name}' has NaN or infinity, which JSON cannot hold; write another format."
            ) from None
        columns.append([f"{key}: {text}" for text in texts])
    return "".join(f"{{{', '.join(row)}}}\n" for row in zip(*columns, strict=True)).encode()


def add_fields(schema: Any, names: list[str]) -> Any:
    """Append columns of doubles; where Spark has described the columns for itself, it must know of them, too."""
    pa = require("pyarrow", "tables", CALLER)
    schema = pa.schema([]) if schema is None else schema
    for name in names:
        schema = schema.append(pa.field(name, "float64"))
    metadata = dict(schema.metadata or {})
    if SPARK in metadata:
        known = json.loads(metadata[SPARK])
        known["fields"] += [{"name": name, "type": "double", "nullable": True, "metadata": {}} for name in names]
        metadata[SPARK] = json.dumps(known, separators=(",", ":")).encode()
    return schema.with_metadata(metadata or None)


def parquet_options(source: Any, schema: Any, score: str, new: list[str]) -> dict[str, Any]:
    """Choose the compression and encodings that the columns have in an open Parquet file.

    A column whose type would become another one in a file with this Arrow schema is refused.
    """
    parquet = require("pyarrow.parquet", "tables", CALLER)
    metadata, old = source.metadata, source.schema
    chunks = [metadata.row_group(0).column(i) for i in range(metadata.num_columns)] if metadata.num_row_groups else []
    codecs = {chunk.path_in_schema: chunk.compression.replace("UNCOMPRESSED", "NONE") for chunk in chunks}
    options = {
        "compression": codecs | dict.fromkeys(new, codecs.get(score, "SNAPPY")),
        "use_dictionary": [chunk.path_in_schema for chunk in chunks if any("DICT" in one for one in chunk.encodings)],
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
