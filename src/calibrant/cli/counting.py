"""From a table to tallies: the whole, and each segment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calibrant.cli.classes import top_label
from calibrant.cli.columns import Columns
from calibrant.cli.printing import note, progress, warn
from calibrant.cli.problems import Problem, in_options
from calibrant.cli.tables import Table, quoted

if TYPE_CHECKING:
    from calibrant.tally import Tally

__all__ = ["binary", "counted", "counted_by", "is_decision", "warn_of_one_class"]

MOST_SEGMENTS = 200
YES, NO = ("1", "yes", "true", "y", "t"), ("0", "no", "false", "n", "f")


def binary(table: Table, columns: Columns, top: bool, command: str) -> tuple[Table, Columns]:
    """The view of two outcomes that a command works on."""
    if top and len(columns.scores) < 2:
        raise Problem("--top-label needs the score columns of all classes; name them with --score a,b,c.")
    if top:
        return top_label(table, columns)
    if len(columns.scores) > 1:
        raise Problem(f"{command} takes one score column; with the scores of several classes add --top-label.")
    return table, columns


def counted(table: Table, columns: Columns, positive: str | None = None) -> Tally:
    """The tally of a table, computed in the engine."""
    found: Tally = _tallied(table, replace(columns, by=None), positive)
    return found


def _tallied(table: Table, columns: Columns, positive: str | None) -> Any:
    from calibrant import engines
    from calibrant.errors import InvalidInputError

    with progress(f"reading {table.name}"):
        try:
            return engines.tally(
                table.relation,
                score=columns.score,
                label=columns.label,
                weight=columns.weight,
                by=columns.by,
                pos_label=_positive(table, columns.label, positive),
            )
        except InvalidInputError as error:
            raise Problem(_in_columns(str(error), table, columns)) from error


def _in_columns(text: str, table: Table, columns: Columns) -> str:
    """A message of the engine, which calls columns by their names, with the options that name them."""
    if "`source` must have at least one row" in text:
        return f"{table.name} has no rows."
    options = {"--score": columns.score, "--label": columns.label, "--weight": columns.weight, "--by": columns.by}
    for option, name in options.items():
        text = text.replace(f"`{name}`", option if option == f"--{name}" else f"{option} '{name}'")
    return in_options(text)


def counted_by(table: Table, columns: Columns, positive: str | None = None) -> tuple[Tally, dict[str, Tally] | None]:
    """The tally of all rows and, with ``--by``, that of each segment; in the same scan."""
    if columns.by is None:
        return counted(table, columns, positive), None
    from calibrant import Tally

    n_segments = table.values(f"SELECT approx_count_distinct({quoted(columns.by)}) FROM rows")[0][0]
    if n_segments > MOST_SEGMENTS:
        raise Problem(
            f"--by '{columns.by}' has about {n_segments} values; choose a column with at most {MOST_SEGMENTS}."
        )
    parts = _tallied(table, columns, positive)
    segments = {"(missing)" if key is None else str(key): part for key, part in parts.items()}
    return sum(segments.values(), Tally.empty()), segments


def _positive(table: Table, label: str, given: str | None) -> Any:
    """The positive label in the type of its column; of two words, one that says yes needs no option."""
    if table.is_number(label):
        return None if given is None else _number(given, table.kind(label) == "BOOLEAN")
    values = table.distinct(label, 3)
    if given is not None:
        if given not in map(str, values):
            raise Problem(f"--positive must be a label in '{label}' ({', '.join(map(str, values))}); got {given!r}.")
        return given
    yes = [value for value in values if str(value).lower() in (*YES, "positive", "pos")]
    if len(values) == 2 and len(yes) == 1:
        note(f"Rows with {label} = {yes[0]!r} count as positive; choose another label with --positive.")
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
    """Whether some scores cannot be probabilities."""
    return bool(tally.scores[0] < 0.0 or tally.scores[-1] > 1.0)


def warn_of_one_class(tally: Tally, name: str = "") -> None:
    """Say so where all rows are of one class: whatever is fitted to them only repeats it."""
    if 0.0 < tally.total_positive < tally.total:
        return
    from calibrant.tally import row_count

    rows = f"{row_count(tally.total)} rows for {name}" if name else f"{row_count(tally.total)} rows"
    kind = "positive" if tally.total_positive else "negative"
    warn(f"All {rows} are {kind}, so there is little to learn from them; add rows of both classes.")
