"""Which columns hold scores, labels and weights: as told, or guessed where there is little doubt, and then said."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibrant.cli.errors import Problem
from calibrant.cli.printing import note, shorten

if TYPE_CHECKING:
    from calibrant.engines.tables import Table

__all__ = ["Columns", "check_number", "choose", "choose_scores", "open_files", "open_with_columns", "split"]

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


@contextmanager
def open_files(files: list[str]) -> Iterator[Table]:
    """Open the table in some files; - is standard input."""
    import sys

    from calibrant.engines import open_table

    if files == ["-"] and sys.stdin.isatty():
        note("Reading the table from the terminal; end it with Ctrl-D.")
    with open_table(files) as table:
        yield table


@contextmanager
def open_with_columns(
    files: list[str], scores: list[str] | None, *names: str | None
) -> Iterator[tuple[Table, Columns]]:
    """Open the table in some files, and choose its columns: score, label, weight, segments."""
    with open_files(files) as table:
        yield table, choose(table, scores or [], *names)


def choose(
    table: Table, scores: Sequence[str], label: str | None, weight: str | None = None, by: str | None = None
) -> Columns:
    """Check the given names and guess what is missing."""
    named = _split_scores(table, scores)
    for option, name in (("--label", label), ("--weight", weight), ("--by", by)):
        if name is not None:
            _check_name(table, name, option)
    for name in named:
        check_number(table, name, "--score")
    if label in named:
        raise Problem(f"--score and --label must name different columns; both name '{label}'.")
    if weight is not None:
        check_number(table, weight, "--weight")
    taken = {*named, label, weight, by}
    free = [name for name in table.columns if name not in taken]
    if label is None:
        label = _guess(table, free, LABEL_NAMES, "--label", lambda name: len(table.distinct(name, 3)) <= 2)
        free.remove(label)
    if not named:
        known = any(name.lower() in SCORE_NAMES for name in free)
        named = () if known else _scores_of_classes(table, free, label)
        named = named or (_guess(table, free, SCORE_NAMES, "--score", table.is_number),)
        check_number(table, named[0], "--score")
    if not scores or label not in taken:
        more = f" and {len(named) - MOST_SHOWN} more" if len(named) > MOST_SHOWN else ""
        several = "columns" if len(named) > 1 else "column"
        shown = ", ".join(map(shorten, named[:MOST_SHOWN]))
        note(f"Scores are read from {several} '{shown}'{more}, labels from column '{shorten(label)}'.")
    return Columns(named, label, weight, by)


def choose_scores(table: Table, scores: Sequence[str]) -> tuple[str, ...]:
    """Choose the score columns of a command that needs no labels."""
    named = _split_scores(table, scores)
    if not named:
        free = [name for name in table.columns if name.lower() not in LABEL_NAMES or len(table.columns) == 1]
        named = (_guess(table, free, SCORE_NAMES, "--score", table.is_number),)
        note(f"Scores are read from column '{shorten(named[0])}'.")
    for name in named:
        check_number(table, name, "--score")
    return named


def _split_scores(table: Table, given: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that --score names: each value is a column with just that name, or several, a,b,c."""
    names = tuple(name for text in given for name in ((text,) if text in table.columns else split([text])))
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise Problem(f"--score must name each column once; it names '{twice}' {names.count(twice)} times.")
    return names


def split(names: Sequence[str]) -> tuple[str, ...]:
    """Split names given by repeated options or with commas between them."""
    return tuple(name.strip() for given in names for name in given.split(",") if name.strip())


def _check_name(table: Table, name: str, option: str) -> None:
    if table.columns.count(name) > 1:
        raise Problem(f"{table.name} has {table.columns.count(name)} columns '{name}'; rename one of them.")
    if name in table.columns:
        return
    lower = {column.lower(): column for column in table.columns}
    near = [lower[key] for key in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.5)]
    hint = f"Did you mean {_list(near, ' or ')}?" if near else f"Its columns are {_list(table.columns)}."
    raise Problem(f"{option} must name a column of {table.name}; there is no '{shorten(name)}'. {hint}")


def check_number(table: Table, name: str, option: str) -> None:
    """Refuse a column that is not of numbers, and show what it holds."""
    _check_name(table, name, option)
    if table.is_number(name):
        return
    column = table.quote(name)
    rows = table.values(f"SELECT {column} FROM rows WHERE try_cast({column}::VARCHAR AS DOUBLE) IS NULL LIMIT 1")
    if not rows and not table.values("SELECT 1 FROM rows LIMIT 1"):
        raise Problem(f"{table.name} has no rows below its header.")
    value = None if not rows or rows[0][0] is None else str(rows[0][0])
    example = "" if value is None else f", such as '{shorten(value, 40)}'"
    kind = "text" if table.kind(name) == "VARCHAR" else f"values of type {table.kind(name).lower()}"
    raise Problem(
        f"{option} must be a column of numbers; '{shorten(name)}' holds {kind}{example}.{_advice(value or '')}"
    )


def _advice(text: str) -> str:
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
    if len(table.columns) == 1:
        raise Problem(f"{table.name} has only one column, {_list(table.columns)}; it needs scores and labels.")
    what = "labels" if option == "--label" else "scores"
    raise Problem(f"Say which column of {table.name} holds the {what}, with {option}; it has {_list(table.columns)}.")


def _scores_of_classes(table: Table, free: list[str], label: str) -> tuple[str, ...]:
    """Return the columns named after three labels or more, such as p_cat, p_dog, p_fox for cat, dog, fox."""
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


def _list(names: Sequence[str], sign: str = ", ") -> str:
    shown = sign.join(f"'{shorten(name)}'" for name in names[:MOST_SHOWN])
    return f"{shown} and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else shown
