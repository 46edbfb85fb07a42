"""The footer of a Parquet file as a tree that can be changed and written back.

Parquet describes a file in a Thrift structure at its end. No library of the field lets Python change that structure,
so this module reads and writes Thrift's compact protocol. It describes itself: every value comes with its kind, so
that fields which nobody here has heard of are kept as they are.
"""

from __future__ import annotations

from typing import Any, BinaryIO

__all__ = ["Struct", "read_footer", "write_footer"]

MAGIC = b"PAR1"
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(1, 14)
FIXED = {BYTE: 1, DOUBLE: 8, UUID: 16}
LONG_LIST = 15

Struct = dict[int, tuple[int, Any]]
"""Number of a field → its kind and value. A list has the kind of its entries and their values."""


def read_footer(file: BinaryIO) -> tuple[Struct, int]:
    """The footer of a file, and where it begins; ValueError where there is none that can be read."""
    end = file.seek(0, 2)
    file.seek(max(0, end - 8))
    tail = file.read(8)
    start = end - 8 - int.from_bytes(tail[:4], "little")
    if len(tail) < 8 or tail[4:] != MAGIC or start < len(MAGIC):
        raise ValueError("no Parquet footer in the open")
    file.seek(start)
    try:
        return _Reader(file.read(end - 8 - start)).struct(), start
    except (IndexError, KeyError, RecursionError) as error:
        raise ValueError("the Parquet footer is damaged") from error


def write_footer(file: BinaryIO, footer: Struct) -> None:
    """Write the footer at the place where a file stands, and end the file there."""
    out = bytearray()
    _write_struct(out, footer)
    file.write(bytes(out) + len(out).to_bytes(4, "little") + MAGIC)
    file.truncate()


class _Reader:
    """Values one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._integer()
            fields[number] = kind, (None if kind in (TRUE, FALSE) else self._value(kind))
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (I16, I32, I64):
            return self._integer()
        if kind == BINARY:
            return self._bytes(self._varint())
        if kind == STRUCT:
            return self.struct()
        if kind in (LIST, SET):
            return self._list()
        if kind == MAP:
            return self._map()
        # Inside a list, a boolean has a byte of its own.
        return self._bytes(1 if kind in (TRUE, FALSE) else FIXED[kind])

    def _list(self) -> tuple[int, list[Any]]:
        head = self._byte()
        size, kind = head >> 4, head & 15
        size = self._varint() if size == LONG_LIST else size
        return kind, [self._value(kind) for _ in range(size)]

    def _map(self) -> tuple[int, int, list[tuple[Any, Any]]]:
        size = self._varint()
        kinds = self._byte() if size else 0
        key, value = kinds >> 4, kinds & 15
        return key, value, [(self._value(key), self._value(value)) for _ in range(size)]

    def _byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def _bytes(self, size: int) -> bytes:
        self.place += size
        if self.place > len(self.data):
            raise IndexError
        return self.data[self.place - size : self.place]

    def _varint(self) -> int:
        """Seven bits in each byte, the lowest first; the top bit says that more follow."""
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _integer(self) -> int:
        """Zigzag: 0, -1, 1, -2 and so on are stored as 0, 1, 2, 3."""
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


def _write_struct(out: bytearray, fields: Struct) -> None:
    last = 0
    for number, (kind, value) in fields.items():
        if 0 < number - last <= 15:
            out.append((number - last) << 4 | kind)
        else:
            out.append(kind)
            _write_integer(out, number)
        last = number
        if kind not in (TRUE, FALSE):
            _write_value(out, kind, value)
    out.append(0)


def _write_value(out: bytearray, kind: int, value: Any) -> None:
    if kind in (I16, I32, I64):
        _write_integer(out, value)
    elif kind == BINARY:
        _write_varint(out, len(value))
        out += value
    elif kind == STRUCT:
        _write_struct(out, value)
    elif kind in (LIST, SET):
        _write_list(out, *value)
    elif kind == MAP:
        _write_map(out, *value)
    else:
        out += value


def _write_list(out: bytearray, kind: int, values: list[Any]) -> None:
    out.append(min(len(values), LONG_LIST) << 4 | kind)
    if len(values) >= LONG_LIST:
        _write_varint(out, len(values))
    for value in values:
        _write_value(out, kind, value)


def _write_map(out: bytearray, key: int, value: int, entries: list[tuple[Any, Any]]) -> None:
    _write_varint(out, len(entries))
    if entries:
        out.append(key << 4 | value)
    for name, entry in entries:
        _write_value(out, key, name)
        _write_value(out, value, entry)


def _write_integer(out: bytearray, value: int) -> None:
    _write_varint(out, value << 1 if value >= 0 else ~(value << 1))


def _write_varint(out: bytearray, value: int) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
