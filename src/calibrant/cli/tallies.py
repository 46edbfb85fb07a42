"""From tables to tallies: of all rows, of each segment, of the highest scores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calibrant.cli.classes import class_of
from calibrant.cli.columns import Columns, check_number, choose_columns, choose_scores
from calibrant.cli.errors import Problem, in_options
from calibrant.cli.missing import ADVICE, describe_missing, drop_missing
from calibrant.cli.printing import note, progress, shorten, warn
from calibrant.engines.tables import Table, open_table, quote

if TYPE_CHECKING:
    from calibrant.tally import Tally

MOST_SEGMENTS = 200
FEW_ROWS = 50
YES, NO = ("1", "yes", "true", "y", "t"), ("0", "no", "false", "n", "f")


@contextmanager
def open_with_columns(
    files: list[str], scores: list[str] | None, *names: Any, groups: str | None = None, drop: bool = False
) -> Iterator[tuple[Table, Columns]]:
    """Open the table in some files, and choose its columns: score, label, weight, segments, groups."""
    with open_table(files) as table:
        columns = choose_columns(table, scores or [], *names, groups=groups, say=note)
        yield drop_missing(table, columns) if drop else table, columns


def binary(table: Table, columns: Columns, top: bool, command: str) -> tuple[Table, Columns]:
    """Return the view of two outcomes that a command works on."""
    if top and len(columns.scores) < 2:
        raise Problem("--top-label needs the score columns of all classes; name them with --score a,b,c.")
    if top:
        return _top_label(table, columns)
    if len(columns.scores) > 1:
        raise Problem(f"{command} takes one score column; with the scores of several classes add --top-label.")
    return table, columns


def count(table: Table, columns: Columns, positive: str | None = None) -> Tally:
    """Count all rows, in the engine."""
    tally: Tally = _count(table, replace(columns, by=()), positive)
    return tally


def count_unlabelled(files: list[str], scores: list[str] | None, weight: str | None) -> Tally:
    """Count rows without labels, in the engine."""
    with open_table(files) as table:
        names = choose_scores(table, scores or [], say=note)
        if len(names) > 1:
            raise Problem("Estimates take one score column; name it with --score.")
        if weight is not None:
            check_number(table, weight, "--weight")
        columns = Columns(names, "label", weight)
        return count(*_view(table, columns, {"score": quote(names[0]), "unknown": "FALSE"}))


def count_by(table: Table, columns: Columns, positive: str | None = None) -> tuple[Tally, dict[str, Tally]]:
    """Count all rows and, with --by, those of each segment by its name, in the same scan."""
    whole, parts = count_parts(table, columns, positive)
    return whole, name_segments(parts)


def count_parts(
    table: Table, columns: Columns, positive: str | None = None
) -> tuple[Tally, dict[tuple[Any, ...], Tally]]:
    """Count all rows and, with --by, those of each of a few segments, in the same scan."""
    if not columns.by:
        return count(table, columns, positive), {}
    from calibrant import Tally

    check_few_segments(table, columns.by)
    parts = count_segments(table, columns, positive)
    return sum(parts.values(), Tally.empty()), parts


def check_few_segments(table: Table, by: tuple[str, ...]) -> None:
    """Refuse columns with more values than anybody looks at one by one."""
    together = ", ".join(f"{quote(name)}::VARCHAR" for name in by)
    n_segments = table.values(f"SELECT approx_count_distinct(concat_ws(chr(31), {together})) FROM rows")[0][0]
    if n_segments > MOST_SEGMENTS:
        names = "' and '".join(by)
        raise Problem(f"--by '{names}' has about {n_segments} values; choose a column with at most {MOST_SEGMENTS}.")


def name_segments(tallies: dict[tuple[Any, ...], Tally]) -> dict[str, Tally]:
    """Name segments as people read them."""
    return {" · ".join("(missing)" if x is None else str(x) for x in key): tally for key, tally in tallies.items()}


def count_segments(table: Table, columns: Columns, positive: str | None = None) -> dict[tuple[Any, ...], Tally]:
    """Count the rows of each segment, a tuple of its keys; what is neither text, number nor boolean becomes text."""
    casts = {name: cast_segment(table, name) for name in columns.by}
    kept = {name: quote(name) for name in (columns.score, columns.label, columns.weight) if name is not None}
    tallies: dict[tuple[Any, ...], Tally] = _count(table.select(kept | casts), columns, positive)
    return tallies


def cast_segment(table: Table, name: str) -> str:
    """Return a column of segments in SQL, as one of the types that models of segments know."""
    kind = table.kind(name)
    if kind.startswith("TIMESTAMP") and "ZONE" not in kind and _are_days(table, name):
        return f"{quote(name)}::DATE::VARCHAR"
    if kind.startswith("TIME") or "[" in kind or kind in ("STRUCT", "MAP", "UNION", "BLOB", "INTERVAL"):
        raise Problem(
            f"--by must be a column of text, numbers, booleans or dates; '{shorten(name)}' is of type {kind.lower()}. "
            "Make such a column from it first."
        )
    if kind in ("VARCHAR", "BOOLEAN") or (table.is_number(name) and kind != "DECIMAL"):
        return quote(name)
    return f"{quote(name)}::{'DOUBLE' if kind == 'DECIMAL' else 'VARCHAR'}"


def _are_days(table: Table, name: str) -> bool:
    """Tell whether all times are midnight: dates, as pandas writes them."""
    column = quote(name)
    return not table.values(f"SELECT 1 FROM rows WHERE {column} <> {column}::DATE LIMIT 1")


def _count(table: Table, columns: Columns, positive: str | None) -> Any:
    from calibrant import engines
    from calibrant.errors import InvalidInputError

    names: dict[str, Any] = {"score": columns.score, "label": columns.label, "weight": columns.weight}
    by = list(columns.by) or None
    with progress(f"reading {table.name}"):
        try:
            label = positive_label(table, columns.label, positive)
            return engines.tally(table.relation, pos_label=label, by=by, **names)
        except InvalidInputError as error:
            lacking = describe_missing(table, columns)
            if lacking is not None:
                raise Problem(f"{lacking} {ADVICE}") from error
            raise Problem(_in_columns(str(error), table, names)) from error


def _in_columns(text: str, table: Table, known: dict[str, Any]) -> str:
    """Rewrite a message of the engine, which calls columns by their names, with the options that name them."""
    if "`source` must have at least one row" in text:
        return f"{table.name} has no rows."
    for role, name in known.items():
        text = text.replace(f"`{name}`", f"--{role}" if role == name else f"--{role} '{shorten(name or '')}'")
    return in_options(text)


def positive_label(table: Table, label: str, given: str | None) -> Any:
    """Return the positive label in the type of its column; of two words, one that says yes needs no option."""
    if table.is_number(label):
        return None if given is None else _number(given, table.kind(label) == "BOOLEAN")
    values = table.distinct(label, 3)
    if given is not None:
        if given not in map(str, values):
            known = ", ".join(shorten(str(value)) for value in values)
            raise Problem(f"--positive must be a label in '{shorten(label)}' ({known}); got {given!r}.")
        return given
    yes = [value for value in values if str(value).lower() in (*YES, "positive", "pos")]
    if len(values) == 2 and len(yes) == 1:
        note(f"Rows with {shorten(label)} = {yes[0]!r} count as positive; choose another label with --positive.")
        return yes[0]
    return None


def _number(text: str, is_boolean: bool) -> float | bool:
    word = text.lower()
    if is_boolean and word in (*YES, *NO):  # the engine reads yes and no as true and false
        return word in YES
    try:
        return float(text)
    except ValueError:
        wanted = "true or false" if is_boolean else "a number"
        raise Problem(f"--positive must be {wanted}, like the labels; got {text!r}.") from None


def is_decision(tally: Tally) -> bool:
    """Tell whether some scores cannot be probabilities."""
    return are_decision(tally)


def are_decision(source: Any) -> bool:
    """Tell whether some scores, of a tally or of rows, cannot be probabilities."""
    from calibrant import _validation

    return not _validation.are_probabilities(getattr(source, "scores", source))


def percent_hint(tally: Tally) -> str:
    """Return a sentence on percentages if scores beyond [0, 1] look like some, with a space behind it."""
    from calibrant import _validation

    return "If they are percentages, divide them by 100. " if _validation.may_be_percentages(tally.scores) else ""


def warn_of_few(tally: Tally, name: str = "") -> None:
    """Warn of a handful of rows, of scores that rank the wrong way round, and of one class, which teaches nothing."""
    from calibrant.metrics.reversal import describe_reversal
    from calibrant.tally import row_count

    rarer = min(tally.total_positive, tally.total - tally.total_positive)
    if rarer > 0.0:
        reversal = describe_reversal(tally)
        if reversal is not None:
            warn(in_options(reversal))
        if tally.total < FEW_ROWS:
            warn(
                f"{row_count(tally.total)} rows, {row_count(rarer)} of the rarer class, are very few: the result says "
                "more about the method's assumptions than about the data. Use a few hundred rows if you can."
            )
        return

    rows = f"{row_count(tally.total)} rows for {name}" if name else f"{row_count(tally.total)} rows"
    kind = "positive" if tally.total_positive else "negative"
    warn(f"All {rows} are {kind}, so there is little to learn from them; add rows of both classes.")


def _top_label(table: Table, columns: Columns) -> tuple[Table, Columns]:
    """Return the highest score of each row, and whether its class was right."""
    hit = f"({_winner(class_of(table, columns))} = {quote(columns.label)})"
    return _view(table, columns, {"confidence": _highest(columns.scores), "hit": hit})


def _highest(names: tuple[str, ...]) -> str:
    return f"greatest({', '.join(map(quote, names))})"


def _winner(classes: dict[str, Any]) -> str:
    """Return the class of the highest score, in SQL; of equal scores the first column wins, as with argmax."""
    highest = _highest(tuple(classes))
    cases = (f"WHEN {quote(name)} = {highest} THEN {_literal(label)}" for name, label in classes.items())
    return f"(CASE {' '.join(cases)} END)"


def _view(table: Table, columns: Columns, expressions: dict[str, str]) -> tuple[Table, Columns]:
    """Return a table of a score, a label and more, and what is kept of the other columns."""
    others = (columns.weight, *columns.by, columns.groups)
    kept = {name: quote(name) for name in others if name is not None}
    score, label, *_ = expressions
    return table.select(expressions | kept), replace(columns, scores=(score,), label=label)


def _literal(value: Any) -> str:
    """Return a label as SQL writes it."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
