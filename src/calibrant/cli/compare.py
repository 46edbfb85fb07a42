"""compare, report, demo: which method suits these rows, as a table or as a page."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from calibrant.cli import options
from calibrant.cli.columns import Columns, name_columns, split
from calibrant.cli.errors import Refusal
from calibrant.cli.methods import check_methods, method_names
from calibrant.cli.printing import check_target, is_stdout, note, print_json, print_table, progress, written
from calibrant.cli.problems import MOST_SEGMENTS, Problem, read_problem, read_unlabelled

if TYPE_CHECKING:
    from calibrant.comparison.result import Comparison

COST_FP = "Cost of a false positive; with --cost-fn adds a section on decisions."
COST_FN = "Cost of a false negative."
THRESHOLDS = "Lowest and highest probability from which one might act; adds a section on decisions."
Range: TypeAlias = tuple[float, float]
Page = Annotated[str, options.option("The page to write.", "--output", "-o", value="FILE")]
UNLABELLED = "Rows without labels, with the same score column; the page then says what to expect of them."
BEFORE = """\
AdaBoost, trained on a third of scikit-learn's handwritten digits, predicts how likely each of the others is above four.
Can its probabilities be trusted, and if not, which calibration fixes them?

"""
AFTER = """
The report is in {output}; open it in a browser. With data of your own, in columns score and label:

  calibrant compare data.csv                     # which method?
  calibrant report data.csv -o report.html       # the same page
  calibrant fit data.csv -o model.json           # learn the map
  calibrant apply model.json new.csv -o out.csv  # use it
"""


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
    space: options.Space = None,
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
    names = split(method or [])
    check_methods(names)
    named = name_columns(score, label, weight, groups=groups)
    how: dict[str, Any] = {"space": space, "top_label": top_label, "crossfitted": True}
    problem = read_problem(files, named, drop_missing=drop_missing, positive=positive, **how)
    problem.check_probabilities()
    comparison = run_comparison(problem, list(names), cv=folds, repeats=repeats, level=level, rng=seed)
    if as_json:
        print_json(comparison.to_dict())
    else:
        show_comparison(comparison)


def run_comparison(problem: Problem, methods: list[str] | None = None, **how: Any) -> Comparison:
    """Compare methods with the progress shown."""
    import calibrant

    names = methods or compared_methods(problem)
    with progress("comparing", len(names)) as step:
        return calibrant.compare(**problem.data, methods=names, progress=step, **how)


def compared_methods(problem: Problem, *more: str | None) -> list[str]:
    """List the methods to compare: of those that `fit` can save the usual ones, and some more."""
    from calibrant.comparison.candidates import default_methods

    usual = default_methods(problem.method_shape, len(problem.classes))
    return [name for name in method_names(problem.method_shape) if name in usual or name in more]


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


def report(
    files: options.Files,
    *,
    output: Page = "report.html",
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    by: options.By = None,
    groups: options.Groups = None,
    drop_missing: options.Drop = False,
    positive: options.Positive = None,
    method: options.Method = None,
    space: options.Space = None,
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
    check_target(output, files)
    check_methods([method])
    if (cost_fp is None) != (cost_fn is None):
        raise Refusal("--cost-fp and --cost-fn belong together: only their ratio says from where to act.")
    costs = None if cost_fp is None else (cost_fp, cost_fn)
    asked: dict[str, Any] = {"costs": costs, "thresholds": thresholds}
    named = name_columns(score, label, weight, by, groups)
    how: dict[str, Any] = {"space": space, "top_label": top_label, "most_segments": MOST_SEGMENTS}
    problem = read_problem(files, named, drop_missing=drop_missing, positive=positive, crossfitted=True, **how)
    problem.check_probabilities()
    if problem.shape == "matrix" and (costs or thresholds):
        raise Refusal("Costs and thresholds with several classes need --top-label.")
    if unlabelled is not None:
        if len(problem.columns.scores) > 1:
            raise Refusal("--unlabelled needs one score column; it is not offered for several classes.")
        asked["unlabelled"] = read_unlabelled([unlabelled], list(problem.columns.scores))
    heading = f"Calibration of {Path(problem.name).name}" + (": is the predicted class right?" if top_label else "")
    said = ["--top-label"] * top_label + ["--space", "decision"] * (space == "decision")
    commands = _commands(files, problem.columns, positive, said)
    write_page(output, problem, method=method, title=title or heading, commands=commands, top_label=top_label, **asked)
    if not is_stdout(output):
        note(f"The report is in {output}; open it in a browser.")


def write_page(output: str, problem: Problem, *, method: str | None = None, **about: Any) -> None:
    """Write the page, whole or not at all; to standard output where the name is ``-``."""
    from calibrant.report import write_report

    about |= {"classes": problem.classes or None, "segments": problem.segments or None, "method": method}
    if problem.segments:
        about["segment_keys"] = problem.columns.by
    methods = compared_methods(problem, method)
    with written(output) as path, progress("writing the report", len(methods)) as step:
        write_report(path, **problem.data, methods=methods, progress=step, **about)


def _commands(files: list[str], columns: Columns, positive: str | None, said: list[str]) -> str:
    """Return the commands that calibrate these very rows; the page puts the method in."""
    ending = "".join(Path(files[0]).suffixes[-2:]) if files != ["-"] else ".csv"
    scores = ["--score", ",".join(columns.scores)]
    named = {"--label": columns.label, "--weight": columns.weight, "--positive": positive}
    given = [part for option, value in named.items() if value is not None for part in (option, value)]
    source = files if files != ["-"] else [f"data{ending}"]
    fit = shlex.join(["calibrant", "fit", *source, *scores, *given, *said])
    top = ["--top-label"] * ("--top-label" in said)
    again = [*scores, *top] if len(columns.scores) == 1 or top else []  # a model of all classes knows its columns
    apply = shlex.join(["calibrant", "apply", "calibration.json", f"new{ending}", *again, "-o", f"calibrated{ending}"])
    return f"{fit} --method {{method}} -o calibration.json\n{apply}"


def demo(output: Page = "calibrant-demo.html") -> None:
    """Run the whole job on a bundled data set: train, score, compare, and write a report."""
    check_target(output)
    problem = _score_digits()
    sys.stdout.write(BEFORE)
    sys.stdout.flush()
    comparison = run_comparison(problem)
    show_comparison(comparison)
    best = None if comparison.recommended == "identity" else comparison.recommended
    write_page(output, problem, comparison=comparison, method=best, title="Is the digit above four?")
    sys.stdout.write(AFTER.format(output=output))


def _score_digits() -> Problem:
    """Score digits that the model has not seen."""
    from sklearn.datasets import load_digits
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.model_selection import train_test_split

    from calibrant import Tally

    pixels, digit = load_digits(return_X_y=True)
    train, rest, y_train, y_rest = train_test_split(pixels, digit > 4, train_size=1 / 3, random_state=0)
    scores: Any = AdaBoostClassifier(random_state=0).fit(train, y_train).predict_proba(rest)[:, 1]
    return Problem("score", Columns(("score",), "label"), Tally.from_arrays(scores, y_rest))
