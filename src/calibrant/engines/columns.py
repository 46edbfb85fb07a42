"""The columns of a tally inside an engine, and the checks that run in the same scans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant.engines.sources import Columns, Source
from calibrant.engines.sources import column as column_of
from calibrant.errors import InvalidInputError

__all__ = ["Rows", "Survey", "actual_labels", "as_number", "bind", "check_cells", "has_wrong_labels", "survey"]

SHOWN_LABELS = 6
WRONG = 2.0**50


@dataclass(frozen=True)
class Rows:
    """A table of `score`, `hit`, and maybe `segment` and `weight`, and what the user calls them.

    `hit` is 1 for a positive row and 0 for a negative one. Any other row has a `WRONG` so large that it shows in the
    sum, so that one sum both counts the labels and checks them.
    """

    table: Any
    score: str
    weight: str | None
    by: str | None

    @property
    def groups(self) -> tuple[str, ...]:
        """What cells are grouped by; engines are faster without a constant among them."""
        return ("key",) if self.by is None else ("segment", "key")

    def sums(self, table: Any) -> dict[str, Any]:
        """What a cell adds up."""
        if self.weight is None:
            return {"total": table.count(), "positive": table.hit.sum(), "offset": table.offset.sum()}
        weight, hit = table.weight, (table.hit == 1).cast("float64")
        bad = weight.isnull() | weight.isnan() | weight.isinf() | (weight < 0)
        return {
            "total": weight.sum(),
            "positive": (weight * hit).sum(),
            "offset": (weight * table.offset).sum(),
            "bad": bad.cast("int64").sum(),
            "labels": table.hit.sum(),
        }


Labels = tuple[Any, Any]


def bind(source: Source, *, score: str, label: str, weight: str | None, by: str | None, labels: Labels | None) -> Rows:
    """Find and check the columns; `labels` are the negative and the positive one. Nothing is read."""
    columns = {"score": as_number(column_of(source.table, score, "score"), score)}
    columns["hit"] = _hits(source, column_of(source.table, label, "label"), labels)
    if by is not None:
        columns["segment"] = column_of(source.table, by, "by")
    if weight is not None:
        columns["weight"] = as_number(column_of(source.table, weight, "weight"), weight)
    return Rows(source.table.select(**columns), score, weight, by)


def as_number(column: Any, name: str) -> Any:
    """The column as doubles; anything but numbers is refused."""
    kind = column.type()
    if not (kind.is_numeric() or kind.is_boolean()):
        raise InvalidInputError(f"`{name}` must be numbers; got {kind}. Convert the column to float first.")
    return column if kind.is_float64() else column.cast("float64")


def _hits(source: Source, column: Any, labels: Labels | None) -> Any:
    """1, 0 or `WRONG` for each row; with no labels to tell apart, the column itself."""
    if labels is None:
        return column.cast("int8") if column.type().is_boolean() else column
    negative, positive = map(bool, labels) if column.type().is_boolean() else labels
    one, zero, wrong = (source.number(value) for value in (1.0, 0.0, WRONG))
    return source.cases((column == positive, one), (column == negative, zero), else_=wrong)


@dataclass(frozen=True)
class Survey:
    """What is known before any cell is counted: the range of the scores, and the negative and the positive label.

    `labels` is None where the column holds 0 and 1 and nothing else.
    """

    low: float
    high: float
    labels: Labels | None

    @property
    def is_finite(self) -> bool:
        """Whether scores can be spread over their range."""
        return bool(np.isfinite(self.high - self.low))


def survey(source: Source, *, score: str, label: str, pos_label: Any) -> Survey:
    """One query for the extremes; many engines answer it from statistics, without reading the columns."""
    column, scores = column_of(source.table, label, "label"), as_number(column_of(source.table, score, "score"), score)
    kind = column.type()
    wanted = {"low": scores.min(), "high": scores.max()}
    is_plain = pos_label is None and (kind.is_boolean() or kind.is_integer())
    if is_plain:
        whole = column.cast("int8") if kind.is_boolean() else column
        wanted |= {"first": whole.min(), "last": whole.max(), "labels": column.count(), "rows": source.table.count()}
    found = {name: values[0] for name, values in source.run(source.table.aggregate(**wanted)).items()}
    low, high = (np.nan if found[name] is None else float(found[name]) for name in ("low", "high"))
    if is_plain and found["labels"] == found["rows"] > 0 and found["first"] >= 0 and found["last"] <= 1:
        return Survey(low, high, None)
    speaks = pos_label is None and (kind.is_boolean() or kind.is_numeric())
    return Survey(low, high, (0, 1) if speaks else actual_labels(source, label, pos_label))


def actual_labels(source: Source, label: str, pos_label: Any) -> Labels:
    """The negative and the positive label, checked as for arrays, from the distinct values alone."""
    found = source.run(
        source.table.select(value=column_of(source.table, label, "label")).distinct().limit(SHOWN_LABELS)
    )
    distinct = found["value"].tolist()
    if any(value is None or value != value for value in distinct):  # noqa: PLR0124  # NaN differs from itself
        raise InvalidInputError(f"`{label}` must have no missing labels; got NULL or NaN. Drop these rows first.")
    negative, positive = _validation.encode_labels(np.array(sorted(distinct)), pos_label, label)[1]
    return tuple(x.item() if isinstance(x, np.generic) else x for x in (negative, positive))


def check_cells(cells: Columns, rows: Rows) -> None:
    """Refuse what a scan has found: no rows, scores that are not finite, wrong weights."""
    if len(cells["key"]) == 0:
        raise InvalidInputError("`source` must have at least one row; got 0 sample(s), the table is empty.")
    bad = ~np.isfinite(cells["key"])
    if bad.any():
        raise InvalidInputError(
            f"`{rows.score}` must be finite; got NaN, NULL, inf or a number beyond 1e290 (weight of these rows: "
            f"{cells['total'][bad].sum():g}). Drop or repair these rows first."
        )
    if "bad" in cells and cells["bad"].sum() > 0:
        raise InvalidInputError(
            f"`{rows.weight}` must be finite and not negative; {int(cells['bad'].sum())} row(s) have NaN, NULL, inf or "
            "a negative weight."
        )


def has_wrong_labels(cells: Columns) -> bool:
    """Whether a row was neither positive nor negative."""
    return bool((cells.get("labels", cells["positive"]) >= WRONG).any())
