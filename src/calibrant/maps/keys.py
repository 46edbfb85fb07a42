"""Segment columns as numbers: which keys there are, which segments each of them has, and where new ones appear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import Bools, Floats, Ints
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps.panel_columns import named_columns
from calibrant.tally import Tally

#: What happens to rows without a segment: an error, or a segment of their own.
MISSING = ("error", "segment")
KINDS = {"b": "booleans", "i": "numbers", "u": "numbers", "f": "numbers", "U": "strings"}
#: The number of a segment that was not there when the keys were learned.
UNSEEN = -1
#: The key of rows that have a score for each of several labels.
LABEL = "label"


def as_columns(segment: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The columns of `segment` by name: a column, several in an array or a table, or a dictionary of columns."""
    named = named_columns(segment)
    if named is not None:
        return {name: _column(column) for name, column in named.items()}
    array = _validation.as_array(segment, "segment")
    if array.ndim == 2 and array.shape[1] > 0:
        return {f"segment_{i + 1}": _column(column) for i, column in enumerate(array.T)}
    return {"segment": _column(array)}


def name_columns(segments: Sequence[Any], keys: Sequence[str] | None = None) -> dict[str, np.ndarray[Any, Any]]:
    """The columns of named things, such as the tallies of a dictionary: a value each, or a tuple with several keys."""
    lines = [segment if isinstance(segment, tuple) else (segment,) for segment in segments]
    sizes = {len(line) for line in lines}
    if len(sizes) != 1:
        raise InvalidInputError("Segments must be named by one key each, or all by tuples of the same length.")
    size = sizes.pop()
    names = list(keys) if keys else (["segment"] if size == 1 else [f"segment_{i + 1}" for i in range(size)])
    if len(names) != size:
        raise InvalidInputError(f"`keys` must name the {size} parts of a segment; got {len(names)} names.")
    return dict(zip(names, np.array(lines, dtype=object).T, strict=True))


def name_labels(y: Any) -> tuple[Any, ...]:
    """The names of the columns of several labels: those of a table, or else their numbers."""
    columns = as_columns(y)
    return tuple(range(len(columns))) if _is_nameless(columns) else tuple(columns)


def melt_labels(scores: Any, labels: Sequence[Any], segment: Any, keys: Sequence[str] = ()) -> tuple[Floats, Any]:
    """A score for each row and label, (n · labels,), and the segments of these: the label, and those of the row.

    Columns of a table are found by the names of the labels where it has them, otherwise by their order.
    """
    columns = as_columns(scores)
    matrix = np.column_stack([columns[name] for name in labels] if set(columns) == set(labels) else [*columns.values()])
    if matrix.shape[1] != len(labels):
        raise InvalidInputError(f"`scores` must have a column for each of {len(labels)} labels; got {matrix.shape[1]}.")
    long: dict[str, Any] = {LABEL: np.tile(np.array(labels), len(matrix))}
    others = {} if segment is None else as_columns(segment)
    names = keys[1:] if _is_nameless(others) and len(keys) == len(others) + 1 else list(others)
    for name, column in zip(names, others.values(), strict=True):
        _validation.check_same_length(len(matrix), len(column), "segment")
        long[name] = np.repeat(column, len(labels))
    return _validation.as_floats(matrix, "scores").ravel(), long


def _column(values: Any) -> np.ndarray[Any, Any]:
    array = _validation.as_array(values, "segment")
    if array.ndim != 1:
        raise InvalidInputError(
            f"`segment` must have one value for each row and key, shape (n,) or (n, keys); got shape {array.shape}."
        )
    return array.astype(str) if array.dtype.kind in "MmS" else array


@dataclass(frozen=True)
class SegmentKeys:
    """Names of the keys, and for each the kind of its values and its segments; the last segment may be None."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of segments of each key."""
        return tuple(len(levels) for levels in self.levels)

    def columns(self, by: Sequence[str] | None) -> list[str]:
        """The columns of the keys: those of `by`, in the order of the keys, or else those with the names of the fit."""
        columns = list(by or self.names)
        if len(columns) != len(self.names):
            raise InvalidInputError(
                f"`by` must name a column for each key of the fit, {', '.join(self.names)}; got {len(columns)}."
            )
        return columns

    @classmethod
    def learn(cls, segment: Any, n_rows: int, missing: str) -> tuple[SegmentKeys, Ints]:
        """The keys of these columns and the number of each row's segment, (n, keys)."""
        columns = as_columns(segment)
        if not columns:
            raise InvalidInputError("`segment` must have at least one column; got none.")
        parts = [_learn_column(name, column, n_rows, missing) for name, column in columns.items()]
        kinds, levels, codes = zip(*parts, strict=True)
        return cls(tuple(columns), kinds, levels), np.column_stack(codes)

    def encode(self, segment: Any, n_rows: int, missing: str) -> Ints:
        """The number of each row's segment, (n, keys); −1 for one that was not there in `fit`."""
        columns = as_columns(segment)
        if len(columns) != len(self.names) or (set(columns) != set(self.names) and not _is_nameless(columns)):
            raise InvalidInputError(
                f"`segment` must have the keys of the fit, {', '.join(self.names)}; got {', '.join(columns)}."
            )
        ordered = columns.values() if set(columns) != set(self.names) else (columns[name] for name in self.names)
        codes = [self.encode_column(k, column, n_rows, missing) for k, column in enumerate(ordered)]
        return np.column_stack(codes)

    def encode_column(self, k: int, column: np.ndarray[Any, Any], n_rows: int, missing: str) -> Ints:
        """The number of the segment of key `k` in each row; −1 for one that was not there in `fit`."""
        name, kind, levels = self.names[k], self.kinds[k], self.levels[k]
        absent = _missing_rows(name, column, n_rows, missing)
        codes = np.full(n_rows, UNSEEN)
        if levels[-1] is None:
            codes[absent] = len(levels) - 1
        if absent.all():
            return codes
        values, now = _plain(name, column[~absent])
        if kind not in {now, ""}:
            raise InvalidInputError(
                f"`segment` key {name!r} held {kind} in the fit and holds {now} now; convert the column to {kind}."
            )
        known = np.array([level for level in levels if level is not None])
        place = np.minimum(np.searchsorted(known, values), len(known) - 1) if len(known) else np.zeros(len(values), int)
        seen = known[place] == values if len(known) else np.zeros(len(values), bool)
        codes[~absent] = np.where(seen, place, UNSEEN)
        return codes

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SegmentKeys:
        """The keys with these fields."""
        keys = cls(tuple(data["names"]), tuple(data["kinds"]), tuple(map(tuple, data["levels"])))
        # Each key has a name of its own and increasing segments of its kind.
        named = all(isinstance(name, str) for name in keys.names) and len(set(keys.names)) == len(keys.names)
        same = len(keys.names) == len(keys.kinds) == len(keys.levels) > 0
        if not (named and same and all(map(_are_levels, keys.kinds, keys.levels))):
            raise ModelFileError("The keys of these segments are damaged.")
        return keys


@dataclass(frozen=True, eq=False)
class SegmentCounts:
    """Rows, or cells of tallies, with the number of their segment for each key, (n, keys)."""

    keys: SegmentKeys
    scores: Floats
    positives: Floats
    totals: Floats
    codes: Ints

    @classmethod
    def of_rows(cls, scores: Floats, positive: Bools, weights: Floats, segment: Any, missing: str) -> SegmentCounts:
        """Rows of weight 0 do not count, and neither do segments of such rows."""
        kept = weights > 0.0
        columns = as_columns(segment)
        for column in columns.values():
            _validation.check_same_length(len(scores), len(column), "segment")
        columns = {name: column[kept] for name, column in columns.items()}
        keys, codes = SegmentKeys.learn(columns, int(kept.sum()), missing)
        return cls(keys, scores[kept], (weights * positive.T).T[kept], weights[kept], codes)

    @classmethod
    def of_tallies(
        cls, tallies: Mapping[Any, Tally], missing: str, names: Sequence[str] | None = None
    ) -> SegmentCounts:
        """One tally for each segment; with several keys, the segments are tuples."""
        full = {segment: tally for segment, tally in tallies.items() if len(tally)}
        if not full:
            raise InvalidInputError("`tallies` must have at least one tally with rows; all tallies are empty.")
        keys, codes = SegmentKeys.learn(name_columns(list(full), names), len(full), missing)
        scores, positives, totals = (
            np.concatenate([getattr(tally, name) for tally in full.values()])
            for name in ("scores", "positives", "totals")
        )
        return cls(keys, scores, positives, totals, np.repeat(codes, [len(tally) for tally in full.values()], axis=0))

    def tallies(self) -> dict[Any, Tally]:
        """The rows of each segment, by its value or with several keys by a tuple; each of them is 0 or 1."""
        number, found = combine(self.codes), {}
        order = np.argsort(number, kind="stable")
        for rows in filter(len, np.split(order, np.flatnonzero(np.diff(number[order])) + 1)):
            code = self.codes[rows[0]].tolist()
            words = tuple(levels[i] for levels, i in zip(self.keys.levels, code, strict=True))
            tally = Tally.from_arrays(self.scores[rows], self.positives[rows] > 0.0, self.totals[rows])
            found[words if len(words) > 1 else words[0]] = tally
        return found

    def merged(self, places: Ints) -> SegmentCounts:
        """Rows with the same number in `places` and the same segments counted together, at their mean score."""
        number = combine(np.column_stack((places, self.codes)))
        first = np.unique(number, return_index=True)[1]
        columns = (self.scores * self.totals, self.positives, self.totals)
        sums, positives, totals = (np.bincount(number, column).astype(np.float64) for column in columns)
        return SegmentCounts(self.keys, sums / totals, positives, totals, self.codes[first])


def combine(codes: Ints) -> Ints:
    """One number for each distinct row of `codes`, in the rows' lexicographic order."""
    out = np.zeros(len(codes), dtype=np.intp)
    for column in codes.T:
        out = np.unique(out * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1].reshape(-1)
    return out


def _are_levels(kind: str, levels: tuple[Any, ...]) -> bool:
    known = levels[:-1] if levels and levels[-1] is None else levels
    types = {"booleans": (bool,), "numbers": (int, float), "strings": (str,), "": ()}.get(kind)
    if types is None or not levels or not all(type(level) in types for level in known):
        return False
    return all(a < b for a, b in pairwise(known))


def _is_nameless(columns: Mapping[str, Any]) -> bool:
    """Whether the names come from `as_columns`; then the order of the fit is meant."""
    return list(columns) in (["segment"], [f"segment_{i + 1}" for i in range(len(columns))])


def _learn_column(name: str, column: np.ndarray[Any, Any], n_rows: int, missing: str) -> tuple[str, Any, Ints]:
    absent = _missing_rows(name, column, n_rows, missing)
    codes = np.empty(n_rows, dtype=np.intp)
    levels: list[Any] = []
    kind = ""
    if not absent.all():
        values, kind = _plain(name, column[~absent])
        distinct, codes[~absent] = np.unique(values, return_inverse=True)
        levels = distinct.tolist()
    if absent.any():
        codes[absent] = len(levels)
        levels.append(None)
    return kind, tuple(levels), codes


def _missing_rows(name: str, column: np.ndarray[Any, Any], n_rows: int, missing: str) -> Any:
    _validation.check_choice("missing", missing, MISSING)
    _validation.check_same_length(n_rows, len(column), "segment")
    absent = _is_missing(column)
    if missing == "error" and absent.any():
        raise InvalidInputError(
            f"`segment` key {name!r} must have no missing values; got {int(absent.sum())}, the first at index "
            f"{int(absent.argmax())}. Fill them, or make them a segment of their own with missing='segment'."
        )
    return absent


def _is_missing(column: np.ndarray[Any, Any]) -> Any:
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind == "O":
        return np.array([_validation.is_missing(x) for x in column.tolist()], dtype=bool)
    if column.dtype.kind == "U":  # dates were turned into text
        return column == "NaT"
    return np.zeros(len(column), dtype=bool)


def _plain(name: str, column: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], str]:
    """Values of one type as a numpy array, and what they are."""
    if column.dtype.kind == "O":
        values = column.tolist()
        samples = {type(value): value for value in values}.values()  # one of each type
        if len({KINDS.get(np.asarray(value).dtype.kind) for value in samples}) > 1:
            raise InvalidInputError(f"`segment` key {name!r} must hold values of one type; got several mixed.")
        column = np.array(values)
    if column.dtype.kind not in KINDS or column.ndim != 1:
        raise InvalidInputError(f"`segment` key {name!r} must hold strings, numbers or booleans; got {column.dtype}.")
    return column, KINDS[column.dtype.kind]
