"""fit: learn a map from scores and labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.options import check_method
from calibrant.cli.printing import check_target, is_stdout, note, print_json, progress, written

if TYPE_CHECKING:
    from calibrant.calibrators.base import Calibrator
    from calibrant.tally import Tally

SETTING = "Option of the method, such as --set n_bins=20."


def fit(
    files: options.Files,
    *,
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    by: options.Keys = None,
    missing: options.Missing = None,
    positive: options.Positive = None,
    method: options.Method = None,
    settings: Annotated[list[str] | None, options.option(SETTING, "--set", value="NAME=VALUE")] = None,
    top_label: options.Top = False,
    output: options.Output = None,
    as_json: options.As_json = False,
) -> None:
    """Learn a calibration map from scores and labels, and save it as JSON; with --by, one for many segments."""
    from calibrant.cli.tallies import binary, count, count_classes, open_with_columns

    check_target(output, files)
    if as_json and is_stdout(output):
        raise Problem("--json prints a summary, so the model needs a file of its own; name it with -o model.json.")
    check_method(method)
    parameters = _parse_settings(settings or [])
    if by:
        from calibrant.cli.segments import fit_segments

        with open_with_columns(files, score, label, weight, by) as (table, columns):
            view, names = binary(table, columns, top_label, "fit")
            pooled = _pooled(method, parameters)
            summary = fit_segments(view, names, pooled, positive=positive, missing=missing or "error", output=output)
        if as_json:
            print_json(summary)
        return
    if missing:
        raise Problem("--missing is about segments; name their column with --by.")
    with open_with_columns(files, score, label, weight) as (table, columns):
        if len(columns.scores) == 1 or top_label:
            tallies = {output: count(*binary(table, columns, top_label, "fit"), positive)}
        elif output is None or is_stdout(output):
            raise Problem("With several classes there is a model for each; name the files with -o model.json.")
        else:
            tallies = {class_file(output, name): tally for name, tally in count_classes(table, columns).items()}
    fitted = {
        path: _fit(tally, method, parameters, path if len(tallies) > 1 else None) for path, tally in tallies.items()
    }
    summaries = [_save(calibrator, tallies[path], path) for path, calibrator in fitted.items()]
    if as_json:
        print_json(summaries[0] if len(summaries) == 1 else summaries)


def class_file(output: str, name: str) -> str:
    """Return where the map of one class is kept: ``model.json`` → ``model.cat.json``."""
    path = Path(output)
    return str(path.with_name(f"{path.stem}.{name}{path.suffix or '.json'}"))


def _parse_settings(given: list[str]) -> dict[str, Any]:
    settings = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign:
            raise Problem(f"--set needs a name and a value, such as n_bins=20; got {text!r}.")
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            settings[name] = value
    return settings


def _create(cls: Any, settings: dict[str, Any], **defaults: Any) -> Any:
    """Create a calibrator; options that it does not have are refused, defaults that it does not have are dropped."""
    known = cls._get_param_names()
    strange = next((key for key in settings if key not in known), None)
    if strange is not None:
        raise Problem(f"{cls.name} has no option {strange!r}; it has {', '.join(known) or 'none'}.")
    return cls(**{key: value for key, value in defaults.items() if key in known} | settings)


def _pooled(method: str | None, settings: dict[str, Any]) -> Calibrator:
    """Create the calibrator of the curve that segments share, which always gets probabilities."""
    from calibrant.calibrators import registry

    calibrator: Calibrator = _create(registry.get(method or registry.DEFAULT_METHOD), settings)
    return calibrator


def _fit(tally: Tally, method: str | None, settings: dict[str, Any], path: str | None) -> Calibrator:
    from calibrant.calibrators import registry
    from calibrant.cli.tallies import is_decision, warn_of_one_class

    warn_of_one_class(tally, Path(path or "").name)
    space = {"space": "decision"} if is_decision(tally) else {}
    calibrator: Calibrator = _create(registry.get(method or registry.DEFAULT_METHOD), settings, **space)
    with progress(f"fitting {type(calibrator).__name__}"):
        return calibrator.fit_tally(tally)


def _save(calibrator: Calibrator, tally: Tally, output: str | None) -> dict[str, Any]:
    from calibrant import metrics
    from calibrant.cli.tallies import is_decision
    from calibrant.tally import row_count

    with written(output) as path:
        calibrator.save(path)
    after = metrics.log_loss(tally.rescored(calibrator.predict(tally.scores)))
    before = None if is_decision(tally) else metrics.log_loss(tally)
    change = f"log-loss {after:.4f}" + (f", before {before:.4f}" if before is not None else "")
    where = "" if is_stdout(output) else f" Saved to {output}."
    rows = f"{row_count(tally.total)} rows, {100 * tally.base_rate:.3g} % positive"
    note(f"{type(calibrator).__name__} fitted to {rows}: {change} (on these rows).{where}")
    return {
        "method": type(calibrator).__name__,
        "rows": tally.total,
        "base_rate": tally.base_rate,
        "log_loss_before": before,
        "log_loss_after": after,
        "output": output,
    }
