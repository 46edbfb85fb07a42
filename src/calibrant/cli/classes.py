"""Several score columns: which class each stands for, and the views of them that have two outcomes."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import Any

from calibrant.cli.columns import Columns
from calibrant.cli.problems import Problem
from calibrant.cli.tables import Table, quoted

__all__ = ["class_of", "one_against_rest", "predicted_class", "top_label"]

PREDICTED = "calibrant_predicted"


def class_of(table: Table, columns: Columns) -> dict[str, Any]:
    """The label that each score column stands for.

    Labels are the names of the columns, their ends behind a common beginning (``p_cat``, ``p_dog``), or the numbers
    0 … K−1 in the order of the columns.
    """
    names = columns.scores
    labels = set(table.distinct(columns.label, len(names) + 1))
    shared = len(list(takewhile(lambda signs: len(set(signs)) == 1, zip(*names, strict=False))))
    # What the names share may belong to the labels, too: cat and car in p_cat and p_car.
    ends = [[name[start:] for name in names] for start in range(shared + 1)]
    if table.is_number(columns.label):
        numbers = [_numbers(texts) for texts in ends]
        candidates: list[list[Any]] = [*filter(None, numbers), list(range(len(names)))]
    else:
        candidates, labels = ends, {str(label) for label in labels}
    for candidate in candidates:
        if labels <= set(candidate):
            return dict(zip(names, candidate, strict=True))
    raise Problem(
        f"The labels in '{columns.label}' must be the names of the score columns ({', '.join(names[:6])}) or 0 … "
        f"{len(names) - 1} in their order; got {', '.join(map(repr, sorted(labels, key=str)[:6]))}."
    )


def _numbers(texts: list[str]) -> list[int] | None:
    return [int(text) for text in texts] if all(text.isdigit() for text in texts) else None


def top_label(table: Table, columns: Columns) -> tuple[Table, Columns]:
    """The highest score of each row, and whether its class was right."""
    hit = f"{_winner(columns, class_of(table, columns))} = {quoted(columns.label)}"
    return _view(table, columns, highest_of(columns.scores), hit, "confidence", "hit")


def predicted_class(table: Table, columns: Columns) -> tuple[Table, Columns]:
    """The same as `top_label`, with the class of the highest score as segment."""
    classes = class_of(table, columns)
    winner = _winner(columns, {name: str(label) for name, label in classes.items()})
    whole = table.selected("*", f"{winner} AS {quoted(PREDICTED)}")
    return top_label(whole, replace(columns, by=PREDICTED))


def _winner(columns: Columns, classes: dict[str, Any]) -> str:
    """The class of the highest score, in SQL; of equal scores the first column wins, as with argmax."""
    highest = highest_of(columns.scores)
    cases = " ".join(f"WHEN {quoted(name)} = {highest} THEN {literal(label)}" for name, label in classes.items())
    return f"(CASE {cases} END)"


def highest_of(names: tuple[str, ...]) -> str:
    """The highest score of a row, in SQL."""
    return f"greatest({', '.join(map(quoted, names))})"


def one_against_rest(table: Table, columns: Columns, name: str, label: Any) -> tuple[Table, Columns]:
    """The score of one class, and whether the row is of that class."""
    return _view(table, columns, quoted(name), f"{quoted(columns.label)} = {literal(label)}", name, "is_" + name)


def _view(table: Table, columns: Columns, score: str, label: str, *names: str) -> tuple[Table, Columns]:
    expressions = [f"{score} AS {quoted(names[0])}", f"({label}) AS {quoted(names[1])}"]
    expressions += [quoted(name) for name in (columns.weight, columns.by) if name is not None]
    return table.selected(*expressions), Columns((names[0],), names[1], columns.weight, columns.by)


def literal(value: Any) -> str:
    """A label as SQL writes it."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
