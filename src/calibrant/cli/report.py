"""report: a page on the calibration of a model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from calibrant.cli import options, signals
from calibrant.cli.compare import class_methods, warn_of_copies
from calibrant.cli.errors import Problem
from calibrant.cli.options import check_method, method_names
from calibrant.cli.printing import check_target, is_stdout, note, progress, written

if TYPE_CHECKING:
    from calibrant.cli.columns import Columns
    from calibrant.tally import Tally

COST_FP = "Cost of a false positive; with --cost-fn adds a section on decisions."
COST_FN = "Cost of a false negative."
THRESHOLDS = "Lowest and highest probability from which one might act; adds a section on decisions."
Range: TypeAlias = tuple[float, float]
UNLABELLED = "Rows without labels, with the same score column; the page then says what to expect of them."


def report(
    files: options.Files,
    *,
    output: Annotated[str, options.option("The page to write.", "--output", "-o", value="FILE")] = "report.html",
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    by: options.Keys = None,
    drop_missing: options.Drop = False,
    positive: options.Positive = None,
    method: options.Method = None,
    logits: options.Logits = False,
    top_label: options.Top = False,
    cost_fp: Annotated[float | None, options.option(COST_FP, "--cost-fp", value="COST")] = None,
    cost_fn: Annotated[float | None, options.option(COST_FN, "--cost-fn", value="COST")] = None,
    thresholds: Annotated[Range | None, options.option(THRESHOLDS, "--thresholds", value="LOW HIGH")] = None,
    unlabelled: Annotated[str | None, options.option(UNLABELLED, "--unlabelled", value="FILE")] = None,
    title: Annotated[str | None, options.option("The heading of the page.", "--title", value="TEXT")] = None,
) -> None:
    """Write a page on the calibration of a model: one HTML file that opens offline.

    With the scores of several classes the page is about the predicted class, each class, and all of them together.
    """
    from calibrant.cli.classes import are_several, read_classes
    from calibrant.cli.tallies import binary, count_parts, is_decision, open_with_columns

    check_target(output, files)
    check_method(method)
    decisions = _check_decisions(cost_fp, cost_fn, thresholds)
    with open_with_columns(files, score, label, weight, by, drop=drop_missing) as (table, columns):
        warn_of_copies(table, columns)
        several = are_several(columns, top_label, logits)
        check_method(method, several=several)
        asked = {"--by": by, "--unlabelled": unlabelled, "--thresholds": thresholds, "--cost-fp": cost_fp}
        if several and any(value is not None for value in asked.values()):
            raise Problem(f"{next(key for key in asked if asked[key])} with several classes needs --top-label.")
        heading = f"Calibration of {Path(table.name).name}"
        if several:
            rows = read_classes(table, columns, logits)
        else:
            tally, parts = count_parts(*binary(table, columns, top_label, "report"), positive)
    options_ = ["--top-label"] * top_label + ["--logits"] * logits
    about: dict[str, Any] = {
        "title": title or heading + (": is the predicted class right?" if top_label else ""),
        "commands": _commands(files, columns, positive, options_),
        "method": method,
    }
    if several:
        about |= {"sample_weight": rows.weights, "space": rows.space, "classes": rows.classes}
        methods = compared_methods(len(rows.classes), method)
        write_page(output, rows.scores, rows.labels, methods=methods, **about)
    else:
        about["space"] = "decision" if is_decision(tally) else "probability"
        about |= decisions | {"segments": parts or None, "segment_keys": columns.by, "top_label": top_label}
        if unlabelled is not None:
            about["unlabelled"] = _count_unlabelled(unlabelled, columns)
        write_page(output, tally, methods=compared_methods(None, method), **about)
    if not is_stdout(output):
        note(f"The report is in {output} ({file_size(output)}); open it in a browser.")


def file_size(path: str) -> str:
    """Return the size of a file in words, as kilobytes up to a tenth of a megabyte."""
    size = Path(path).stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"


def _check_decisions(cost_fp: float | None, cost_fn: float | None, thresholds: Range | None) -> dict[str, Any]:
    """Return what the section on decisions is about, if anything; bad numbers are refused before data are read."""
    if (cost_fp is None) != (cost_fn is None):
        raise Problem("--cost-fp and --cost-fn belong together: only their ratio says from where to act.")
    asked: dict[str, Any] = {} if thresholds is None else {"thresholds": thresholds}
    if cost_fp is not None and cost_fn is not None:
        asked["costs"] = (cost_fp, cost_fn)
        if not (cost_fp > 0.0 and cost_fn > 0.0):
            raise Problem(f"--cost-fp and --cost-fn must be above 0; got {cost_fp:g} and {cost_fn:g}.")
    if thresholds is not None and not 0.0 < thresholds[0] < thresholds[1] < 1.0:
        raise Problem(
            "--thresholds must be two probabilities between 0 and 1, the lower one first; got "
            f"{thresholds[0]:g} and {thresholds[1]:g}."
        )
    return asked


def _count_unlabelled(file: str, columns: Columns) -> Tally:
    from calibrant.cli.tallies import count_unlabelled

    if len(columns.scores) > 1:
        raise Problem("--unlabelled needs one score column; with the scores of several classes it has no meaning yet.")
    return count_unlabelled([file], list(columns.scores), None)


def _commands(files: list[str], columns: Columns, positive: str | None, more: list[str]) -> str:
    """Return the commands that calibrate these very rows; the page puts the method in."""
    ending = "".join(Path(files[0]).suffixes[-2:]) if files != ["-"] else ".csv"
    scores = ["--score", ",".join(columns.scores)]
    named = {"--label": columns.label, "--weight": columns.weight, "--positive": positive}
    given = [part for option, value in named.items() if value is not None for part in (option, value)]
    source = files if files != ["-"] else [f"data{ending}"]
    fit = shlex.join(["calibrant", "fit", *source, *scores, *given, *more])
    again = [*scores, *more] if len(columns.scores) == 1 or "--top-label" in more else []  # the model knows its columns
    apply = shlex.join(["calibrant", "apply", "calibration.json", f"new{ending}", *again, "-o", f"calibrated{ending}"])
    return f"{fit} --method {{method}} -o calibration.json\n{apply}"


def compared_methods(n_classes: int | None, method: str | None) -> list[str]:
    """List the methods that the page compares, for one score or for several classes."""
    return method_names(several=False) if n_classes is None else class_methods(n_classes, method)


def write_page(output: str, *rows: Any, methods: list[str] | None = None, **arguments: Any) -> None:
    """Write the page, whole or not at all; to standard output where the name is ``-``."""
    from calibrant.report import write_report

    with written(output) as path, progress("writing the report", len(methods or ()) or None) as step:

        def go_on(name: str) -> None:
            signals.check()
            step(name)

        write_report(path, *rows, methods=methods, progress=go_on, **arguments)
    signals.check()  # a signal inside a method looks like the failure of that method
