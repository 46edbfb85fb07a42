"""The columns of a tally under names of their own, and what must hold for them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from calibrant import _validation
from calibrant.engines.sources import nw
from calibrant.errors import InvalidInputError

__all__ = ["Cells", "Rows", "check_cells", "fetch", "select_rows", "survey"]

SHOWN_LABELS = 6
LARGEST_SCORE = 1e290  # differences of scores must not overflow
Cells = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Rows:
    """A lazy frame of `score`, `label` and maybe `weight` and `segment`, and the user's names for them."""

    frame: Any
    score: str
    label: str
    weight: str | None
    by: str | None
    pos_label: Any

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns that tell tallies apart."""
        return () if self.by is None else ("segment",)


@dataclass(frozen=True)
class Survey:
    """What is known before anything is counted: the range of the scores, and the negative and the positive label."""

    low: float
    high: float
    labels: tuple[Any, Any]


def fetch(frame: Any) -> Cells:
    """Run the query: columns of doubles, and `segment` as Python values, with None for a missing one."""
    result = frame.collect()
    columns = {name: result[name] for name in result.columns}
    cells: Cells = {k: np.asarray(v.to_numpy(), np.float64) for k, v in columns.items() if k != "segment"}
    if "segment" in columns:
        missing = columns["segment"].is_null().to_list()
        values = columns["segment"].to_list()
        cells["segment"] = np.empty(len(values), object)
        cells["segment"][:] = [None if gone else value for value, gone in zip(values, missing, strict=True)]
    return cells


def select_rows(
    frame: Any, *, score: str, label: str, weight: str | None, by: str | None, pos_label: Any = None
) -> Rows:
    """Find and check the columns. Nothing is read."""
    schema = frame.collect_schema()
    roles = {"score": score, "label": label, "weight": weight, "by": by}
    for role, name in roles.items():
        if name is not None:
            _check_name(name, role, schema.names())
    columns = {"score": _as_number(score, schema), "label": nw.col(label)}
    if weight is not None:
        columns["weight"] = _as_number(weight, schema)
    if by is not None:
        segment = nw.col(by)
        # NaN is missing like NULL, and one segment with it.
        columns["segment"] = nw.when(~segment.is_nan()).then(segment) if schema[by].is_float() else segment
    return Rows(frame.select(**columns), score, label, weight, by, pos_label)


def _check_name(name: str, role: str, names: list[str]) -> None:
    if name in names:
        return
    near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.4)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"It has {', '.join(names)}."
    raise InvalidInputError(f"`{role}` must name a column of the table; there is no {name!r}. {hint}")


def _as_number(name: str, schema: Any) -> Any:
    """The column as doubles; anything but numbers is refused."""
    if schema[name] == nw.Float64:
        return nw.col(name)
    if schema[name] == nw.Boolean:
        # Not a bare cast, which DuckDB hands on to the reader of a CSV file: that would look for numbers, not for true.
        return (nw.col(name) == nw.lit(True)).cast(nw.Float64)  # noqa: FBT003
    if not schema[name].is_numeric():
        kind = str(schema[name]).lower()
        raise InvalidInputError(f"`{name}` must be numbers; got {kind}. Convert the column to float first.")
    return nw.col(name).cast(nw.Float64)


def survey(rows: Rows) -> Survey:
    """Ask for the extremes; many engines answer from statistics, without reading the columns."""
    score, label = nw.col("score"), nw.col("label")
    kind = rows.frame.collect_schema()["label"]
    wanted = {"rows": nw.len(), "low": score.min(), "high": score.max()}
    if kind.is_numeric():
        wanted["lowest_label"] = label.cast(nw.Float64).min()
    extremes = {name: values[0] for name, values in fetch(rows.frame.select(**wanted)).items()}
    if extremes["rows"] == 0:
        raise InvalidInputError("`source` must have at least one row; got 0 sample(s), the table is empty.")
    low, high = extremes["low"], extremes["high"]
    if not max(-low, high) <= LARGEST_SCORE:
        _refuse_scores(rows)
    if rows.pos_label is not None or not (kind.is_numeric() or kind == nw.Boolean):
        return Survey(low, high, _read_labels(rows))
    # Labels of -1, 0 or 1 say which one is positive. Whether there are others, the scan will show.
    negative = -1 if extremes.get("lowest_label", 0.0) < 0.0 else 0
    return Survey(low, high, (False, True) if kind == nw.Boolean else (negative, 1))


def _read_labels(rows: Rows) -> tuple[Any, Any]:
    """The negative and the positive label, checked as for arrays, from the distinct values alone."""
    distinct = rows.frame.select("label").unique().head(SHOWN_LABELS).collect()["label"]
    values = distinct.to_list()
    if distinct.is_null().any() or any(value != value for value in values):  # noqa: PLR0124  # NaN differs from itself
        raise InvalidInputError(f"`{rows.label}` must have no missing labels; got NULL or NaN. Drop these rows first.")
    labels = _validation.encode_labels(np.array(sorted(values)), rows.pos_label, rows.label)[1]
    return tuple(x.item() if isinstance(x, np.generic) else x for x in labels)


def check_cells(cells: Cells, rows: Rows) -> None:
    """Refuse rows with a wrong score, label or weight: those that a cell has, but that were not counted as good."""
    if not np.isfinite(cells["key"]).all():
        _refuse_scores(rows)
    if (cells["labelled"] != cells["rows"]).any():
        _read_labels(rows)  # says what is wrong with them
        raise InvalidInputError(f"`{rows.label}` must have two classes; another one appeared while rows were counted.")
    if rows.weight is not None and (cells["weighed"] != cells["rows"]).any():
        bad = (cells["rows"] - cells["weighed"]).sum()
        raise InvalidInputError(
            f"`{rows.weight}` must be finite and not negative; {bad:.0f} row(s) have NaN, NULL, inf or a negative weight."
        )


def _refuse_scores(rows: Rows) -> NoReturn:
    score = nw.col("score")
    good = ((score >= -LARGEST_SCORE) & (score <= LARGEST_SCORE)).cast(nw.Float64)
    counts = fetch(rows.frame.select(good=good).select(rows=nw.len(), good=nw.col("good").sum()))
    raise InvalidInputError(
        f"`{rows.score}` must be finite; got NaN, NULL, inf or a number beyond {LARGEST_SCORE:g} in "
        f"{counts['rows'][0] - counts['good'][0]:.0f} row(s). Drop or repair these rows first."
    )
