"""Several classes: the matrix of their scores, and the label that each column stands for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.cli.columns import Columns
from calibrant.cli.errors import Problem
from calibrant.cli.missing import ADVICE, describe_missing
from calibrant.cli.printing import progress
from calibrant.engines.tables import Table, quote

if TYPE_CHECKING:
    from calibrant._typing import Floats, Ints
    from calibrant.maps.matrix import MatrixMap


@dataclass(frozen=True)
class ClassRows:
    """Rows of several classes: scores (n, K), column numbers of the labels, weights, and what the columns are."""

    scores: Floats
    labels: Ints
    weights: Floats | None
    classes: tuple[Any, ...]
    columns: tuple[str, ...]
    space: str

    def probabilities(self, map_: MatrixMap | None = None) -> Floats:
        """Return the class probabilities: of a map, of logits, or as they are."""
        from calibrant._numerics.softmax import softmax
        from calibrant._validation import read_matrix

        if map_ is not None:
            return map_(self.scores)
        matrix: Floats = np.asarray(read_matrix(self.scores, self.space), dtype=np.float64)
        return softmax(matrix) if self.space == "decision" else matrix


def are_several(columns: Columns, top_label: bool, logits: bool) -> bool:
    """Tell whether a command works on the whole matrix; what says otherwise is refused."""
    several = len(columns.scores) > 1 and not top_label
    if logits and not several:
        raise Problem("--logits is for the score columns of several classes; --top-label takes probabilities.")
    return several


def read_classes(table: Table, columns: Columns, logits: bool) -> ClassRows:
    """Read the score columns, labels and weights of a table."""
    missing = describe_missing(table, columns)
    if missing is not None:
        raise Problem(f"{missing} {ADVICE}")
    classes = class_of(table, columns)
    weight = [] if columns.weight is None else [columns.weight]
    label = quote(columns.label) if table.is_number(columns.label) else f"{quote(columns.label)}::VARCHAR"
    wanted = [f"{quote(name)}::{_kind(table, columns)} AS s{place}" for place, name in enumerate(columns.scores)]
    wanted += [f"{quote(name)}::DOUBLE AS weight" for name in weight]
    with progress(f"reading {table.name}"):
        read = table.relation.project(", ".join([*wanted, f"{label} AS label"])).fetchnumpy()
    if not len(read["label"]):
        raise Problem(f"{table.name} has no rows.")
    places = {label: place for place, label in enumerate(classes.values())}
    return ClassRows(
        np.column_stack([_filled(read[f"s{place}"]) for place in range(len(classes))]),
        _column_numbers(read["label"], places),
        _filled(read["weight"]) if weight else None,
        tuple(classes.values()),
        columns.scores,
        "decision" if logits else "probability",
    )


def _kind(table: Table, columns: Columns) -> str:
    """Return the type to read scores in: single precision takes half of the memory where there is no more."""
    return "FLOAT" if all(table.kind(name) == "FLOAT" for name in columns.scores) else "DOUBLE"


def _filled(values: Any) -> Floats:
    """Return numbers with NaN for those that are missing."""
    filled: Floats = np.ma.filled(values, np.nan)
    return filled


def _column_numbers(labels: Any, places: dict[Any, int]) -> Ints:
    known, inverse = np.unique(np.ma.getdata(labels), return_inverse=True)
    return np.array([places[label] for label in known.tolist()], dtype=np.intp)[inverse]


def class_of(table: Table, columns: Columns) -> dict[str, Any]:
    """Return the label that each score column stands for.

    Labels are the names of the columns, their ends behind a common beginning (``p_cat``, ``p_dog``), or the numbers
    0 … K−1 in the order of the columns.
    """
    names = columns.scores
    labels = set(table.distinct(columns.label, len(names) + 1))
    shared = len(os.path.commonprefix(names))  # noqa: RUF071 - letter by letter is meant
    # What the names share may belong to the labels, too: cat and car in p_cat and p_car.
    ends = [[name[start:] for name in names] for start in range(shared + 1)]
    if table.is_number(columns.label):
        numbers = [[int(text) for text in texts] for texts in ends if all(text.isdigit() for text in texts)]
        candidates: list[list[Any]] = [*numbers, list(range(len(names)))]
    else:
        candidates, labels = ends, {str(label) for label in labels}
    for candidate in candidates:
        if labels <= set(candidate):
            return dict(zip(names, candidate, strict=True))
    raise Problem(
        f"The labels in '{columns.label}' must be the names of the score columns ({', '.join(names[:6])}) or 0 … "
        f"{len(names) - 1} in their order; got {', '.join(map(repr, sorted(labels, key=str)[:6]))}."
    )
