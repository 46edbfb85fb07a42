"""The columns of a tally under names of their own, and what must hold for them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from calibrant import _validation
from calibrant.engines.sources import nw
from calibrant.errors import InvalidInputError

__all__ = ["Cells", "Labels", "Rows", "check_cells", "fetch", "select_rows", "survey"]

SHOWN_LABELS = 6
LARGEST_SCORE = 1e290  # differences of scores must not overflow
Cells = dict[str, np.ndarray[Any, Any]]
Labels = tuple[Any, Any]


@dataclass(frozen=True)
class Rows:
    """A lazy frame of `score`, `label` and maybe `weight` and `segment`, and the user's names for them."""

    frame: Any
    score: str
    label: str
    weight: str | None
    by: str | None

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns that tell tallies apart; engines are faster without a constant one."""
        return () if self.by is None else ("segment",)


def select_rows(frame: Any, score: str, label: str, weight: str | None, by: str | None) -> Rows:
    """Find and check the columns. Nothing is read."""
    schema = frame.collect_schema()
    for role, name in {"score": score, "label": label, "weight": weight, "by": by}.items():
        if name is not None and name not in schema:
            _refuse_name(name, role, schema.names())
    columns = {"score": _as_number(score, schema)}
    columns["label"] = _as_number(label, schema) if schema[label] == nw.Boolean else nw.col(label)
    if weight is not None:
        columns["weight"] = _as_number(weight, schema)
    if by is not None:
        segment = nw.col(by)
        # NaN is missing like NULL, and one segment with it.
        columns["segment"] = nw.when(~segment.is_nan()).then(segment) if schema[by].is_float() else segment
    return Rows(frame.select(**columns), score, label, weight, by)


def _refuse_name(name: str, role: str, names: list[str]) -> NoReturn:
    near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.4)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"It has {', '.join(names)}."
    raise InvalidInputError(f"`{role}` must name a column of the table; there is no {name!r}. {hint}")


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
    """Run a query: columns of doubles, and `segment` as Python values, None where it is missing."""
    table = frame.collect()
    cells: Cells = {x: np.asarray(table[x].to_numpy(), np.float64) for x in table.columns if x != "segment"}
    cells["segment"] = np.full(len(table), None, object)
    if "segment" in table.columns:
        is_known = ~table["segment"].is_null().to_numpy()
        cells["segment"][is_known] = table["segment"].drop_nulls().to_list()
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
        raise InvalidInputError("`source` must have at least one row; got 0 sample(s), the table is empty.")
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
        raise InvalidInputError(
            f"`{rows.weight}` must be finite and not negative; {bad:.0f} row(s) have NaN, NULL, inf or a negative one."
        )


def _refuse_scores(rows: Rows) -> NoReturn:
    raise InvalidInputError(
        f"`{rows.score}` must be finite; got NaN, NULL, inf or a number beyond {LARGEST_SCORE:g}. Drop or repair these "
        "rows first."
    )
