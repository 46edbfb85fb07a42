"""compare: which method suits these rows, for two classes or for several."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from calibrant.cli import options, signals
from calibrant.cli.errors import Problem
from calibrant.cli.options import check_method, method_names
from calibrant.cli.printing import note, print_json, print_table, progress, warn

if TYPE_CHECKING:
    from calibrant._typing import Floats
    from calibrant.cli.classes import ClassRows
    from calibrant.cli.columns import Columns
    from calibrant.comparison.result import Comparison
    from calibrant.engines.tables import Table
    from calibrant.tally import Tally


def compare(
    files: options.Files,
    *,
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    groups: options.Groups = None,
    drop_missing: options.Drop = False,
    positive: options.Positive = None,
    method: options.Methods = None,
    logits: options.Logits = False,
    top_label: options.Top = False,
    folds: Annotated[int, options.option("Number of folds.", "--folds", value="FOLDS")] = 5,
    repeats: Annotated[int, options.option("Number of repeated cross-validations.", "--repeats", value="REPEATS")] = 1,
    level: options.Level = 0.9,
    seed: options.Seed = 0,
    as_json: options.As_json = False,
) -> None:
    """Cross-validate all methods, doing nothing among them, and recommend one.

    With the scores of several classes the methods for whole matrices are compared, by their proper scores.
    """
    from calibrant.cli.classes import are_several, read_classes
    from calibrant.cli.columns import split
    from calibrant.cli.grouped import read_rows
    from calibrant.cli.tallies import binary, count, open_with_columns

    names = list(split(method or [])) or None
    check_method(*(names or []))
    how: dict[str, Any] = {"methods": names, "cv": folds, "repeats": repeats, "level": level, "rng": seed}
    source: Tally | ClassRows | Floats
    with open_with_columns(files, score, label, weight, groups=groups, drop=drop_missing) as (table, columns):
        warn_of_copies(table, columns)
        several = are_several(columns, top_label, logits)
        check_method(*(names or []), several=several)
        if several and groups is not None:
            raise Problem("--groups with several classes needs --top-label.")
        if several:
            source = read_classes(table, columns, logits)
        elif groups is not None:
            rows = read_rows(*binary(table, columns, top_label, "compare --groups"), positive)
            source = rows.scores
            how |= {"y": rows.labels, "sample_weight": rows.weights, "groups": rows.groups}
        else:
            source = count(*binary(table, columns, top_label, "compare"), positive)
    comparison = run_comparison(source, **how)
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


def run_comparison(source: Tally | ClassRows | Floats, **how: Any) -> Comparison:
    """Compare a tally, rows of several classes, or scores with labels among the options, with the progress shown."""
    run, methods = _comparison_of(source, **how)
    with progress("comparing", methods) as step:

        def go_on(name: str) -> None:
            signals.check()
            step(name)

        comparison: Comparison = run(progress=go_on)
    signals.check()  # a signal inside a method looks like the failure of that method
    return comparison


def _comparison_of(source: Tally | ClassRows | Floats, **how: Any) -> tuple[Callable[..., Comparison], int]:
    """Return the comparison to run and its number of methods."""
    import calibrant
    from calibrant.cli.classes import ClassRows
    from calibrant.cli.tallies import are_decision

    if not isinstance(source, ClassRows):
        how["space"] = "decision" if are_decision(source) else "probability"
        return partial(calibrant.compare, source, **how), len(how.get("methods") or method_names(several=False))
    methods = how.pop("methods", None) or class_methods(len(source.classes))
    given: dict[str, Any] = {"sample_weight": source.weights, "space": source.space, "methods": methods}
    return partial(calibrant.compare, source.scores, source.labels, **given, **how), len(methods)


def class_methods(n_classes: int, *more: str | None) -> list[str]:
    """List the methods to compare for several classes: of those that `fit` can save the usual ones, and some more."""
    from calibrant.comparison.candidates import default_methods

    usual = default_methods("matrix", n_classes)
    return [name for name in method_names(several=True) if name in usual or name in more]


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
