"""Which columns hold scores, labels and weights: as told, or guessed where there is little doubt, and then said."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from calibrant.cli.printing import note
from calibrant.cli.problems import Problem
from calibrant.cli.tables import Table, quoted

__all__ = ["Columns", "checked", "choose", "choose_score", "number", "score_names", "split"]

SCORE_NAMES = ("score", "scores", "probability", "prob", "proba", "p", "y_prob", "y_score", "prediction", "confidence")
LABEL_NAMES = ("label", "labels", "y", "y_true", "target", "class", "outcome", "truth", "hit", "event")

MOST_CLASSES = 1000
MOST_SHOWN = 12


@dataclass(frozen=True)
class Columns:
    """The columns of a command: one score, or one for each class."""

    scores: tuple[str, ...]
    label: str
    weight: str | None = None
    by: str | None = None

    @property
    def score(self) -> str:
        """The score of a problem of two classes."""
        return self.scores[0]


def choose(
    table: Table, scores: Sequence[str], label: str | None, weight: str | None = None, by: str | None = None
) -> Columns:
    """Check the given names and guess what is missing."""
    named = score_names(table, scores)
    for option, name in (("--label", label), ("--weight", weight), ("--by", by)):
        if name is not None:
            checked(table, name, option)
    for name in named:
        number(table, name, "--score")
    if label in named:
        raise Problem(f"--score and --label must name different columns; both name '{label}'.")
    if weight is not None:
        number(table, weight, "--weight")
    taken = {*named, label, weight, by}
    free = [name for name in table.columns if name not in taken]
    if label is None:
        label = _guess(table, free, LABEL_NAMES, "--label", lambda name: len(table.distinct(name, 3)) <= 2)
        free.remove(label)
    if not named:
        known = any(name.lower() in SCORE_NAMES for name in free)
        named = () if known else _of_classes(table, free, label)
        named = named or (_guess(table, free, SCORE_NAMES, "--score", table.is_number),)
        number(table, named[0], "--score")
    if not scores or label not in taken:
        more = f" and {len(named) - MOST_SHOWN} more" if len(named) > MOST_SHOWN else ""
        several = "columns" if len(named) > 1 else "column"
        shown = ", ".join(named[:MOST_SHOWN])
        note(f"Scores are read from {several} '{shown}'{more}, labels from column '{label}'.")
    return Columns(named, label, weight, by)


def choose_score(table: Table, scores: Sequence[str]) -> tuple[str, ...]:
    """The score columns of a command that needs no labels."""
    named = score_names(table, scores)
    if not named:
        free = [name for name in table.columns if name.lower() not in LABEL_NAMES or len(table.columns) == 1]
        named = (_guess(table, free, SCORE_NAMES, "--score", table.is_number),)
        note(f"Scores are read from column '{named[0]}'.")
    for name in named:
        number(table, name, "--score")
    return named


def score_names(table: Table, given: Sequence[str]) -> tuple[str, ...]:
    """The columns that ``--score`` names: each of its values is a column with just that name, or several, a,b,c."""
    names = tuple(name for text in given for name in ((text,) if text in table.columns else split([text])))
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise Problem(f"--score must name each column once; it names '{twice}' {names.count(twice)} times.")
    return names


def split(names: Sequence[str]) -> tuple[str, ...]:
    """Names given by repeated options or with commas between them."""
    return tuple(name.strip() for given in names for name in given.split(",") if name.strip())


def checked(table: Table, name: str, option: str) -> str:
    """A column's name, or an error with the near ones."""
    if name in table.columns:
        return name
    lower = {column.lower(): column for column in table.columns}
    near = [lower[key] for key in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.5)]
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"Its columns are {_listed(table.columns)}."
    raise Problem(f"{option} must name a column of {table.name}; there is no {name!r}. {hint}")


def number(table: Table, name: str, option: str) -> None:
    """Refuse a column that is not of numbers, and show what it holds."""
    checked(table, name, option)
    if table.is_number(name):
        return
    column = quoted(name)
    found = table.values(f"SELECT {column} FROM rows WHERE try_cast({column}::VARCHAR AS DOUBLE) IS NULL LIMIT 1")
    if not found and not table.values("SELECT 1 FROM rows LIMIT 1"):
        raise Problem(f"{table.name} has no rows below its header.")
    example = f", such as {str(found[0][0])[:40]!r}" if found and found[0][0] is not None else ""
    hint = _how_to_write(str(found[0][0])) if found else ""
    raise Problem(f"{option} must be a column of numbers; '{name}' holds {_kind(table, name)}{example}.{hint}")


def _how_to_write(text: str) -> str:
    if re.fullmatch(r"[-+]?\d*,\d+", text.strip()):
        return " Write decimals with a point."
    if re.fullmatch(r"[-+]?[\d.]+ ?%", text.strip()):
        return " Write shares instead of percentages, 0.5 for 50 %."
    return ""


def _guess(table: Table, free: list[str], known: tuple[str, ...], option: str, fits: Callable[[str], bool]) -> str:
    by_name = sorted((name for name in free if name.lower() in known), key=lambda name: known.index(name.lower()))
    if by_name:
        return by_name[0]
    if len(free) == 1 and len(table.columns) <= 2:
        return free[0]
    fitting = [name for name in free if len(table.columns) <= 2 and fits(name)]
    if len(fitting) == 1:
        return fitting[0]
    what = "labels" if option == "--label" else "scores"
    raise Problem(
        f"Say which column of {table.name} holds the {what}, with {option}; its columns are {_listed(table.columns)}."
        if len(table.columns) > 1
        else f"{table.name} has one column only ({table.columns[0]!r}); it needs a column of scores and one of labels."
    )


def _of_classes(table: Table, free: list[str], label: str) -> tuple[str, ...]:
    """The columns named after three labels or more, such as p_cat, p_dog, p_fox for cat, dog, fox; else nothing."""
    labels = [str(value) for value in table.distinct(label, MOST_CLASSES + 1)]
    if not 3 <= len(labels) <= MOST_CLASSES:
        return ()
    numbers = [name for name in free if table.is_number(name)]
    for start in (name.removesuffix(labels[0]) for name in numbers if name.endswith(labels[0])):
        named = {start + text for text in labels}
        if named <= set(numbers):
            # A class without rows has a column, too.
            return tuple(name for name in numbers if name in named or (start and name.startswith(start)))
    return ()


def _kind(table: Table, name: str) -> str:
    kind = table.kind(name)
    return "text" if kind == "VARCHAR" else f"values of type {kind.lower()}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:MOST_SHOWN])
    return f"{shown} and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else shown
