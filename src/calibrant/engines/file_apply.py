"""Maps applied to tables in files: rows pass through in batches, old columns stay as they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from calibrant import _validation
from calibrant._files import new_folder, replacing
from calibrant._optional import require
from calibrant._typing import Bools, Floats, Ints
from calibrant.engines import table_batches
from calibrant.engines.tables import Table, format_of_name, open_table
from calibrant.errors import InvalidInputError
from calibrant.maps.base import domain
from calibrant.maps.keys import MISSING, UNSEEN, SegmentKeys
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.panel import PanelMap
from calibrant.maps.panel_features import NumericScore
from calibrant.maps.score import CalibrationMap
from calibrant.maps.segments import SegmentedMap

pa: Any = require("pyarrow", "tables", "calibrant.engines.apply_file")
FORMATS = ("csv", "parquet", "json")
FEW_ROWS, NARROW = 20, 0.05  # so many scores in so small a share of the range of the fit are on another scale
TEXT_TYPES = {"numbers": "float64", "booleans": "bool"}


class Applied(NamedTuple):
    """What `apply_file` did: rows written, rows without a probability, and the names of the new columns.

    The remarks say in words what deserves attention: rows without a result, segments that the fit did not see, scores
    on another scale.
    """

    rows: int
    unusable: int
    columns: list[str]
    remarks: tuple[str, ...] = ()


def apply_file(
    map_: CalibrationMap | MatrixMap | SegmentedMap | PanelMap,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Table,
    output: str | os.PathLike[str],
    *,
    score: str | Sequence[str] | None = None,
    by: Sequence[str] = (),
    missing: str | None = None,
    name: str = "probability",
    only_new: bool = False,
    format: str | None = None,
    level: float | None = None,
) -> Applied:
    r"""Add calibrated probabilities to a table in files of any size.

    Rows are read, calibrated and written in batches; the output appears whole or not at all, and may be the input.
    Old columns are kept as they are, or the table is refused with the name of the column that cannot be kept. Parquet
    keeps types and metadata, CSV the text of every field, JSON lines the entries of every object. Scores that are
    missing, not finite, or outside the range of the map give missing probabilities; where these are most of the rows,
    nothing is written.

    Parameters
    ----------
    map_ : CalibrationMap, MatrixMap, SegmentedMap or PanelMap
        A map of several classes adds a column for each of them; one of several scores finds them by their names.
    source : path, glob, several of them, or an open table
        What to read; see `open_table`.
    output : path
        What to write. A name that ends in ``/`` is a new folder of Parquet files, parted as the folder that is read.
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
    format : {"csv", "parquet", "json"}, optional
        By default what the ending of `output` says.
    level : float, optional
        Add the ends of the interval of each probability at this confidence level, as ``probability_low`` and
        ``probability_high``; the map must have a posterior.

    Returns
    -------
    Applied
        Named tuple of ``rows``, ``unusable``, ``columns`` and ``remarks``.

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
    Applied(rows=2, unusable=1, columns=['probability'], remarks=...)
    id,score,probability
    007,0.9,1.0
    008,,
    <BLANKLINE>
    """
    in_folders = is_folder(output)
    kind = "parquet" if in_folders else output_format(os.fspath(output), format)
    with ExitStack() as stack:
        table = source if isinstance(source, Table) else stack.enter_context(open_table(source))
        scores = [score] if isinstance(score, str) else list(score or ())
        new = NewColumns(map_, scores, name, by=by, missing=missing, level=level)
        if in_folders and not table.partition_columns:
            raise InvalidInputError(
                "`output` can be a folder where the input is one whose folders name a column, such as day=2026-01-01; "
                "name a file."
            )
        if in_folders and only_new:
            raise InvalidInputError("A folder needs the columns that part it; leave out `only_new`, or name a file.")
        path = stack.enter_context(new_folder(output) if in_folders else replacing(output))
        old, batches = table_batches.read_batches(
            table, new.sources if only_new else None, as_text=table.format == kind == "csv"
        )
        new.check(table.name, old.names, only_new)
        schema = table_batches.add_fields(pa.schema([]) if only_new else old, new.names)
        keep = table.format == kind == "parquet" and not only_new
        options = table_batches.parquet_options(table.files[0], schema) if keep else {}
        appended = (_append(batch, new, schema) for batch in batches)
        if in_folders:
            table_batches.write_folder(path, schema, appended, table.partition_columns)
        elif kind == "parquet":
            table_batches.write_parquet(path, schema, appended, **options)
        else:
            table_batches.write_text(kind, path, schema, appended, output=os.fspath(output), csv=table.csv)
        new.check_most(table.name)
    return Applied(new.rows, new.unusable, new.names, tuple(new.remarks()))


def is_folder(output: str | os.PathLike[str] | None) -> bool:
    """Tell whether the name of an output is that of a folder: it ends in a slash."""
    return output is not None and os.fspath(output).endswith(("/", os.sep))


def output_format(output: str, given: str | None) -> str:
    """Return the format to write: as given, or by the ending of the name."""
    kind = given or format_of_name(output)
    if kind is None:
        raise InvalidInputError(f"The name {output} does not say the format: end it in .csv, .parquet or .jsonl.")
    return _validation.check_choice("format", kind, FORMATS)


def _append(batch: Any, new: NewColumns, schema: Any) -> Any:
    """Return a batch with the new columns, or the new columns alone if the schema has no others."""
    added = [pa.array(column, from_pandas=True) for column in new.from_batch(batch)]
    old = batch.columns if len(schema) > len(added) else []
    return pa.RecordBatch.from_arrays([*old, *added], schema=schema)


class NewColumns:
    """New columns of a table; counts rows, and those that a map does not accept.

    Parameters
    ----------
    map_ : CalibrationMap, MatrixMap or SegmentedMap
        A map of several classes makes a column for each.
    scores : sequence of str
        The score columns; a map of one score is applied to the highest score of a row.
    name : str
        The name of the new column, or the beginning of the names.
    by, missing
        For a map of segments, as in `SegmentReader`.
    level : float, optional
        The confidence level of intervals, whose ends are columns, too: after the probabilities all lower, then all
        upper ones.
    """

    def __init__(
        self,
        map_: CalibrationMap | MatrixMap | SegmentedMap | PanelMap,
        scores: Sequence[str],
        name: str,
        *,
        by: Sequence[str] = (),
        missing: str | None = None,
        level: float | None = None,
    ) -> None:
        self.map_: Any = map_
        self.level = level
        self.rows = self.unusable = self.outside = 0
        self.range: tuple[float, float] | None = None
        self.fitted_range = getattr(map_, "fitted_range", None)  # not every map knows it
        self.segments: SegmentReader | None = None
        self.scores, self.names = list(scores or ["score"]), [name]
        if isinstance(map_, MatrixMap):
            self.scores = list(scores or map_.columns or map(str, map_.classes))
            self.names = [f"{name}_{label}" for label in map_.classes]
            if len(self.scores) != len(self.names):
                raise InvalidInputError(
                    f"`score` must name the {len(self.names)} columns of the map's classes, in their order; "
                    f"got {len(self.scores)}."
                )
        elif isinstance(map_, PanelMap):
            self.scores = list(map_.names)
        elif isinstance(map_, SegmentedMap):
            self.segments = SegmentReader(map_.keys, by, map_.missing if missing is None else missing)
            self.fitted_range = getattr(map_.first or map_.pooled, "fitted_range", None)
        if level is not None:
            map_.need_posterior()
            self.level = _validation.check_level(level)
            self.names += [f"{column}_{end}" for end in ("low", "high") for column in self.names]

    @property
    def sources(self) -> list[str]:
        """The columns that are read."""
        return [*self.scores, *(self.segments.by if self.segments else ())]

    def check(self, table: str, columns: Sequence[str], only_new: bool) -> None:
        """Refuse a score column that is not there, and a new one that is there already."""
        for name in self.sources:
            if name not in columns:
                raise InvalidInputError(f"{table} must have a column '{name}'; its columns are {', '.join(columns)}.")
        new = {name.casefold() for name in self.names}  # many engines do not tell a from A
        if self.level is not None and len(new) < len(self.names):
            raise InvalidInputError("A class is called like the interval of another one; leave out `level`.")
        taken = next((name for name in columns if name.casefold() in new and not only_new), None)
        if taken is not None:
            raise InvalidInputError(f"{table} already has a column '{taken}'; choose another with `name`.")

    def check_most(self, table: str) -> None:
        """Refuse a table in which most rows got no probability."""
        if self.unusable > 0.5 * self.rows:
            raise InvalidInputError(
                f"{self.unusable} of the {self.rows} rows of {table} have scores that are missing or that the map does "
                "not take, so nothing was written; are these the scores that it was fitted to, on the same scale?"
            )

    def from_batch(self, batch: Any) -> list[Floats]:
        """Return the new columns of a batch."""
        if isinstance(self.map_, PanelMap):
            return self._fill(*self._read_panel(batch), None)
        scores = [to_doubles(batch.column(score), score) for score in self.scores]
        return self.compute(scores, self.segments.encode(batch) if self.segments else None)

    def _read_panel(self, batch: Any) -> tuple[Bools, dict[str, Any]]:
        """Which rows of several scores can be used, and their columns; a missing score is no reason not to."""
        usable, columns = np.ones(batch.num_rows, dtype=bool), {}
        for score in self.map_.features.scores:
            column = batch.column(score.name)
            if isinstance(score, NumericScore):
                columns[score.name] = values = to_doubles(column, score.name)
                low, high = domain(score.space)
                usable &= ~((values < low) | (values > high))
            else:
                columns[score.name] = np.array(column.to_pylist(), dtype=object)
        return usable, {name: values[usable] for name, values in columns.items()}

    def compute(self, columns: list[Floats], codes: Ints | None = None) -> list[Floats]:
        """Return the new columns from score columns and numbers of segments; NaN stands for a missing probability."""
        is_matrix = isinstance(self.map_, MatrixMap)
        scores = np.column_stack(columns) if is_matrix else np.maximum.reduce(columns)
        usable = self.map_.accepts(scores)
        if not is_matrix and usable.any():
            good, (low, high) = scores[usable], self.range or (np.inf, -np.inf)
            self.range = min(low, float(good.min())), max(high, float(good.max()))
            if self.fitted_range is not None:
                lowest, highest = self.fitted_range
                self.outside += int(((good < lowest) | (good > highest)).sum())
        return self._fill(usable, scores[usable], None if codes is None else codes[usable])

    def _fill(self, usable: Bools, scores: Any, codes: Ints | None) -> list[Floats]:
        """The probabilities of usable rows and, where wanted, the ends of their intervals; by segment if coded."""
        new = np.full((len(usable), len(self.names)), np.nan)
        if usable.any():
            found = [self.map_(scores) if codes is None else self.map_.probabilities(scores, codes)]
            if self.level is not None and codes is None:
                found += self.map_.predict_interval(scores, self.level)
            elif self.level is not None:
                found += self.map_.interval(scores, codes, self.level)
            new[usable] = np.column_stack(found)
        self.rows += len(new)
        self.unusable += int((~usable).sum())
        return list(new.T)

    def remarks(self) -> Iterator[str]:
        """Say what deserves attention after all batches."""
        if self.unusable:
            yield (
                f"{self.unusable} rows have scores that are missing or that the map does not take; their result is "
                "empty."
            )
        if self.segments is not None and self.segments.unseen_rows:
            instead = "the pooled map is used" if len(self.segments.by) == 1 else "only their other keys count"
            rows = self.segments.unseen_rows
            yield f"{rows} rows have a segment that the fit did not see; for these rows {instead}."
        if self.range is None or self.fitted_range is None:
            return
        (low, high), (lowest, highest) = self.fitted_range, self.range
        is_narrow = self.rows >= FEW_ROWS and highest - lowest < NARROW * (high - low)
        if is_narrow or self.outside > 0.5 * self.rows:
            yield (
                f"The scores go from {lowest:.4g} to {highest:.4g}; the model was fitted to scores from about "
                f"{low:.4g} to {high:.4g}. Are they on the same scale?"
            )


def to_doubles(column: Any, name: str) -> Floats:
    """Return an Arrow column of numbers, booleans or texts of numbers as doubles; NaN is missing."""
    try:
        if pa.types.is_string(column.type):
            column = pa.compute.utf8_trim_whitespace(column)
        elif pa.types.is_temporal(column.type):
            raise pa.ArrowTypeError(f"they are of type {column.type}")
        doubles: Floats = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    except (pa.ArrowException, TypeError) as error:
        raise InvalidInputError(f"The scores in '{name}' must be numbers: {error}.") from None
    return doubles


class SegmentReader:
    """Reads segments; counts rows with segments that the fit did not see.

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
        self.keys, self.by, self.missing = keys, keys.columns(by), missing
        _validation.check_choice("missing", missing, MISSING)
        self.unseen_rows = 0

    def encode(self, batch: Any) -> Ints:
        """The numbers of the segments of a batch, (n, keys)."""
        codes = np.column_stack([self._encode(k, batch.column(name)) for k, name in enumerate(self.by)])
        self.unseen_rows += int((codes == UNSEEN).any(axis=1).sum())
        return codes

    def _encode(self, k: int, column: Any) -> Ints:
        """The numbers of the segments in a column of key `k`; each distinct value is looked up once."""
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        encoded = self._read(k, column).dictionary_encode(null_encoding="encode")
        values = np.array(encoded.dictionary.to_pylist(), dtype=object)
        if self.missing == "error" and any(map(_validation.is_missing, values)):
            raise InvalidInputError(
                f"Column '{self.by[k]}' must have no missing segments, as in the fit; fill them, or use "
                "missing='segment'."
            )
        return self.keys.encode_column(k, values, len(values), "segment")[encoded.indices.to_numpy()]

    def _read(self, k: int, column: Any) -> Any:
        """The column in the type of its key: text of CSV is read as in the fit, dates and the like become text."""
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
