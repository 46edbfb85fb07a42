"""New columns for a Parquet file, without decoding and writing again the columns that it has.

A Parquet file is a row of column chunks and a footer that says where they are. So the bytes before the footer are
copied, the chunks of the new columns follow them, and a footer that knows of both ends the file. What was there keeps
its bytes: types, compression, indexes and order, whatever program wrote them.
"""

from __future__ import annotations

import base64
import errno
import json
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import FileIO
from itertools import chain
from pathlib import Path
from threading import Event
from typing import Any, BinaryIO

from calibrant.cli.footers import MAGIC, Struct, read_footer, write_footer
from calibrant.cli.problems import Problem

__all__ = ["Growable", "growable"]

# Numbers of fields in parquet.thrift: FileMetaData, SchemaElement, RowGroup, ColumnChunk, ColumnMetaData, KeyValue.
SCHEMA, N_ROWS, ROW_GROUPS, ENTRIES, ORDERS, ENCRYPTION, SIGNING = 2, 3, 4, 5, 7, 8, 9
NAME, CHILDREN = 4, 5
CHUNKS, BYTES, ROWS_OF_GROUP, COMPRESSED_BYTES = 1, 2, 3, 6
FACTS = 3
OFFSETS = (9, 11)  # of data pages and dictionary; the writer makes no other pages unless it is asked to
KEY, VALUE = 1, 2

ARROW, SPARK = b"ARROW:schema", b"org.apache.spark.sql.parquet.row.metadata"
HARMLESS = {b"pandas", b"geo", b"org.apache.spark.version", b"org.apache.spark.timeZone", b"writer.model.name"}
BLOCK, SMALL_BLOCK = 1 << 26, 1 << 18  # the small one stays in the processor's cache
NOT_BY_THE_SYSTEM = (errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM, errno.EBADF)
SAMPLE, FEW = 10_000, 0.25


def growable(path: str, columns: list[str]) -> Growable | None:
    """The file with these columns if new ones can be added to it as it is; else None.

    Encrypted files cannot, nor can those whose footer holds a description of the columns that is not known here and
    would be wrong afterwards.
    """
    with Path(path).open("rb") as file:
        try:
            footer, end = read_footer(file)
        except ValueError:
            return None
    if ENCRYPTION in footer or SIGNING in footer or not {SCHEMA, N_ROWS, ROW_GROUPS} <= footer.keys():
        return None
    if not {entry[KEY][1] for entry in _list(footer, ENTRIES)} <= {ARROW, SPARK, *HARMLESS}:
        return None
    found = Growable(path, footer, end)
    return found if _names(footer) == columns and sum(found.groups) == footer[N_ROWS][1] else None


@dataclass(frozen=True)
class Growable:
    """A Parquet file that can be given new columns."""

    path: str
    footer: Struct
    end: int

    @property
    def groups(self) -> list[int]:
        """The number of rows in each row group."""
        return [group[ROWS_OF_GROUP][1] for group in _list(self.footer, ROW_GROUPS)]

    def write(self, target: Path, batches: Iterable[Any], schema: Any) -> int:
        """Write the file and the new columns, given as Arrow batches of all its rows; return the number of rows."""
        target.touch()
        stop = Event()
        with ThreadPoolExecutor(1) as pool, target.open("r+b") as file:
            try:
                copying = pool.submit(_copy, self.path, target, self.end, stop)
                file.seek(self.end)
                _write_chunks(file, regrouped(batches, schema, self.groups), schema)
                new, start = read_footer(file)
                file.seek(start)
                write_footer(file, _merged(self.footer, _moved(new, self.end), schema))
                copying.result()
            finally:
                stop.set()
        return sum(self.groups)


def _copy(path: str, target: Path, size: int, stop: Event) -> None:
    """Copy the first `size` bytes of a file."""
    copy = _by_the_system if hasattr(os, "copy_file_range") else _by_hand
    with Path(path).open("rb", buffering=0) as source, target.open("r+b", buffering=0) as sink:
        done = 0
        while done < size and not stop.is_set():
            try:
                copied = copy(source, sink, min(BLOCK, size - done))
            except OSError as error:
                if copy is _by_hand or error.errno not in NOT_BY_THE_SYSTEM:
                    raise
                copy = _by_hand
                continue
            if not copied:
                raise Problem(f"{path} became shorter while it was read; try again when it is complete.")
            done += copied


def _by_the_system(source: FileIO, sink: FileIO, size: int) -> int:
    """Let the system copy, which need not move the bytes through this process, and on some disks not at all."""
    return os.copy_file_range(source.fileno(), sink.fileno(), size)


def _by_hand(source: FileIO, sink: FileIO, size: int) -> int:
    block = memoryview(source.read(min(size, SMALL_BLOCK)))
    written = 0
    while written < len(block):  # a full disk may take a part before it fails
        written += sink.write(block[written:])
    return written


def _write_chunks(file: BinaryIO, tables: Iterator[Any], schema: Any) -> None:
    """Write each table as a row group, as a file of its own that begins where `file` stands."""
    import pyarrow.parquet as pq

    first = next(tables, None)
    with pq.ParquetWriter(file, schema, use_dictionary=_repeats(first)) as writer:
        for table in () if first is None else chain([first], tables):
            writer.write_table(table, row_group_size=max(table.num_rows, 1))


def regrouped(batches: Iterable[Any], schema: Any, sizes: list[int]) -> Iterator[Any]:
    """The same rows as one table for each size."""
    import pyarrow as pa

    waiting, rows = [], 0
    stream = iter(batches)
    for size in sizes:
        while rows < size:
            waiting.append(next(stream))
            rows += waiting[-1].num_rows
        table = pa.Table.from_batches(waiting, schema)
        yield table.slice(0, size)
        waiting, rows = table.slice(size).to_batches(), rows - size


def _repeats(table: Any) -> bool:
    """Whether a few values, as of a map of steps, make up the new columns; then a dictionary makes them small."""
    if table is None:
        return False
    sample = table.slice(0, SAMPLE)
    return all(len(set(column.to_pylist())) <= FEW * len(column) for column in sample.columns)


def _moved(footer: Struct, begin: int) -> Struct:
    """The footer of a file that begins at byte `begin` of another one, for that other one."""
    pages = [page for group in _list(footer, ROW_GROUPS) for chunk in _list(group, CHUNKS) for page in _pages(chunk)]
    # The first page follows the signature, whether the writer counts from there or from the beginning of the whole.
    by = begin + len(MAGIC) - min(pages, default=0)
    groups = [
        _with(group, CHUNKS, (group[CHUNKS][1][0], [_moved_chunk(chunk, by) for chunk in _list(group, CHUNKS)]))
        for group in _list(footer, ROW_GROUPS)
    ]
    return _with(footer, ROW_GROUPS, (footer[ROW_GROUPS][1][0], groups))


def _pages(chunk: Struct) -> list[int]:
    """Where dictionary and data of a chunk begin; 0 stands for nowhere."""
    facts = chunk[FACTS][1]
    return [facts[offset][1] for offset in OFFSETS if offset in facts and facts[offset][1]]


def _moved_chunk(chunk: Struct, by: int) -> Struct:
    facts = chunk[FACTS][1]
    for offset in OFFSETS:
        if offset in facts and facts[offset][1]:
            facts = _with(facts, offset, facts[offset][1] + by)
    return _with(chunk, FACTS, facts)


def _merged(old: Struct, new: Struct, schema: Any) -> Struct:
    """The old footer with the chunks of the new one, which lie in the same file already."""
    groups = list(zip(_list(old, ROW_GROUPS), _list(new, ROW_GROUPS), strict=True))
    if any(mine[ROWS_OF_GROUP] != theirs[ROWS_OF_GROUP] for mine, theirs in groups):
        raise AssertionError("row groups of new columns must have the rows of the old ones")
    root, *added = _list(new, SCHEMA)
    merged = _extended(old, SCHEMA, added)
    top = _list(merged, SCHEMA)[0]
    _list(merged, SCHEMA)[0] = _with(top, CHILDREN, top[CHILDREN][1] + root[CHILDREN][1])
    merged = _with(merged, ROW_GROUPS, (merged[ROW_GROUPS][1][0], [_joined(*pair) for pair in groups]))
    if ORDERS in merged:
        merged = _extended(merged, ORDERS, _list(new, ORDERS))
    if ENTRIES in merged:
        entries = [_described(entry, schema) for entry in _list(merged, ENTRIES)]
        merged = _with(merged, ENTRIES, (merged[ENTRIES][1][0], entries))
    return merged


def _joined(mine: Struct, theirs: Struct) -> Struct:
    joined = _extended(mine, CHUNKS, _list(theirs, CHUNKS))
    for size in (BYTES, COMPRESSED_BYTES):
        if size in mine and size in theirs:
            joined = _with(joined, size, mine[size][1] + theirs[size][1])
    return joined


def _described(entry: Struct, schema: Any) -> Struct:
    """An entry that lists the columns for one program, with the new ones; any other entry as it is."""
    key = entry[KEY][1]
    if key == ARROW:
        import pyarrow as pa

        known = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(entry[VALUE][1])))
        for field in schema:
            known = known.append(field)
        return _with(entry, VALUE, base64.b64encode(known.serialize()))
    if key == SPARK:
        known = json.loads(entry[VALUE][1])
        plain = {"type": "double", "nullable": True, "metadata": {}}
        known["fields"] += [{"name": field.name} | plain for field in schema]
        return _with(entry, VALUE, json.dumps(known, separators=(",", ":")).encode())
    return entry


def _names(footer: Struct) -> list[str]:
    """The names of the top-level columns: a schema is a tree, written out with each parent before its children."""
    root, *rest = _list(footer, SCHEMA)
    names, skip = [], 0
    for element in rest:
        if skip == 0:
            names.append(element[NAME][1].decode())
        skip = max(skip - 1, 0) + element.get(CHILDREN, (0, 0))[1]
    return names if len(names) == root[CHILDREN][1] else []


def _list(struct: Struct, number: int) -> list[Any]:
    values: list[Any] = struct[number][1][1] if number in struct else []
    return values


def _with(struct: Struct, number: int, value: Any) -> Struct:
    return struct | {number: (struct[number][0], value)}


def _extended(struct: Struct, number: int, more: list[Any]) -> Struct:
    kind, values = struct[number][1]
    return _with(struct, number, (kind, [*values, *more]))
