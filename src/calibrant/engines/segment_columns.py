"""Segments in the columns of a batch, as the numbers that a map of segments knows them by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._optional import require
from calibrant._typing import Ints
from calibrant.errors import InvalidInputError
from calibrant.maps.keys import MISSING, UNSEEN, SegmentKeys

CALLER = "calibrant.engines.apply_file"
TEXT_TYPES = {"numbers": "float64", "booleans": "bool"}


class SegmentReader:
    """Reads segments; counts rows with segments that the fit did not see, and keeps these segments.

    Parameters
    ----------
    keys : SegmentKeys
        The keys of the fit.
    by : sequence of str
        Their columns, in the order of the keys; none for those with the names of the fit.
    missing : {"error", "segment"}
        What to do with rows whose segment is missing.
    """

    def __init__(self, keys: SegmentKeys, by: Sequence[str], missing: str) -> None:
        self.keys, self.by, self.missing = keys, list(by) or list(keys.names), missing
        if len(self.by) != len(keys.names):
            raise InvalidInputError(
                f"`by` must name a column for each key of the fit, {', '.join(keys.names)}; got {len(self.by)}."
            )
        _validation.check_choice("missing", missing, MISSING)
        self.unseen_rows = 0
        self.unseen: set[tuple[int, Any]] = set()

    def encode(self, batch: Any) -> Ints:
        """The numbers of the segments of a batch, (n, keys)."""
        codes = np.column_stack([self._encode(k, batch.column(name)) for k, name in enumerate(self.by)])
        self.unseen_rows += int((codes == UNSEEN).any(axis=1).sum())
        return codes

    def _encode(self, k: int, column: Any) -> Ints:
        """The numbers of the segments in a column of key `k`; each distinct value is looked up once."""
        pa = require("pyarrow", "tables", CALLER)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        encoded = self._read(k, column).dictionary_encode()
        values = encoded.dictionary.to_pylist()
        numbers = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
        if encoded.null_count:
            values.append(None)
        absent = [value is None or value != value for value in values]  # noqa: PLR0124 - NaN differs from itself
        if any(absent) and self.missing == "error":
            raise InvalidInputError(
                f"Column '{self.by[k]}' must have no missing segments, as in the fit; fill them, or use "
                "missing='segment'."
            )
        distinct = np.empty(len(values), dtype=object)
        distinct[:] = values
        codes = self.keys.encode_column(k, distinct, len(values), "segment")
        self.unseen |= {
            (k, None if is_absent else value)
            for value, code, is_absent in zip(values, codes, absent, strict=True)
            if code == UNSEEN
        }
        return codes[numbers] if len(codes) else np.empty(0, dtype=np.intp)

    def _read(self, k: int, column: Any) -> Any:
        """The column in the type of its key: text of CSV is read as in the fit, dates and the like become text."""
        pa = require("pyarrow", "tables", CALLER)
        kind, is_text = self.keys.kinds[k], pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        plain = is_text or pa.types.is_boolean(column.type) or pa.types.is_integer(column.type)
        try:
            if is_text and kind in TEXT_TYPES:
                return pa.compute.utf8_trim_whitespace(column).cast(TEXT_TYPES[kind])
            if pa.types.is_timestamp(column.type):
                days = column.cast("date32", safe=False)
                return (days if days.cast(column.type).equals(column) else column).cast("string")
            if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
                return column.cast("float64")
            return column if plain else column.cast("string")
        except pa.ArrowException as error:
            raise InvalidInputError(
                f"Column '{self.by[k]}' held {kind} in the fit and holds something else now: {error}."
            ) from None
