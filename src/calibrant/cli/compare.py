"""compare, evaluate, gate, report: how good probabilities are, which method suits them, which rows to accept."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from calibrant.cli import options
from calibrant.cli.columns import Columns, split
from calibrant.cli.errors import Refusal
from calibrant.cli.methods import check_methods, method_names
from calibrant.cli.models import load_model
from calibrant.cli.printing import check_target, is_stdout, note, print_json, print_table, progress, written
from calibrant.cli.problems import FIT_FIRST, MOST_SEGMENTS, Problem, read_unlabelled

COST_FP = "Cost of a false positive; with --cost-fn adds a section on decisions."
THRESHOLDS = "Lowest and highest probability from which one might act; adds a section on decisions."
SECTION = "Share of right rows that accepted ones must have; adds a section on which rows to accept."
TRIPOD = "Add the TRIPOD+AI checklist for papers; --by are subgroups and --groups centres."
Range: TypeAlias = tuple[float, float]
Page = Annotated[str, options.option("The page to write.", "--output", "-o", value="FILE")]
SECTION_TIME = "Column of times: adds a section on what changed from period to period."
EVERY = "Join dates to periods: day, week, month, quarter or year; by default each value is a period."
BLOCKS = "Column of times: judge methods on blocks of time, each by fits to the rows before it."
UNLABELLED = "Rows without labels, with the same score column: for them the gate is meant; a page says what to expect."
PRECISION = "The wanted share of right rows among accepted ones, such as 0.95."
BUDGET = "In place of --precision: how many rows people can look at, as a share below 1 or a number."
CONFIDENCE = "The probability with which the precision is kept."
GUARANTEE = (
    "finite_sample, proved where the precision from a score up falls below the wanted one at most once as the score is "
    "lowered, as where higher scores are right more often; or posterior, which accepts more and assumes more."
)
Unlabelled = Annotated[str | None, options.option(UNLABELLED, "--unlabelled", value="FILE")]


@options.reads_rows("weight", "groups", "space", "top_label")
def compare(
    rows: options.RowOptions,
    *,
    method: options.Methods = None,
    folds: Annotated[int, options.option("Number of folds.", "--folds", value="FOLDS")] = 5,
    repeats: Annotated[int, options.option("Number of repeated cross-validations.", "--repeats", value="REPEATS")] = 1,
    time: Annotated[str | None, options.option(BLOCKS, "--time", value="COLUMN")] = None,
    level: options.Level = 0.9,
    seed: options.Seed = 0,
    as_json: options.As_json = False,
) -> None:
    """Cross-validate all methods, doing nothing among them, and recommend one.

    With the scores of several classes the methods for whole matrices are compared, by their proper scores. With
    several --score, all scores of a row together are compared with each alone and with their mean.
    """
    import calibrant

    names = split(method or [])
    check_methods(names)
    problem = rows.read(crossfitted=True, time=time)
    problem.check_probabilities()
    with progress("comparing") as step:
        comparison = calibrant.compare(
            **problem.data,
            methods=list(names) or compared_methods(problem),
            cv=folds,
            repeats=repeats,
            level=level,
            rng=seed,
            progress=step,
        )
    if as_json:
        print_json(comparison)
        return
    # Of the intervals only those of the paired differences matter here; --json has all.
    done = [result.texts() for result in comparison.results if result.log_loss is not None]
    rows_of_table = [[name, *(text.partition(" [")[0] for text in more[:3]), *more[3:5]] for name, *more in done]
    headers = [header.replace("Brier score", "Brier") for header in comparison.headers[:6]]
    print_table(comparison.title, headers, rows_of_table)
    sys.stdout.write(f"Recommended: {comparison.reason}\n")
    for text in comparison.notes:
        note(f"- {text}")


def compared_methods(problem: Problem, *more: str | None) -> list[str]:
    """List the methods to compare: of those that `fit` can save the usual ones, and some more."""
    from calibrant.comparison.candidates import default_methods

    usual = default_methods(problem.method_shape, len(problem.classes), problem.columns.scores)
    known = usual if problem.shape == "panel" else method_names(problem.method_shape)
    return [name for name in known if name in usual or name in more]


@options.reads_rows("weight", "by", "groups", "space", "top_label")
def evaluate(
    rows: options.RowOptions,
    *,
    model: options.ModelOption = None,
    level: options.Level = 0.9,
    as_json: options.As_json = False,
) -> None:
    """Measure probabilities: proper scores, calibration errors with intervals, tests, and a verdict.

    With --by also of each segment; with the scores of several classes of each class against the rest. Several --score
    stand side by side; with --model it is the probability that a map makes of them.
    """
    from calibrant import metrics

    raw = rows.read(most_segments=MOST_SEGMENTS)
    problem = raw.calibrated(None if model is None else load_model(model, raw))
    problem.check_probabilities(FIT_FIRST)
    with progress("measuring"):
        scores, labels, weights, groups, _ = problem.rows or (None, problem.tally, None, None, None)
        evaluation = metrics.evaluate(labels, scores, groups=groups, sample_weight=weights, level=level)
        measured = [_measure(name, tally, level) for name, tally in problem.parts.items()]
    if as_json:
        print_json(evaluation.to_dict() | ({"parts": measured} if measured else {}))
        return
    sys.stdout.write(f"{evaluation}\n")
    if measured:
        title = "Each class against the rest" if problem.shape == "matrix" else "Each segment separately"
        forms = dict.fromkeys(measured[0], ".4f") | {"name": "", "rows": ".10g", "ece": ""}
        texts = [
            ["–" if row[key] is None else format(row[key], form) for key, form in forms.items()] for row in measured
        ]
        print_table(f"\n{title}", [key.replace("_", " ") for key in measured[0]], texts)


def _measure(name: str, tally: Any, level: float) -> dict[str, Any]:
    from calibrant import metrics

    error = partial(metrics.expected_calibration_error, strategy="quantile")
    return {
        "name": name,
        "rows": tally.total,
        "base_rate": tally.base_rate,
        "mean_score": float(tally.scores @ tally.totals / tally.total),
        "log_loss": metrics.log_loss(tally),
        "brier_score": metrics.brier_score(tally),
        "ece": metrics.bootstrap_interval(error, tally, n_resamples=200, level=level) if tally.total >= 2 else None,
    }


@options.reads_rows("weight", "by", "space", "top_label")
def gate(
    rows: options.RowOptions,
    *,
    precision: Annotated[float | None, options.option(PRECISION, "--precision", "-p", value="SHARE")] = None,
    budget: Annotated[float | None, options.option(BUDGET, "--budget", value="ROWS")] = None,
    confidence: Annotated[float, options.option(CONFIDENCE, "--confidence", value="LEVEL")] = 0.9,
    guarantee: Annotated[str, options.option(GUARANTEE, "--guarantee", value="WHAT")] = "finite_sample",
    unlabelled: Unlabelled = None,
    as_json: options.As_json = False,
) -> None:
    """Find the lowest score from which accepted rows keep a precision, and say how many pass.

    With --by a gate for each segment, all of which keep it at once; with the scores of several classes, of the top one.
    """
    problem = rows.read(most_segments=MOST_SEGMENTS)
    problem.check_probabilities()
    if problem.shape == "panel":
        raise Refusal("A gate takes one score; make one of several with `calibrant fit` and `calibrant apply`.")
    if problem.segments and (precision is None or unlabelled is not None):
        raise Refusal("A gate for each segment needs --precision, and takes neither --budget nor --unlabelled.")
    asked: dict[str, Any] = {"precision": precision, "confidence": confidence, "guarantee": guarantee}
    with progress("finding the gate"):
        found = _find_gate(problem, asked, budget, unlabelled)
    if as_json:
        print_json(found.to_dict())
    else:
        sys.stdout.write(f"{found}\n")


def _find_gate(problem: Problem, asked: dict[str, Any], budget: float | None, unlabelled: str | None) -> Any:
    from calibrant import Blend
    from calibrant.decisions import acceptance

    if problem.segments:
        return acceptance(problem.parts, space=problem.space, **asked)
    target = None if unlabelled is None else read_unlabelled([unlabelled], list(problem.columns.scores))
    asked |= {"budget": budget, "unlabelled": target, "space": problem.space}
    if problem.shape == "matrix":
        scores, labels, weights, *_ = problem.rows
        return acceptance(labels, scores, sample_weight=weights, **asked)
    blend = Blend(space=problem.space).fit_tally(problem.tally)  # names the calibrated probability beside the score
    return acceptance(problem.tally, calibrator=blend, **asked)


@options.reads_rows("weight", "by", "groups", "space", "top_label")
def report(
    rows: options.RowOptions,
    *,
    time: Annotated[str | None, options.option(SECTION_TIME, "--time", value="COLUMN")] = None,
    every: Annotated[str | None, options.option(EVERY, "--every", value="LENGTH")] = None,
    output: Page = "report.html",
    method: options.Method = None,
    cost_fp: Annotated[float | None, options.option(COST_FP, "--cost-fp", value="COST")] = None,
    cost_fn: Annotated[float | None, options.option("Cost of a false negative.", "--cost-fn", value="COST")] = None,
    thresholds: Annotated[Range | None, options.option(THRESHOLDS, "--thresholds", value="LOW HIGH")] = None,
    precision: Annotated[float | None, options.option(SECTION, "--precision", value="SHARE")] = None,
    unlabelled: Unlabelled = None,
    tripod: Annotated[bool, options.option(TRIPOD, "--tripod")] = False,
    title: Annotated[str | None, options.option("The heading of the page.", "--title", value="TEXT")] = None,
) -> None:
    """Write a page on the calibration of a model: one HTML file that opens offline.

    With the scores of several classes the page is about the predicted class, each class, and all of them together.
    """
    from calibrant.report import write_report

    check_target(output, rows.files)
    check_methods([method])
    if (cost_fp is None) != (cost_fn is None):
        raise Refusal("--cost-fp and --cost-fn belong together: only their ratio says from where to act.")
    costs = None if cost_fp is None else (cost_fp, cost_fn)
    asked: dict[str, Any] = {"costs": costs, "thresholds": thresholds, "precision": precision, "every": every}
    problem = rows.read(crossfitted=True, most_segments=MOST_SEGMENTS, time=time, single=tripod)
    problem.check_probabilities()
    asked["tripod"] = tripod and problem.rows.by
    if unlabelled is not None:
        asked["unlabelled"] = read_unlabelled([unlabelled], list(problem.columns.scores))
    heading = f"Calibration of {Path(problem.name).name}" + ": is the predicted class right?" * rows.top_label
    asked |= {"title": title or heading, "commands": _commands(rows, problem.columns), "top_label": rows.top_label}
    asked |= {"classes": problem.classes or None, "segments": problem.segments or None, "method": method}
    asked |= {"segment_keys": problem.columns.by, "methods": compared_methods(problem, method)}
    with written(output) as path, progress("writing the report") as step:
        write_report(path, **problem.data, progress=step, **asked)
    if not is_stdout(output):
        note(f"The report is in {output}; open it in a browser.")


def _commands(rows: options.RowOptions, columns: Columns) -> str:
    """Return the commands that calibrate these very rows; the page puts the method in."""
    files, top = rows.files, ["--top-label"] * rows.top_label
    ending = "".join(Path(files[0]).suffixes[-2:]) if files != ["-"] else ".csv"
    several = columns.scores if len(rows.score or ()) > 1 and not top else (",".join(columns.scores),)
    scores = [part for name in several for part in ("--score", name)]
    named = {"--label": columns.label, "--weight": columns.weight, "--positive": rows.positive, "--space": rows.space}
    given = [part for option, value in named.items() if value is not None for part in (option, value)]
    source = files if files != ["-"] else [f"data{ending}"]
    fit = shlex.join(["calibrant", "fit", *source, *scores, *given, *top])
    again = [*scores, *top] if len(columns.scores) == 1 or top else []  # a model of all classes knows its columns
    apply = shlex.join(["calibrant", "apply", "calibration.json", f"new{ending}", *again, "-o", f"calibrated{ending}"])
    return f"{fit} --method {{method}} -o calibration.json\n{apply}"
