"""Saved models: loaded, applied to tables, asked about rows without labels, and written as SQL, ONNX or Python."""

import sys
from contextlib import nullcontext
from inspect import signature
from typing import Annotated, Any

from calibrant.cli import options
from calibrant.cli.columns import choose_scores, list_names, split, split_names
from calibrant.cli.errors import Refusal
from calibrant.cli.printing import check_screen, check_target, is_stdout, note, print_json, progress, warn, written
from calibrant.cli.problems import Problem, read_unlabelled
from calibrant.engines.tables import ENDINGS, Table, find_files, open_table

TABLE_ENDINGS = tuple(ending for kind, endings in ENDINGS.items() if kind != "json" for ending in endings)
# What a table needs for a model of each kind.
FITTING_ROWS = {
    "score": "with the scores of several classes add --top-label.",
    "matrix": "name their score columns with --score a,b,c.",
    "segments": "name the columns of the segments with --by.",
    "panel": "name each of its columns with a --score of its own.",
}
ONLY_NEW = "Write only the new columns; faster for wide tables."
INTERVALS = "Add the ends of the interval of each probability at this level, such as 0.9: NAME_low and NAME_high."
NAME = "Name of the new column; for several classes its beginning."

WHAT = "What to estimate, a,b,c: mean, positives, accuracy, precision, recall, specificity, f1, auc, …; by default all."
THRESHOLD = "Rows from this probability on are called positive; by default 0.5."
PRIOR = "Estimate the share of positives where it alone has changed since the fit."

TARGETS = {"sql": ".sql", "onnx": ".onnx", "python": ".py"}
TARGET = f"{', '.join(TARGETS)}; by default from the file name."
DIALECT = "SQL dialect: duckdb, spark, …; by default duckdb."
SCORE = "Score column in SQL; by default score."
ENDS = "Write the ends of the interval at this level, such as 0.9, beside the probability; for SQL and Python."
FUNCTION = "Name of the function in Python; by default calibrate."


def load_model(path: str, problem: Problem | None = None) -> Any:
    """Load the map in a file; one that was fitted to rows of another shape than those of a problem is refused."""
    from calibrant.errors import ModelFileError
    from calibrant.maps.loading import load

    try:
        map_: Any = load(find_files(path)[0])
    except ModelFileError as error:
        if path.lower().endswith(TABLE_ENDINGS):
            raise Refusal(f"{path} is no model but a table; name the model first, then the tables.") from error
        raise
    if problem is None:
        return map_
    if map_.kind not in (problem.shape, problem.method_shape):
        raise Refusal(f"{path} is a model of {describe_kind(map_)}; {FITTING_ROWS[map_.kind]}")
    if map_.kind == "segments" and len(map_.keys.names) != len(problem.columns.by):
        raise Refusal(f"--by must name a column for each key of the model, {', '.join(map_.keys.names)}.")
    if problem.space == "decision" and map_.space != "decision":
        raise Refusal(f"{path} was fitted to probabilities; leave out --space decision.")
    return map_


def describe_kind(map_: Any) -> str:
    """Say what a model was fitted to."""
    if map_.kind == "panel":
        return f"{len(map_.names)} scores"
    return {"score": "one score", "segments": "segments"}.get(map_.kind) or f"{len(map_.classes)} classes"


def apply(
    model: options.Model,
    files: options.Files,
    *,
    score: options.Score = None,
    by: options.By = None,
    missing: options.Missing = None,
    name: Annotated[str, options.option(NAME, "--name", value="NAME")] = "probability",
    only_new: Annotated[bool, options.option(ONLY_NEW, "--only-new")] = False,
    top_label: options.Top = False,
    output: options.Output = None,
    format_: options.Format = None,
    level: Annotated[float | None, options.option(INTERVALS, "--level", value="LEVEL")] = None,
) -> None:
    """Add the calibrated probability to a table of any size; all columns and the order of rows are kept.

    A model of several classes adds a column for each, and finds the score columns by the names that it was fitted to.
    One of segments finds their columns by the names of the fit; --by names others, in the same order.
    A folder with a column in its names, as in day=2026-01-01, is written as such a folder by -o FOLDER/.
    """
    from calibrant.engines import apply_file
    from calibrant.engines.file_apply import is_folder

    check_target(output, [model])
    kind = None if is_folder(output) else output_kind(output, format_)
    map_ = load_model(model)
    if map_.kind != "segments" and (by or missing):
        raise Refusal("--by and --missing are for a model of segments; fit one with `calibrant fit --by`.")
    how: dict[str, Any] = {"missing": missing, "name": name, "only_new": only_new, "level": level}
    with open_table(files) as table:
        scores = _choose_scores(map_, table, score or [], top_label)
        keys = split_names(table, by or [], "--by")
        to_file = nullcontext(output) if not is_stdout(output) else written(None)
        with progress(f"calibrating {table.name}"), to_file as path:
            done = apply_file(map_, table, str(path), score=scores, by=keys, format=kind, **how)
    where = "" if is_stdout(output) else f" Saved to {output}."
    note(f"{done.rows} rows calibrated; new: {list_names(done.columns)}.{where}")
    for remark in done.remarks:
        warn(remark)


def _choose_scores(map_: Any, table: Table, given: list[str], top_label: bool) -> tuple[str, ...]:
    """Choose the score columns: as told, as the model was fitted, or guessed for a model of one score."""
    if map_.kind == "panel":
        if given or top_label:
            raise Refusal("A model of several scores finds them by their names; leave out --score and --top-label.")
        return tuple(map_.names)
    if map_.kind != "matrix":
        scores = choose_scores(table, given)
        if top_label and len(scores) == 1:
            raise Refusal("--top-label needs the score columns of all classes; name them with --score a,b,c.")
        if len(scores) > 1 and not top_label:
            raise Refusal("The model is of one score; to apply it to the highest score of each row add --top-label.")
        return scores
    if top_label:
        raise Refusal("--top-label is for a model of one score; this one is of all classes. Leave it out.")
    scores = choose_scores(table, given or map_.columns or [str(label) for label in map_.classes])
    return map_.columns if set(scores) == set(map_.columns) else scores  # names tell more than their order


def output_kind(output: str | None, given: str | None) -> str:
    """Return the format to write, on standard output CSV unless another is given; binary ones are not for a screen."""
    from calibrant.engines.file_apply import output_format

    kind = output_format("-.csv" if is_stdout(output) else output or "", "json" if given == "jsonl" else given)
    if kind == "parquet":
        check_screen(output, kind.capitalize())
    return kind


def estimate(
    model: options.Model,
    files: options.Files,
    *,
    score: options.Score = None,
    weight: options.Weight = None,
    what: Annotated[list[str] | None, options.option(WHAT, "--what", value="NAME")] = None,
    threshold: Annotated[float | None, options.option(THRESHOLD, "--threshold", value="P")] = None,
    prior: Annotated[bool, options.option(PRIOR, "--prior")] = False,
    level: options.Level = 0.9,
    as_json: options.As_json = False,
) -> None:
    """Estimate how often it happens, and how good the model is, on rows without labels; with intervals."""
    from calibrant.adjust.prior import estimate_prior
    from calibrant.estimates import QUANTITIES, estimate_several

    if prior and (what or threshold is not None):
        raise Refusal("--prior estimates the share of positives alone; leave out --what and --threshold.")
    map_ = load_model(model)
    if map_.kind not in (("score",) if prior else ("score", "panel")):
        asks = "--prior is for models of one score" if prior else "estimates are for models of one score or of several"
        raise Refusal(f"{model} is a model of {describe_kind(map_)}; {asks}.")
    rows = read_unlabelled(files, score, weight, map_)
    with progress("estimating"):
        if prior:
            found: Any = [estimate_prior(map_, rows, level=level)]
        else:
            cut = threshold if what or threshold is not None else 0.5
            names = split(what or list(QUANTITIES))
            found = list(estimate_several(map_, rows, names, threshold=cut, level=level).values())
    if as_json:
        print_json(found[0] if prior else {"estimates": found})
        return
    for answer in found:
        sys.stdout.write(f"{str(answer).removesuffix(answer.warning).rstrip()}\n")
    for warning in dict.fromkeys(answer.warning for answer in found if answer.warning):
        warn(warning)


def export(
    model: options.Model,
    *,
    to: Annotated[str | None, options.option(TARGET, "--to", "-t", value="TARGET")] = None,
    dialect: Annotated[str | None, options.option(DIALECT, "--dialect", value="DIALECT")] = None,
    score: Annotated[str | None, options.option(SCORE, "--score", "-s", value="COLUMN")] = None,
    by: Annotated[list[str] | None, options.option("Columns of segments in SQL.", "--by", value="COLUMN")] = None,
    name: Annotated[str | None, options.option(FUNCTION, "--name", value="NAME")] = None,
    level: Annotated[float | None, options.option(ENDS, "--level", value="LEVEL")] = None,
    output: options.Output = None,
) -> None:
    """Write a model as SQL, ONNX or Python; it is run and compared with the model before it is written."""
    import calibrant.export
    from calibrant.export.parity import TITLES

    check_target(output, [model])
    target = to or next((kind for kind, ends in TARGETS.items() if (output or "").endswith(ends)), None)
    if target not in TARGETS:
        known = ", ".join(TARGETS)
        raise Refusal(f"--to must be one of {known}; got {to}. Or name a file such as -o map.sql.")
    if target == "onnx":
        check_screen(output, "ONNX")
    exporter, title = getattr(calibrant.export, f"to_{target}"), TITLES[f"to_{target}"]
    asked = {"dialect": dialect, "column": score, "by": split(by or []) or None, "name": name, "level": level}
    given = {argument: value for argument, value in asked.items() if value is not None}
    unused = next((argument for argument in given if argument not in signature(exporter).parameters), None)
    if unused is not None:
        raise Refusal(f"--{'score' if unused == 'column' else unused} is not for {title}; leave it out.")
    with progress(f"exporting to {target}"):
        content = exporter(load_model(model), **given)
    with written(output) as path:
        # An ONNX model is a message that writes itself; the others are text.
        path.write_bytes(content.SerializeToString() if target == "onnx" else f"{content.rstrip()}\n".encode())
    if not is_stdout(output):
        note(f"{title} written to {output}, after checking it against the model.")
