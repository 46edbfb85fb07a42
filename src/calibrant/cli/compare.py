"""compare: which method suits these rows, for two classes or for several."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from calibrant.cli import options, signals
from calibrant.cli.errors import Problem
from calibrant.cli.options import check_method, method_names
from calibrant.cli.printing import note, print_json, print_table, progress, warn
from calibrant.engines.table_files import shorten

if TYPE_CHECKING:
    from calibrant.comparison.table import Comparison
    from calibrant.engines.table_columns import Columns
    from calibrant.engines.tables import Table
    from calibrant.tally import Tally

RAW = "identity"


def compare(
    files: options.Files,
    *,
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    groups: options.Groups = None,
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
    from calibrant.cli.grouped import read_rows
    from calibrant.cli.tallies import binary, count, count_classes, open_with_columns
    from calibrant.engines.table_columns import split

    names = list(split(method or [])) or None
    check_method(*(names or []))
    how: dict[str, Any] = {"methods": names, "cv": folds, "repeats": repeats, "level": level, "rng": seed}
    with open_with_columns(files, score, label, weight, groups=groups) as (table, columns):
        warn_of_copies(table, columns)
        several = len(columns.scores) > 1 and not top_label and groups is None
        if groups is not None:
            data, y, weights, names = read_rows(*binary(table, columns, top_label, "compare --groups"), positive)
            how |= {"y": y, "sample_weight": weights, "groups": names}
        elif several:
            classes = count_classes(table, columns)
        else:
            data = count(*binary(table, columns, top_label, "compare"), positive)
    if several:
        _compare_classes(classes, as_json, **how)
        return
    comparison = run_comparison(data, **how)
    if as_json:
        print_json(comparison.to_dict())
    else:
        show_comparison(comparison)


def warn_of_copies(table: Table, columns: Columns) -> None:
    """Say what weights are taken for: a row that counts three times may be both learnt from and judged by."""
    if columns.weight is None:
        return
    from calibrant.engines.tables import quote

    largest = table.values(f"SELECT max({quote(columns.weight)}) FROM rows")[0][0]
    if largest is not None and largest > 1:
        warn(
            f"Each weight counts as that many rows, so the weights in '{columns.weight}' must be counts. "
            "If they are not, divide them by the largest: otherwise copies of a row are learnt from and judged by, "
            "and the comparison favours methods that follow single rows."
        )


def run_comparison(data: Any, what: str = "comparing", **how: Any) -> Comparison:
    """Compare a tally, or scores with labels among the options, with the progress shown."""
    import calibrant

    with progress(what, len(how.get("methods") or method_names())) as step:

        def go_on(name: str) -> None:
            signals.check()
            step(name)

        comparison: Comparison = calibrant.compare(data, progress=go_on, **how)
    signals.check()  # a signal inside a method looks like the failure of that method
    return comparison


def show_comparison(comparison: Comparison) -> None:
    """Print the table, the advice, and what went wrong.

    Only the intervals of the paired differences matter here; --json has all.
    """
    done = [result for result in comparison.results if result.log_loss is not None]
    rows = [[result.name, *map(_plain, result.texts()[1:4]), *result.texts()[4:6]] for result in done]
    marked = next((i for i, result in enumerate(done) if result.name == comparison.recommended), None)
    headers = [header.replace("Brier score", "Brier") for header in comparison.headers[:6]]
    print_table(comparison.title, headers, rows, marked)
    sys.stdout.write(f"Recommended: {comparison.reason}\n")
    for text in comparison.notes:
        note(f"- {text}")


def _plain(text: str) -> str:
    """Return a value without its interval."""
    return text.partition(" [")[0]


def _compare_classes(classes: dict[str, Tally], as_json: bool, **how: Any) -> None:
    """Compare for each class against the rest, and say which method is best for all of them together."""
    from calibrant.errors import InvalidInputError
    from calibrant.tally import row_count

    note("Each class is compared against the rest; --top-label uses the highest score of each row instead.")
    done: dict[str, Comparison] = {}
    skipped = {}
    for name, tally in classes.items():
        try:
            done[name] = run_comparison(tally, f"comparing for {name}", **how)
        except InvalidInputError as error:
            skipped[name] = str(error)
    if not done:
        raise Problem(f"No class can be compared against the rest. {next(iter(skipped.values()))}")
    best, reason = best_for_all(done)
    if as_json:
        plain = {name: one.to_dict() for name, one in done.items()}
        print_json({"classes": plain, "skipped": skipped, "recommended": best, "reason": reason})
        return
    first = next(iter(done.values()))
    splits = first.title.partition("; ")[2]
    rows = [_class_row(name, one, classes[name]) for name, one in done.items()]
    title = f"{row_count(first.n_rows)} rows, {len(classes)} classes, each against the rest; {splits}"
    print_table(title, ["class", "its rows", "recommended", "log-loss", "− raw"], rows)
    sys.stdout.write(f"Recommended for all classes: {reason}\n")
    for name, text in skipped.items():
        note(f"- {shorten(name)}: {text}")


def _class_row(name: str, comparison: Comparison, tally: Tally) -> list[str]:
    texts = comparison[comparison.recommended].texts()
    return [name, f"{tally.total_positive:g}", texts[0], _plain(texts[1]), texts[4]]


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
    raw = f"; raw {means[RAW]:.4f}" if RAW in means else ""
    return best, f"{best}: averaged over the classes, its log-loss is the lowest ({means[best]:.4f}{raw})."
