"""compare: which method suits these rows, for two classes or for several."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from calibrant.cli import options, signals
from calibrant.cli.errors import Problem
from calibrant.cli.methods import check_method, method_names
from calibrant.cli.printing import note, print_json, print_table, progress, shorten, warn

if TYPE_CHECKING:
    from calibrant.cli.columns import Columns
    from calibrant.comparison.table import Comparison
    from calibrant.engines.tables import Table
    from calibrant.tally import Tally

__all__ = ["best_for_all", "compare", "compare_if_possible", "run_comparison", "show_comparison", "warn_of_copies"]

WIDE = 104
RAW = "identity"


def compare(
    files: options.Files,
    *,
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    positive: options.Positive = None,
    method: options.Methods = None,
    top_label: options.Top = False,
    folds: Annotated[int, options.option("Number of folds.", "--folds", value="FOLDS")] = 5,
    repeats: Annotated[int, options.option("How often to split anew.", "--repeats", value="REPEATS")] = 1,
    level: options.Level = 0.9,
    seed: options.Seed = 0,
    as_json: options.As_json = False,
) -> None:
    """Cross-validate all methods, doing nothing among them, and recommend one.

    With the scores of several classes each is compared against the rest, as `fit` calibrates them.
    """
    from calibrant.cli.columns import open_with_columns, split
    from calibrant.cli.tallies import binary, count, count_classes

    names = list(split(method or [])) or None
    check_method(*(names or []))
    how: dict[str, Any] = {"methods": names, "cv": folds, "repeats": repeats, "level": level, "rng": seed}
    with open_with_columns(files, score, label, weight) as (table, columns):
        warn_of_copies(table, columns)
        several = len(columns.scores) > 1 and not top_label
        if several:
            classes = count_classes(table, columns)
        else:
            tally = count(*binary(table, columns, top_label, "compare"), positive)
    if several:
        _compare_classes(classes, as_json, **how)
        return
    comparison = run_comparison(tally, **how)
    if as_json:
        print_json(comparison.to_dict())
    else:
        show_comparison(comparison)


def warn_of_copies(table: Table, columns: Columns) -> None:
    """Say what weights are taken for: a row that counts three times may be both learnt from and judged by."""
    if columns.weight is None:
        return
    largest = table.values(f"SELECT max({table.quote(columns.weight)}) FROM rows")[0][0]
    if largest is not None and largest > 1:
        warn(
            f"Each weight counts as that many rows, so the weights in '{columns.weight}' must be counts. "
            "If they are not, divide them by the largest: otherwise copies of a row are learnt from and judged by, "
            "and the comparison favours methods that follow single rows."
        )


def run_comparison(tally: Tally, step: Callable[[str], None] | None = None, **how: Any) -> Comparison:
    """Compare with the progress shown, or as a step of longer work."""
    if step is None:
        with progress("comparing", len(how.get("methods") or method_names())) as own:
            return run_comparison(tally, own, **how)
    import calibrant

    def go_on(name: str) -> None:
        signals.check()
        step(name)

    comparison: Comparison = calibrant.compare(tally, progress=go_on, **how)
    signals.check()  # a signal inside a method looks like the failure of that method
    return comparison


def compare_if_possible(tally: Tally) -> Comparison | None:
    """Compare, or return None for rows that allow no comparison; the page then says why."""
    from calibrant.errors import InvalidInputError

    try:
        return run_comparison(tally)
    except InvalidInputError:
        return None


def show_comparison(comparison: Comparison) -> None:
    """Print the table, the advice, and what went wrong."""
    done = [result for result in comparison.results if result.log_loss is not None]
    rows = []
    for result in done:
        texts = result.texts()
        # The uncertainty that matters is that of the paired differences.
        rows.append([texts[0], *(text.partition(" [")[0] for text in texts[1:4]), *texts[4:6]])
    marked = next((i for i, result in enumerate(done) if result.name == comparison.recommended), None)
    # An 80-column terminal has room for one difference with its interval.
    shown = 5 if _is_narrow() else 6
    headers = [header.replace("Brier score", "Brier") for header in comparison.headers[:shown]]
    print_table(comparison.title, headers, [row[:shown] for row in rows], marked)
    sys.stdout.write(f"Recommended: {comparison.reason}\n{_doubt(comparison)}")
    remarks: dict[str, list[str]] = {}  # each once, with the methods that it is about
    for result in comparison.results:
        if result.note:
            remarks.setdefault(result.note, []).append(result.name)
    for text, names in remarks.items():
        note(f"- {', '.join(names)}: {text if len(names) == 1 else text.replace('it needs', 'they need', 1)}")


def _doubt(comparison: Comparison) -> str:
    """Explain a best row that seems to contradict the advice: its interval allows for one method only."""
    best = comparison.results[0]
    gain = best.log_loss_difference
    if comparison.recommended != comparison.reference or gain is None or gain.high >= 0.0:
        return ""
    methods = sum(result.log_loss_difference is not None for result in comparison.results)
    return (
        f"Taken alone, {best.name} would be better by {-gain.value:.4f} [{-gain.high:.4f}, {-gain.low:.4f}], but the "
        f"best of {methods} methods may look so by chance; more rows would tell.\n"
    )


def _is_narrow() -> bool:
    return sys.stdout.isatty() and shutil.get_terminal_size().columns < WIDE


def _compare_classes(classes: dict[str, Tally], as_json: bool, **how: Any) -> None:
    """Compare for each class against the rest, and say which method is best for all of them together."""
    from calibrant.errors import InvalidInputError
    from calibrant.tally import row_count

    note("Each class is compared against the rest; --top-label uses the highest score of each row instead.")
    done: dict[str, Comparison] = {}
    skipped = {}
    with progress("comparing", len(how["methods"] or method_names()) * len(classes)) as step:
        for name, tally in classes.items():
            try:
                done[name] = run_comparison(tally, partial(_name_step, step, name), **how)
            except InvalidInputError as error:
                skipped[name] = str(error)
    if not done:
        raise Problem(f"No class can be compared against the rest. {next(iter(skipped.values()))}")
    best, reason = best_for_all(done)
    if as_json:
        plain = {name: one.to_dict() for name, one in done.items()}
        print_json({"classes": plain, "skipped": skipped, "recommended": best, "reason": reason})
        return
    rows = [_class_row(name, one, classes[name]) for name, one in done.items()]
    first = next(iter(done.values()))
    splits = first.title.partition("; ")[2]
    heads = ["class", "its rows", "raw log-loss", "recommended", "log-loss", "− raw"]
    if _is_narrow():  # what is left out can be told from the rest
        heads, rows = ["class", "rows", "raw", "recommended", "− raw"], [[*row[:4], row[5]] for row in rows]
    print_table(f"{row_count(first.n_rows)} rows, {len(classes)} classes, each against the rest; {splits}", heads, rows)
    sys.stdout.write(f"Recommended for all classes: {reason}\n")
    for name, text in skipped.items():
        note(f"- {shorten(name)}: {text}")


def _name_step(step: Callable[[str], None], name: str, method: str) -> None:
    step(f"{name}, {method}")


def _class_row(name: str, comparison: Comparison, tally: Tally) -> list[str]:
    best = comparison.recommended
    losses = {result.name: result.texts()[1].partition(" [")[0] for result in comparison.results if result.log_loss}
    positives = f"{tally.total_positive:g}"
    return [name, positives, losses.get(RAW, "–"), best, losses[best], comparison[best].texts()[4]]


def best_for_all(comparisons: dict[str, Comparison]) -> tuple[str, str]:
    """Return the method for all classes, and why: the lowest mean log-loss, if it helps any class beyond chance."""
    losses: dict[str, list[float]] = {}
    for one in comparisons.values():
        for result in one.results:
            if result.log_loss is not None:
                losses.setdefault(result.name, []).append(result.log_loss.value)
    means = {name: sum(values) / len(values) for name, values in losses.items() if len(values) == len(comparisons)}
    if RAW in means and all(one.recommended == RAW for one in comparisons.values()):
        return RAW, "do nothing: for no class does a method lower the log-loss of the raw score by more than chance."
    best = min(means, key=lambda name: means[name])
    raw = f"; raw {means[RAW]:.4f}" if RAW in means and best != RAW else ""
    start = "do nothing" if best == RAW else best
    return best, f"{start}: averaged over the classes, its log-loss is the lowest ({means[best]:.4f}{raw})."
