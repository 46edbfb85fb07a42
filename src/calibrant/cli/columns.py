"""Which columns hold scores, labels and weights: as told, or guessed where there is little doubt, and then said.

Rows that have no value there are counted, or left out where --drop-missing says so.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from calibrant.cli.printing import note, shorten
from calibrant.engines.tables import Table, quote, suggest
from calibrant.errors import InvalidInputError

SCORE_NAMES = ("score", "scores", "probability", "prob", "proba", "p", "y_prob", "y_score", "prediction", "confidence")
LABEL_NAMES = ("label", "labels", "y", "y_true", "target", "class", "outcome", "truth", "hit", "event", "correct")

MOST_CLASSES = 1000
MOST_SHOWN = 12
REPAIR = "Add --drop-missing to leave them out, or repair them."


@dataclass(frozen=True)
class Columns:
    """The columns of a command: one score, or one for each class; of a command line, an empty name is not given."""

    scores: tuple[str, ...]
    label: str
    weight: str | None = None
    by: tuple[str, ...] = ()
    groups: str | None = None

    @property
    def score(self) -> str:
        """The score of a problem of two classes."""
        return self.scores[0]


def choose_columns(table: Table, named: Columns, *, any_scores: bool = False) -> Columns:
    """Check the given names and guess what is missing; what was guessed is said. Any scores may be text."""
    scores, label = split_names(table, named.scores, "--score"), named.label
    keys = split_names(table, named.by, "--by")
    for option, name in (("--label", label), ("--groups", named.groups), *(("--by", key) for key in keys)):
        if name:
            check_name(table, name, option)
    for name in scores:
        (check_name if any_scores else check_number)(table, name, "--score")
    if label in scores:
        raise InvalidInputError(f"--score and --label must name different columns; both name '{label}'.")
    if named.weight is not None:
        check_number(table, named.weight, "--weight")
    taken = {*scores, label, named.weight, *keys, named.groups}
    free = [name for name in table.columns if name not in taken]
    if not label:
        label = _guess(table, free, LABEL_NAMES, "--label", lambda name: len(table.distinct(name, 3)) <= 2)
        free.remove(label)
    if not scores:
        known = any(name.lower() in SCORE_NAMES for name in free)
        scores = () if known else _scores_of_classes(table, free, label)
        scores = scores or (_guess(table, free, SCORE_NAMES, "--score", table.is_number),)
        check_number(table, scores[0], "--score")
    if not named.scores or not named.label:
        note(f"Scores are read from {_describe(scores)}, labels from column '{shorten(label)}'.")
    return Columns(scores, label, named.weight, keys, named.groups)


def choose_scores(table: Table, scores: Sequence[str]) -> tuple[str, ...]:
    """Choose the score columns of a command that needs no labels."""
    named = split_names(table, scores, "--score")
    if not named:
        free = [name for name in table.columns if name.lower() not in LABEL_NAMES or len(table.columns) == 1]
        named = (_guess(table, free, SCORE_NAMES, "--score", table.is_number),)
        note(f"Scores are read from {_describe(named)}.")
    for name in named:
        check_number(table, name, "--score")
    return named


def split_names(table: Table, given: Sequence[str], option: str) -> tuple[str, ...]:
    """Return the columns that an option names: each value is a column with just that name, or several, a,b,c."""
    names = tuple(name for text in given for name in ((text,) if text in table.columns else split([text])))
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise InvalidInputError(f"{option} must name each column once; it names '{twice}' {names.count(twice)} times.")
    return names


def split(names: Sequence[str]) -> tuple[str, ...]:
    """Split names given by repeated options or with commas between them."""
    return tuple(name.strip() for given in names for name in given.split(",") if name.strip())


def check_name(table: Table, name: str, option: str) -> None:
    """Refuse a column that is not there."""
    if name in table.columns:
        return
    near = suggest(name, map(shorten, table.columns), f"Its columns are {list_names(table.columns)}.")
    raise InvalidInputError(f"{option} must name a column of {table.name}; there is no '{shorten(name)}'. {near}")


def check_number(table: Table, name: str, option: str) -> None:
    """Refuse a column that is not of numbers, and show what it holds."""
    check_name(table, name, option)
    if table.is_number(name):
        return
    column = quote(name)
    rows = table.values(f"SELECT {column} FROM rows WHERE try_cast({column}::VARCHAR AS DOUBLE) IS NULL LIMIT 1")
    if not rows and not table.values("SELECT 1 FROM rows LIMIT 1"):
        raise InvalidInputError(f"{table.name} has no rows below its header.")
    value = None if not rows or rows[0][0] is None else str(rows[0][0])
    example = "" if value is None else f", such as '{shorten(value, 40)}'"
    kind = "text" if table.kind(name) == "VARCHAR" else f"values of type {table.kind(name).lower()}"
    raise InvalidInputError(
        f"{option} must be a column of numbers; '{shorten(name)}' holds {kind}{example}.{_advice(value or '')}"
    )


def _advice(text: str) -> str:
    if re.fullmatch(r"[-+]?\d*,\d+", text.strip()):
        return " Write decimals with a point."
    if re.fullmatch(r"[-+]?[\d.]+ ?%", text.strip()):
        return " Write shares instead of percentages, 0.5 for 50 %."
    return ""


def _guess(table: Table, free: list[str], known: tuple[str, ...], option: str, fits: Callable[[str], bool]) -> str:
    by_name = [name for word in known for name in free if name.lower() == word]
    fitting = free if len(free) == 1 else [name for name in free if len(table.columns) <= 2 and fits(name)]
    if by_name or (len(fitting) == 1 and len(table.columns) <= 2):
        return (by_name or fitting)[0]
    columns, what = list_names(table.columns), "labels" if option == "--label" else "scores"
    if len(table.columns) == 1:
        raise InvalidInputError(f"{table.name} has only the column {columns}; it needs scores and labels.")
    raise InvalidInputError(f"Say which column of {table.name} holds the {what}, with {option}; it has {columns}.")


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


def _describe(names: Sequence[str]) -> str:
    return f"column{'s' * (len(names) > 1)} {list_names(names)}"


def list_names(names: Sequence[str]) -> str:
    """Names of columns in quotation marks; the first of many, and how many more there are."""
    shown = ", ".join(f"'{shorten(name)}'" for name in names[:MOST_SHOWN])
    return f"{shown} and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else shown


def drop_missing(table: Table, columns: Columns) -> Table:
    """Return the table without rows that lack a score or a label, and say how many these are."""
    text = table.describe_missing(columns.scores, columns.label)
    if text is None:
        return table
    note(f"{text} Such rows are left out.")
    lacking = " OR ".join(table.lacks(name) for name in (*columns.scores, columns.label))
    return Table(table.name, table.relation.filter(f"NOT ({lacking})"), connection=table.connection)
