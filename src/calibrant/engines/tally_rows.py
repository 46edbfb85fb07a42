"""The columns of a tally under names of their own, and what must hold for them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from calibrant import _validation
from calibrant._optional import require
from calibrant.engines.table_files import suggest
from calibrant.errors import InvalidInputError

nw: Any = require("narwhals.stable.v2", "tables", "calibrant.engines.tally")
SHOWN_LABELS = 6
LARGEST_SCORE = 1e290  # differences of scores must not overflow
BETWEEN, MISSING = "\x1f", "\x1e"  # control characters that separate the parts of a segment, or stand for none
Cells = dict[str, np.ndarray[Any, Any]]
Labels = tuple[Any, Any]


@dataclass(frozen=True)
class Rows:
    """A lazy frame of `score`, `label` and maybe `weight` and `segment`, and the user's names for them.

    A segment of several keys is one text, which every engine can compare, beside a column `key_…` for each key.
    """

    frame: Any
    score: str
    label: str
    weight: str | None
    by: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[str, ...]:
        """The column that tells tallies apart; engines are faster without a constant one."""
        return ("segment",) if self.by else ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the parts of a segment, where it has several."""
        return tuple(f"key_{i}" for i in range(len(self.by))) if len(self.by) > 1 else ()


def select_rows(frame: Any, score: str, label: str, weight: str | None, by: Sequence[str] = ()) -> Rows:
    """Find and check the columns. Nothing is read."""
    schema = frame.collect_schema()
    for role, name in [("score", score), ("label", label), ("weight", weight), *(("by", name) for name in by)]:
        if name is not None and name not in schema:
            near = suggest(str(name), schema.names(), f"It has {', '.join(schema.names())}.")
            raise InvalidInputError(f"`{role}` must name a column of the table; there is no {name!r}. {near}")
    columns = {"score": _as_number(score, schema)}
    columns["label"] = _as_number(label, schema) if schema[label] == nw.Boolean else nw.col(label)
    if weight is not None:
        columns["weight"] = _as_number(weight, schema)
    rows = Rows(frame, score, label, weight, tuple(by))
    segments = [_segment(name, schema) for name in by]
    columns |= dict(zip(rows.keys or rows.groups, segments, strict=True))
    frame = frame.select(**columns)
    if rows.keys:
        frame = frame.with_columns(segment=_joined(rows.keys))
    return replace(rows, frame=frame)


def _segment(name: str, schema: Any) -> Any:
    """The column, in which NaN is missing like NULL, and one segment with it."""
    column = nw.col(name)
    return nw.when(~column.is_nan()).then(column) if schema[name].is_float() else column


def _joined(names: Sequence[str]) -> Any:
    """One text for each combination of values, never NULL."""
    texts = [
        nw.when(nw.col(name).is_null()).then(nw.lit(MISSING)).otherwise(nw.col(name).cast(nw.String)) for name in names
    ]
    return nw.concat_str(texts, separator=BETWEEN)


def _as_number(name: str, schema: Any) -> Any:
    """The column as doubles; anything but numbers is refused."""
    column, kind = nw.col(name), schema[name]
    if kind == nw.Boolean:
        # A bare cast would reach DuckDB's reader of CSV files, which would then look for numbers instead of true.
        column = column == nw.lit(True)
    elif not kind.is_numeric():
        raise InvalidInputError(f"`{name}` must be numbers; got {str(kind).lower()}. Convert it to float first.")
    return column.cast(nw.Float64)


def fetch(frame: Any) -> Cells:
    """Run a query: columns of doubles, and segments and their keys as Python values, None where they are missing."""
    table = frame.collect()
    named = [x for x in table.columns if x == "segment" or x.startswith("key_")]
    cells: Cells = {x: np.asarray(table[x].to_numpy(), np.float64) for x in table.columns if x not in named}
    for x in {"segment", *named}:
        cells[x] = np.full(len(table), None, object)
    for x in named:
        is_known = ~table[x].is_null().to_numpy()
        cells[x][is_known] = table[x].drop_nulls().to_list()
    return cells


def survey(rows: Rows, pos_label: Any) -> tuple[float, float, Labels]:
    """The extremes of the scores, and the negative and the positive label, as far as can be told without a scan.

    Many engines know extremes from statistics, without reading the columns.
    """
    kind = rows.frame.collect_schema()["label"]
    wanted = {"rows": nw.len(), "low": nw.col("score").min(), "high": nw.col("score").max()}
    if kind.is_numeric():
        wanted["lowest_label"] = nw.col("label").min()
    extremes = {name: values.item() for name, values in fetch(rows.frame.select(**wanted)).items()}
    if extremes["rows"] == 0:
        raise InvalidInputError("`source` must have at least one row; the table is empty.")
    if not (extremes["low"] >= -LARGEST_SCORE and extremes["high"] <= LARGEST_SCORE):  # not so for NaN, either
        _refuse_scores(rows)
    if pos_label is not None or not kind.is_numeric():
        return extremes["low"], extremes["high"], _read_labels(rows, pos_label)
    # Labels of 0 and 1 or -1 and 1 need not be looked up. If there are others, the scan will show it.
    return extremes["low"], extremes["high"], (-1 if extremes["lowest_label"] < 0.0 else 0, 1)


def _read_labels(rows: Rows, pos_label: Any) -> Labels:
    """The negative and the positive label, checked as for arrays, from the distinct values alone."""
    distinct = rows.frame.select("label").unique().head(SHOWN_LABELS).collect()["label"]
    labels = distinct.to_list()
    if distinct.is_null().any() or any(label != label for label in labels):  # noqa: PLR0124  # NaN differs from itself
        raise InvalidInputError(f"`{rows.label}` must have no missing labels; got NULL or NaN. Drop these rows first.")
    negative, positive = _validation.encode_labels(np.array(sorted(labels)), pos_label, rows.label)[1]
    return tuple(x.item() if isinstance(x, np.generic) else x for x in (negative, positive))


def check_cells(cells: Cells, rows: Rows, pos_label: Any) -> None:
    """Refuse wrong scores, labels and weights; rows that were not counted as good have a wrong one."""
    if not np.isfinite(cells["key"]).all():
        _refuse_scores(rows)
    if (cells["labelled"] != cells["rows"]).any():
        _read_labels(rows, pos_label)  # says what is wrong with them
        raise InvalidInputError(f"`{rows.label}` must have two classes; another one came up while rows were counted.")
    bad = (cells["rows"] - cells["weighed"]).sum() if rows.weight is not None else 0
    if bad:
        number = "1 row has" if bad == 1 else f"{bad:.0f} rows have"
        raise InvalidInputError(
            f"`{rows.weight}` must be finite and not negative; {number} NaN, NULL, inf or a negative one."
        )


def _refuse_scores(rows: Rows) -> NoReturn:
    raise InvalidInputError(
        f"`{rows.score}` must be finite; got NaN, NULL, inf or a number beyond {LARGEST_SCORE:g}. Drop or repair these "
        "rows first."
    )
