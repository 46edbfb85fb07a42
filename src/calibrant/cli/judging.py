"""evaluate, report, monitor: how good the probabilities are, and what to do about it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.printing import note, print_json, print_table, progress
from calibrant.cli.problems import Problem, keep_sources

if TYPE_CHECKING:
    from calibrant.cli.columns import Columns
    from calibrant.comparison.table import Comparison
    from calibrant.tally import Tally

__all__ = ["evaluate", "monitor", "report", "write_page"]

ALARM = 3
ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="FILE", help="A model to apply to the scores first.")
]


def _mapped(tally: Tally, model: str | None) -> Tally:
    if model is None:
        return tally
    from calibrant.cli.fitting import load_model

    return tally.rescored(load_model(model)(tally.scores))


def evaluate(
    files: options.Files,
    *,
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    by: options.By = None,
    positive: options.Positive = None,
    model: ModelOption = None,
    top_label: options.Top = False,
    level: options.Level = 0.9,
    as_json: options.As_json = False,
) -> None:
    """Measure probabilities: proper scores, calibration errors with intervals, tests, and a verdict."""
    from calibrant import metrics
    from calibrant.cli.classes import class_of, one_against_rest
    from calibrant.cli.comparing import chosen
    from calibrant.cli.counting import binary, counted, counted_by

    with chosen(files, score, label, weight, by) as (table, columns):
        if len(columns.scores) > 1 and not top_label:
            if by is not None:
                raise Problem("--by with several classes needs --top-label.")
            parts = {
                name: _mapped(counted(*one_against_rest(table, columns, name, value)), model)
                for name, value in class_of(table, columns).items()
            }
            whole = None
        else:
            whole, segments = counted_by(*binary(table, columns, top_label, "evaluate"), positive)
            parts = {name: _mapped(tally, model) for name, tally in (segments or {}).items()}
    mapped = None if whole is None else _mapped(whole, model)
    for name, tally in [*([] if mapped is None else [(columns.score, mapped)]), *parts.items()]:
        _check_probabilities(name, tally, "evaluate")
    with progress("measuring"):
        found = None if mapped is None else metrics.evaluate(mapped, level=level)
        rows = [_row(name, tally) for name, tally in parts.items()]
    if as_json:
        plain = {} if found is None else found.to_dict()
        print_json(plain | ({"parts": rows} if rows else {}))
        return
    if found is not None:
        sys.stdout.write(f"{found}\n")
    if rows:
        title = "\nEach segment by itself" if found else "Each class against the rest"
        texts = [[str(_shown(value)) for value in row.values()] for row in rows]
        print_table(title, [key.replace("_", " ") for key in rows[0]], texts)


def _check_probabilities(name: str, tally: Tally, command: str) -> None:
    from calibrant.cli.counting import is_decision

    if is_decision(tally):
        low, high = tally.scores[0], tally.scores[-1]
        percent = "If they are percentages, divide them by 100. " if low >= 0.0 and 2.0 < high <= 100.0 else ""
        raise Problem(
            f"{command} needs probabilities; '{name}' goes from {low:.4g} to {high:.4g}. {percent}"
            "Learn a map with `calibrant fit` and add --model model.json, or look at all of it with `calibrant report`."
        )


def _row(name: str, tally: Tally) -> dict[str, Any]:
    from functools import partial

    from calibrant import metrics

    error = partial(metrics.expected_calibration_error, strategy="quantile")
    found = metrics.bootstrap_interval(error, tally, n_resamples=200) if tally.total >= 2 else None
    return {
        "name": name,
        "rows": tally.total,
        "base_rate": tally.base_rate,
        "mean_score": float(tally.scores @ tally.totals / tally.total),
        "log_loss": metrics.log_loss(tally),
        "brier_score": metrics.brier_score(tally),
        "ece": error(tally),
        "ece_low": found.low if found else None,
        "ece_high": found.high if found else None,
    }


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value == int(value) and value >= 2 else f"{value:.4f}"
    return "–" if value is None else str(value)


def report(
    files: options.Files,
    *,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")] = "report.html",
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    by: options.By = None,
    positive: options.Positive = None,
    method: options.Method = None,
    top_label: options.Top = False,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The heading of the page.")] = None,
) -> None:
    """Write a page on the calibration of a model: one HTML file that opens offline.

    With the scores of several classes the page is about the highest score of each row and whether its class was right.
    """
    from calibrant.cli.classes import predicted_class
    from calibrant.cli.comparing import chosen, compared_if_possible, warn_of_copies
    from calibrant.cli.counting import binary, counted_by
    from calibrant.cli.fitting import check_method
    from calibrant.cli.writing import check_target

    check_target(output)
    keep_sources(output, files)
    check_method(method)
    with chosen(files, score, label, weight, by) as (table, columns):
        warn_of_copies(table, columns)
        heading = f"Calibration of {Path(table.name).name}"
        several = len(columns.scores) > 1
        if several:
            heading += ": is the predicted class right?"
            note("Several classes: the page is about the highest score of each row and whether its class was right.")
        if several and by is None:
            note("Its segments are the predicted classes.")
            view = predicted_class(table, columns)
        else:
            view = binary(table, columns, top_label or several, "report")
        tally, segments = counted_by(*view, positive)
    commands = _commands(files, columns, positive)
    comparison = compared_if_possible(tally)
    about = {"method": method, "title": title or heading, "commands": commands, "top_label": top_label or several}
    write_page(output, tally, segments, comparison, **about)
    note(f"The report is in {output}; open it in a browser.")


def _commands(files: list[str], columns: Columns, positive: str | None) -> str:
    """The commands that calibrate these very rows; the page puts the method in."""
    ending = "".join(Path(files[0]).suffixes[-2:]) if files != ["-"] else ".csv"
    top = ["--top-label"] if len(columns.scores) > 1 else []
    scores = ["--score", ",".join(columns.scores), *top]
    more = {"--label": columns.label, "--weight": columns.weight, "--positive": positive}
    given = [part for option, value in more.items() if value is not None for part in (option, value)]
    source = files if files != ["-"] else [f"data{ending}"]
    fit = shlex.join(["calibrant", "fit", *source, *scores, *given])
    apply = shlex.join(["calibrant", "apply", "calibration.json", f"new{ending}", *scores, "-o", f"calibrated{ending}"])
    return f"{fit} --method {{method}} -o calibration.json\n{apply}"


def write_page(output: str, tally: Tally, segments: Any, comparison: Comparison | None, **arguments: Any) -> None:
    """The page, whole or not at all; on standard output where the name is ``-``."""
    from calibrant.cli.stand_ins import load_scikit_learn
    from calibrant.cli.writing import written

    load_scikit_learn()
    from calibrant.report import write_report

    with written(output) as path, progress("writing the report"):
        write_report(path, tally, segments=segments, comparison=comparison, **arguments)


def monitor(
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help="Rows from when the model was deployed.")],
    current: Annotated[list[str], typer.Argument(metavar="CURRENT", help="All rows since then.")],
    *,
    score: options.Score = None,
    label: options.Label = None,
    positive: options.Positive = None,
    model: ModelOption = None,
    alpha: Annotated[float, typer.Option("--alpha", help="Share of false alarms, over all looks together.")] = 0.05,
    fail: Annotated[bool, typer.Option("--fail", help=f"Exit with {ALARM} on an alarm.")] = False,
    as_json: options.As_json = False,
) -> None:
    """Test whether probabilities still hold; valid however often it is repeated, if CURRENT holds all rows so far."""
    from calibrant.cli.comparing import chosen
    from calibrant.cli.counting import binary, counted
    from calibrant.cli.fitting import load_model
    from calibrant.cli.stand_ins import load_scikit_learn

    if not 0.0 < alpha < 1.0:
        raise Problem(f"--alpha must lie between 0 and 1; got {alpha:g}.")
    tallies = []
    map_ = None if model is None else load_model(model)
    for files in ([reference], current):
        with chosen(files, score, label) as (table, columns):
            tallies.append(counted(*binary(table, columns, False, "monitor"), positive))
            if map_ is None:
                _check_probabilities(columns.score, tallies[-1], "monitor")
            score, label = list(columns.scores), columns.label
    load_scikit_learn()
    from calibrant.monitoring import compare_tallies

    found = compare_tallies(*tallies, map_=map_)
    alarm = found.p_value <= alpha
    if as_json:
        print_json(vars(found) | {"p_value": found.p_value, "alarm": alarm})
    else:
        low, high = found.base_rate_interval
        rows = [
            ["rows", f"{found.rows[0]:g}", f"{found.rows[1]:g}"],
            ["share of positives", f"{found.base_rates[0]:.4f}", f"{found.base_rates[1]:.4f}"],
            ["mean predicted", "", f"{found.mean_predicted:.4f}"],
        ]
        print_table("", ["", "reference", "current"], rows)
        sys.stdout.write(
            f"Change of the share of positives: 95 % interval [{low:+.4f}, {high:+.4f}].\n"
            f"Shift of the scores: largest gap {found.score_shift:.4f}, population stability "
            f"index {found.population_stability_index:.4f}.\n"
            f"{_verdict(found, alarm, alpha)}\n"
        )
    if alarm and fail:
        raise typer.Exit(ALARM)


def _verdict(found: Any, alarm: bool, alpha: float) -> str:
    evidence = f"evidence {found.e_value:.3g}, alarm from {1 / alpha:g}"
    if alarm:
        return f"ALARM: the probabilities no longer hold ({evidence}). Fit again with the new rows."
    return f"No alarm: nothing speaks against the probabilities so far ({evidence})."
