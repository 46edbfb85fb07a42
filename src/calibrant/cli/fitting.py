"""fit, apply: make a map, and use it."""

from __future__ import annotations

import difflib
import glob
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.printing import note, print_json, progress, warn
from calibrant.cli.problems import Problem, keep_sources

if TYPE_CHECKING:
    from calibrant.calibrators.base import Calibrator
    from calibrant.maps import CalibrationMap
    from calibrant.tally import Tally

__all__ = ["apply", "default_method", "fit", "load_model"]

FALLBACK = "bayes_iso"  # for scores that are not probabilities, where the default method needs them


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
    keep_sources(output, files)
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
    several = len(tallies) > 1
    fitted = {
        path: _fitted(tally, method, settings, Path(path or "").name if several else "")
        for path, tally in tallies.items()
    }
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
    from calibrant.cli.stand_ins import load_scikit_learn

    load_scikit_learn()
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


def _fitted(tally: Tally, method: str | None, settings: dict[str, Any], name: str) -> Calibrator:
    from calibrant.cli.counting import warn_of_one_class

    warn_of_one_class(tally, name)
    calibrator = created(tally, method, settings)
    with progress(f"fitting {type(calibrator).__name__}"):
        return calibrator.fit_tally(tally)


def _saved(calibrator: Calibrator, tally: Tally, output: str | None) -> dict[str, Any]:
    from calibrant import metrics
    from calibrant.cli.counting import is_decision
    from calibrant.cli.writing import written
    from calibrant.tally import row_count

    with written(output) as path:
        calibrator.save(path)
    after = tally.rescored(calibrator.predict(tally.scores))
    before = None if is_decision(tally) else metrics.log_loss(tally)
    change = f"log-loss {metrics.log_loss(after):.4f}" + (f", before {before:.4f}" if before is not None else "")
    where = "" if output in (None, "-") else f" Saved to {output}."
    rows = f"{row_count(tally.total)} rows, {100 * tally.base_rate:.3g} % positive"
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
    model: options.Model,
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
    from calibrant.cli.columns import choose_score
    from calibrant.cli.scoring import Scoring
    from calibrant.cli.tables import opened, quoted
    from calibrant.cli.writing import check_target, format_for

    check_target(output)
    format_for(output, format_)
    with opened(files) as table:
        scores = choose_score(table, score or [])
        if len(scores) > 1 and not top_label:
            maps = {f"{name}_{one}": (quoted(one), load_model(class_file(model, one))) for one in scores}
            _warn_of_others(model, scores)
        else:
            of = highest_of(scores) if len(scores) > 1 else quoted(scores[0])
            maps = {name: (of, load_model(model))}
        scoring = Scoring(table, maps, normalise=len(maps) > 1)
        with progress(f"calibrating {table.name}"):
            rows = scoring.write(output, format_)
            unusable = scoring.unusable()
    where = "" if output in (None, "-") else f" Saved to {output}."
    note(f"{rows} rows calibrated; new: {', '.join(maps)}.{where}")
    if unusable:
        warn(f"{unusable} scores are missing, not finite or outside the map's range; their result is empty.")


def _warn_of_others(model: str, scores: Sequence[str]) -> None:
    """Say so where classes that were fitted are left out: the others then share what would be theirs."""
    path = Path(model)
    used = {Path(class_file(model, one)).name for one in scores}
    others = sorted(
        found.name for found in path.parent.glob(f"{glob.escape(path.stem)}.*.json") if found.name not in used
    )
    if others:
        shown = f"{', '.join(others[:3])}{', …' if len(others) > 3 else ''}"
        warn(f"The probabilities add up to 1 over the {len(scores)} named classes; not used: {shown}.")


def load_model(path: str) -> CalibrationMap:
    """The map in a file."""
    from calibrant.cli.files import found_files
    from calibrant.maps import load

    return load(found_files(path)[0])
