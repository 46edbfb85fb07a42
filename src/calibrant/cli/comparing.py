"""compare: which method suits these rows, for two classes or for several."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.printing import note, print_json, print_table, progress, warn
from calibrant.cli.problems import Problem
from calibrant.cli.stopping import check_stopped

if TYPE_CHECKING:
    from calibrant.cli.columns import Columns
    from calibrant.cli.tables import Table
    from calibrant.comparison.table import Comparison
    from calibrant.tally import Tally

__all__ = ["chosen", "compare", "compared", "compared_if_possible", "for_all", "show_comparison", "warn_of_copies"]

WIDE = 104
RAW = "identity"


@contextmanager
def chosen(files: list[str], score: list[str] | None, *names: str | None) -> Iterator[tuple[Table, Columns]]:
    """The table in some files, and its columns as told or guessed."""
    from calibrant.cli.columns import choose
    from calibrant.cli.tables import opened

    with opened(files) as table:
        yield table, choose(table, score or [], *names)


def compare(
    files: options.Files,
    *,
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    positive: options.Positive = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="METHOD",
            help="Methods to compare, a,b,c; by default all.",
            autocompletion=options.methods,
        ),
    ] = None,
    top_label: options.Top = False,
    folds: Annotated[int, typer.Option("--folds", help="Number of folds.")] = 5,
    repeats: Annotated[int, typer.Option("--repeats", help="How often to split anew.")] = 1,
    level: options.Level = 0.9,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the folds.")] = 0,
    as_json: options.As_json = False,
) -> None:
    """Cross-validate all methods, doing nothing among them, and recommend one.

    With the scores of several classes each is compared against the rest, as `fit` calibrates them.
    """
    from calibrant.cli.classes import class_of, one_against_rest
    from calibrant.cli.columns import split
    from calibrant.cli.counting import binary, counted
    from calibrant.cli.fitting import check_method

    names = split(method or []) or None
    check_method(*(names or []))
    how: dict[str, Any] = {"methods": names, "cv": folds, "repeats": repeats, "level": level, "rng": seed}
    with chosen(files, score, label, weight) as (table, columns):
        warn_of_copies(table, columns)
        if len(columns.scores) > 1 and not top_label:
            parts = {
                name: counted(*one_against_rest(table, columns, name, value))
                for name, value in class_of(table, columns).items()
            }
        else:
            parts = {}
            tally = counted(*binary(table, columns, top_label, "compare"), positive)
    if parts:
        _compare_classes(parts, as_json, **how)
        return
    found = compared(tally, **how)
    if as_json:
        print_json(found.to_dict())
    else:
        show_comparison(found)


def warn_of_copies(table: Table, columns: Columns) -> None:
    """Say what weights are taken for: a row that counts three times may be learnt from and judged by as well."""
    from calibrant.cli.tables import quoted

    if columns.weight is None:
        return
    largest = table.values(f"SELECT max({quoted(columns.weight)}) FROM rows")[0][0]
    if largest is not None and largest > 1:
        warn(
            f"Each weight counts as that many rows, so the weights in '{columns.weight}' must be counts. "
            "If they are not, divide them by the largest: else copies of a row are both learnt from and judged by, "
            "and the comparison flatters methods that follow single rows."
        )


def compared(tally: Tally, step: Callable[[str], None] | None = None, **arguments: Any) -> Comparison:
    """A comparison with its progress shown, by itself or as a step of a longer work."""
    if step is not None:
        return _compared(tally, step, **arguments)
    with progress("comparing", _number(arguments)) as own:
        return _compared(tally, own, **arguments)


def _compared(tally: Tally, step: Callable[[str], None], **arguments: Any) -> Comparison:
    import calibrant
    from calibrant.cli.stand_ins import load_scikit_learn

    load_scikit_learn()
    found = calibrant.compare(tally, progress=partial(_unless_stopped, step), **arguments)
    # A request to end that came inside a method looks like the failure of that method.
    check_stopped()
    return found


def _unless_stopped(step: Callable[[str], None], name: str) -> None:
    check_stopped()
    step(name)


def compared_if_possible(tally: Tally) -> Comparison | None:
    """A comparison, or None for rows that allow none; the page then says why."""
    from calibrant.errors import InvalidInputError

    try:
        return compared(tally)
    except InvalidInputError:
        return None


def _number(arguments: dict[str, Any]) -> int:
    from calibrant.calibrators import registry

    return len(arguments.get("methods") or registry.METHODS)


def show_comparison(found: Comparison) -> None:
    """The table, the advice, and what went wrong."""
    done = [result for result in found.results if result.log_loss is not None]
    rows = []
    for result in done:
        texts = result.texts()
        # The uncertainty that matters is that of the paired differences.
        rows.append([texts[0], *(text.partition(" [")[0] for text in texts[1:4]), *texts[4:6]])
    marked = next((i for i, result in enumerate(done) if result.name == found.recommended), None)
    # An 80-column terminal has room for one difference with its interval.
    shown = 5 if _narrow() else 6
    headers = [header.replace("Brier score", "Brier") for header in found.headers[:shown]]
    print_table(found.title, headers, [row[:shown] for row in rows], marked)
    sys.stdout.write(f"Recommended: {found.reason}\n{_doubt(found)}")
    for text, names in _notes(found).items():
        note(f"- {', '.join(names)}: {text if len(names) == 1 else text.replace('it needs', 'they need', 1)}")


def _doubt(found: Comparison) -> str:
    """A sentence for a table whose best row seems to contradict the advice: its interval allows for one method only."""
    best = found.results[0]
    gain = best.log_loss_difference
    if found.recommended != found.reference or gain is None or gain.high >= 0.0:
        return ""
    methods = sum(result.log_loss_difference is not None for result in found.results)
    return (
        f"Taken alone, {best.name} would be better by {-gain.value:.4f} [{-gain.high:.4f}, {-gain.low:.4f}], but the "
        f"best of {methods} methods may look so by chance; more rows would tell.\n"
    )


def _notes(found: Comparison) -> dict[str, list[str]]:
    """What was said about methods, each remark once, and the methods that it is about."""
    notes: dict[str, list[str]] = {}
    for result in found.results:
        if result.note:
            notes.setdefault(result.note, []).append(result.name)
    return notes


def _narrow() -> bool:
    return sys.stdout.isatty() and shutil.get_terminal_size().columns < WIDE


def _compare_classes(parts: dict[str, Tally], as_json: bool, **how: Any) -> None:
    """Compare for each class against the rest, and say which method is best for all of them together."""
    from calibrant.errors import InvalidInputError
    from calibrant.tally import row_count

    note("Each class is compared against the rest; --top-label looks at the highest score of each row instead.")
    found: dict[str, Comparison] = {}
    skipped = {}
    with progress("comparing", _number(how) * len(parts)) as step:
        for name, tally in parts.items():
            try:
                found[name] = compared(tally, partial(_step, step, name), **how)
            except InvalidInputError as error:
                skipped[name] = str(error)
    if not found:
        raise Problem(f"No class can be compared against the rest. {next(iter(skipped.values()))}")
    best, reason = for_all(found)
    if as_json:
        plain = {name: one.to_dict() for name, one in found.items()}
        print_json({"classes": plain, "skipped": skipped, "recommended": best, "reason": reason})
        return
    rows = [_class_row(name, one, parts[name]) for name, one in found.items()]
    first = next(iter(found.values()))
    title = (
        f"{row_count(first.n_rows)} rows, {len(parts)} classes, each against the rest; {first.title.partition('; ')[2]}"
    )
    heads = ["class", "its rows", "raw log-loss", "recommended", "log-loss", "− raw"]
    if _narrow():  # what is left over can be told from the rest
        heads, rows = ["class", "rows", "raw", "recommended", "− raw"], [[*row[:4], row[5]] for row in rows]
    print_table(title, heads, rows)
    sys.stdout.write(f"Recommended for all classes: {reason}\n")
    for name, text in skipped.items():
        note(f"- {name}: {text}")


def _step(step: Callable[[str], None], name: str, method: str) -> None:
    step(f"{name}, {method}")


def _class_row(name: str, found: Comparison, tally: Tally) -> list[str]:
    own = found[found.recommended].texts()
    known = {result.name: result.texts()[1].partition(" [")[0] for result in found.results if result.log_loss}
    return [name, f"{tally.total_positive:g}", known.get(RAW, "–"), found.recommended, known[found.recommended], own[4]]


def for_all(found: dict[str, Comparison]) -> tuple[str, str]:
    """The method for all classes, and the reason: the lowest mean log-loss, if it helps any class beyond chance."""
    losses: dict[str, list[float]] = {}
    for one in found.values():
        for result in one.results:
            if result.log_loss is not None:
                losses.setdefault(result.name, []).append(result.log_loss.value)
    means = {name: sum(values) / len(values) for name, values in losses.items() if len(values) == len(found)}
    if RAW in means and all(one.recommended == RAW for one in found.values()):
        return RAW, "do nothing: for no class does a method lower the log-loss of the raw score by more than chance."
    best = min(means, key=lambda name: means[name])
    raw = f"; raw {means[RAW]:.4f}" if RAW in means and best != RAW else ""
    start = "do nothing" if best == RAW else best
    return best, f"{start}: averaged over the classes, its log-loss is the lowest ({means[best]:.4f}{raw})."
