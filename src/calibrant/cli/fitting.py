"""fit, apply, export: make a map, use it, ship it."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.printing import note, print_json, progress, warn
from calibrant.cli.problems import Problem

if TYPE_CHECKING:
    from calibrant.calibrators.base import Calibrator
    from calibrant.maps import CalibrationMap
    from calibrant.tally import Tally

__all__ = ["apply", "default_method", "export", "fit"]

FALLBACK = "bayes_iso"  # for scores that are not probabilities, where the default method needs them
ModelFile = Annotated[str, typer.Argument(help="A model that `calibrant fit` wrote.", metavar="MODEL")]


def default_method() -> str:
    """The method that is used unless another is named."""
    from calibrant.calibrators import registry

    return str(getattr(registry, "DEFAULT_METHOD", "isotonic"))


def check_method(*names: str | None) -> None:
    """Refuse a method that does not exist before any data are read."""
    from calibrant.calibrators import registry

    for name in names:
        if name is not None and name not in registry.METHODS:
            near = difflib.get_close_matches(name, registry.METHODS, n=2, cutoff=0.5)
            hint = f"Did you mean {' or '.join(near)}?" if near else "`calibrant methods` lists them."
            raise Problem(f"There is no method {name!r}. {hint}")


def fit(
    files: options.Files,
    *,
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    positive: options.Positive = None,
    method: options.Method = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--set", help="Option of the method, such as --set n_bins=20.")
    ] = None,
    top_label: options.Top = False,
    output: options.Output = None,
    as_json: options.As_json = False,
) -> None:
    """Learn a calibration map from scores and labels, and save it as JSON."""
    from calibrant.cli.classes import class_of, one_against_rest
    from calibrant.cli.columns import choose
    from calibrant.cli.counting import binary, counted
    from calibrant.cli.tables import opened
    from calibrant.cli.writing import check_target

    check_target(output)
    if as_json and output in (None, "-"):
        raise Problem("--json prints a summary, so the model needs a file of its own; name it with -o model.json.")
    check_method(method)
    settings = _parameters(parameter or [])
    with opened(files) as table:
        columns = choose(table, score or [], label, weight)
        if len(columns.scores) == 1 or top_label:
            tallies = {output: counted(*binary(table, columns, top_label, "fit"), positive)}
        else:
            if output in (None, "-"):
                raise Problem("With several classes there is a model for each; name the files with -o model.json.")
            tallies = {
                class_file(output or "", name): counted(*one_against_rest(table, columns, name, value))
                for name, value in class_of(table, columns).items()
            }
    fitted = {path: _fitted(tally, method, settings) for path, tally in tallies.items()}
    summaries = [_saved(calibrator, tallies[path], path) for path, calibrator in fitted.items()]
    if as_json:
        print_json(summaries[0] if len(summaries) == 1 else summaries)


def class_file(output: str, name: str) -> str:
    """Where the map of one class is kept: ``model.json`` → ``model.cat.json``."""
    path = Path(output)
    return str(path.with_name(f"{path.stem}.{name}{path.suffix or '.json'}"))


def _parameters(given: list[str]) -> dict[str, Any]:
    found = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign:
            raise Problem(f"--set needs a name and a value, such as n_bins=20; got {text!r}.")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    return found


def created(tally: Tally, method: str | None, settings: dict[str, Any]) -> Calibrator:
    """A calibrator that suits the scores of a tally."""
    from calibrant.calibrators import registry
    from calibrant.cli.counting import is_decision

    name = method or default_method()
    decision = is_decision(tally)
    known = registry.get(name)._get_param_names()
    strange = next((key for key in settings if key not in known), None)
    if strange is not None:
        raise Problem(f"{name} has no option {strange!r}; it has {', '.join(known) or 'none'}.")
    if decision and "space" in known:
        settings = {"space": "decision"} | settings
    calibrator = registry.create(name, **settings)
    if decision and method is None and calibrator.space == "probability":
        note(f"The scores are not probabilities, which {name} needs, so {FALLBACK} is used.")
        return registry.create(FALLBACK)
    return calibrator


def _fitted(tally: Tally, method: str | None, settings: dict[str, Any]) -> Calibrator:
    calibrator = created(tally, method, settings)
    with progress(f"fitting {type(calibrator).__name__}"):
        return calibrator.fit_tally(tally)


def _saved(calibrator: Calibrator, tally: Tally, output: str | None) -> dict[str, Any]:
    from calibrant import metrics
    from calibrant.cli.counting import is_decision
    from calibrant.cli.writing import written

    with written(output) as path:
        calibrator.save(path)
    after = tally.rescored(calibrator.predict(tally.scores))
    before = None if is_decision(tally) else metrics.log_loss(tally)
    change = f"log-loss {metrics.log_loss(after):.4f}" + (f", before {before:.4f}" if before is not None else "")
    where = "" if output in (None, "-") else f" Saved to {output}."
    rows = f"{tally.total:g} rows, {100 * tally.base_rate:.3g} % positive"
    note(f"{type(calibrator).__name__} fitted to {rows}: {change} (on these rows).{where}")
    return {
        "method": type(calibrator).__name__,
        "rows": tally.total,
        "base_rate": tally.base_rate,
        "log_loss_before": before,
        "log_loss_after": metrics.log_loss(after),
        "output": output,
    }


def apply(
    model: ModelFile,
    files: options.Files,
    *,
    score: options.Score = None,
    name: Annotated[str, typer.Option("--name", help="Name of the new column.")] = "probability",
    top_label: options.Top = False,
    output: options.Output = None,
    format_: options.Format = None,
) -> None:
    """Add the calibrated probability to a table of any size; all columns and the order of rows are kept."""
    from calibrant.cli.classes import highest_of
    from calibrant.cli.columns import choose_score, split
    from calibrant.cli.scoring import Scoring
    from calibrant.cli.tables import opened, quoted
    from calibrant.cli.writing import check_target, format_for

    check_target(output)
    format_for(output, format_)
    several = not top_label and len(split(score or [])) > 1
    models = {one: load_model(class_file(model, one) if several else model) for one in split(score or []) or [""]}
    with opened(files) as table:
        scores = choose_score(table, score or [])
        if several:
            maps = {f"{name}_{one}": (quoted(one), models[one]) for one in scores}
        else:
            found = next(iter(models.values()))
            maps = {name: (highest_of(scores) if len(scores) > 1 else quoted(scores[0]), found)}
        scoring = Scoring(table, maps, normalise=len(maps) > 1)
        with progress(f"calibrating {table.name}"):
            rows = scoring.write(output, format_)
            unusable = scoring.unusable()
    where = "" if output in (None, "-") else f" Saved to {output}."
    note(f"{rows} rows calibrated; new: {', '.join(maps)}.{where}")
    if unusable:
        warn(f"{unusable} scores are missing, not finite or outside the map's range; their result is empty.")


def load_model(path: str) -> CalibrationMap:
    """The map in a file."""
    from calibrant.cli.files import found_files
    from calibrant.maps import load

    return load(found_files(path)[0])


TARGETS = {"sql": (".sql",), "onnx": (".onnx",), "python": (".py",), "c": (".c", ".h"), "schema": (".schema.json",)}


def export(
    model: ModelFile,
    *,
    to: Annotated[
        str | None, typer.Option("--to", "-t", help=f"{', '.join(TARGETS)}; by default the ending of --output.")
    ] = None,
    dialect: Annotated[str, typer.Option("--dialect", help="SQL dialect: duckdb, postgres, spark, …")] = "duckdb",
    score: Annotated[str, typer.Option("--score", "-s", help="Name of the score column in SQL.")] = "score",
    name: Annotated[str, typer.Option("--name", help="Name of the function in Python and C.")] = "calibrate",
    output: options.Output = None,
) -> None:
    """Write a model as SQL, ONNX, Python or C; it is run and compared with the model before it is written."""
    import calibrant.export
    from calibrant.cli.writing import check_screen, check_target, written

    check_target(output)
    target = to or next((kind for kind, ends in TARGETS.items() if (output or "").endswith(ends)), None)
    if target not in TARGETS:
        raise Problem(f"--to must be one of {', '.join(TARGETS)}; got {to or 'nothing'}.")
    if target == "onnx":
        check_screen(output, "ONNX")
    map_ = load_model(model)
    with progress(f"exporting to {target}"):
        if target == "onnx":
            content = calibrant.export.to_onnx(map_).SerializeToString()
        elif target == "schema":
            content = json.dumps(calibrant.export.schema(), indent=1).encode() + b"\n"
        elif target == "sql":
            content = calibrant.export.to_sql(map_, dialect=dialect, column=score).encode() + b"\n"
        else:
            write = calibrant.export.to_python if target == "python" else calibrant.export.to_c
            content = write(map_, name=name).encode()
    with written(output) as path:
        path.write_bytes(content)
    if output not in (None, "-"):
        note(f"{target} written to {output}, after checking it against the model.")
