"""fit: learn a map from scores and labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.options import check_method
from calibrant.cli.printing import check_target, is_stdout, note, print_json, progress, warn, written

if TYPE_CHECKING:
    from calibrant.calibrators.base import Calibrator
    from calibrant.cli.classes import ClassRows
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
    drop_missing: options.Drop = False,
    positive: options.Positive = None,
    method: options.Method = None,
    settings: Annotated[list[str] | None, options.option(SETTING, "--set", value="NAME=VALUE")] = None,
    logits: options.Logits = False,
    top_label: options.Top = False,
    output: options.Output = None,
    as_json: options.As_json = False,
) -> None:
    """Learn a calibration map from scores and labels, and save it as JSON; one file, also for several classes.

    With --by it is one map for many segments.
    """
    from calibrant.cli.classes import are_several, read_classes
    from calibrant.cli.tallies import binary, count, open_with_columns

    check_target(output, files)
    if as_json and is_stdout(output):
        raise Problem("--json prints a summary, so the model needs a file of its own; name it with -o model.json.")
    check_method(method)
    parameters = _parse_settings(settings or [])
    if by:
        from calibrant.cli.segments import fit_segments

        with open_with_columns(files, score, label, weight, by, drop=drop_missing) as (table, columns):
            view, names = binary(table, columns, top_label, "fit")
            pooled = _pooled(method, parameters)
            summary = fit_segments(view, names, pooled, positive=positive, missing=missing or "error", output=output)
        if as_json:
            print_json(summary)
        return
    if missing:
        raise Problem("--missing is about segments; name their column with --by.")
    with open_with_columns(files, score, label, weight, drop=drop_missing) as (table, columns):
        several = are_several(columns, top_label, logits)
        check_method(method, several=several)
        if several:
            rows = read_classes(table, columns, logits)
        else:
            tally = count(*binary(table, columns, top_label, "fit"), positive)
    model, summary = _fit_classes(rows, method, parameters) if several else _fit(tally, method, parameters)
    _save(model, summary, output)
    if as_json:
        print_json(summary | {"output": output})


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


def _fit(tally: Tally, method: str | None, settings: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    from calibrant import metrics
    from calibrant.calibrators import registry
    from calibrant.cli.tallies import is_decision, percent_hint, warn_of_few

    warn_of_few(tally)
    space = {"space": "decision"} if is_decision(tally) else {}
    if space:
        note(
            f"Scores go from {tally.scores[0]:.4g} to {tally.scores[-1]:.4g}, so they are read as decision values, not "
            f"as probabilities. {percent_hint(tally)}".rstrip()
        )
    calibrator = _create(registry.get(method or registry.DEFAULT_METHOD), settings, **space)
    with progress(f"fitting {type(calibrator).__name__}"):
        calibrator.fit_tally(tally)
    return calibrator, {
        "method": type(calibrator).__name__,
        "rows": tally.total,
        "base_rate": tally.base_rate,
        "log_loss_before": None if is_decision(tally) else metrics.log_loss(tally),
        "log_loss_after": metrics.log_loss(tally.rescored(calibrator.predict(tally.scores))),
    }


def _fit_classes(rows: ClassRows, method: str | None, settings: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    from dataclasses import replace

    import numpy as np

    from calibrant import metrics
    from calibrant.calibrators import registry

    counts = np.bincount(rows.labels, rows.weights, len(rows.classes))
    empty = [str(label) for label, count in zip(rows.classes, counts, strict=True) if not count]
    if empty:
        warn(f"No rows of {', '.join(empty[:6])}{', …' if len(empty) > 6 else ''}; what is said of them is a guess.")
    calibrator = _create(registry.get(method or registry.DEFAULT_METHOD, "matrix"), settings, space=rows.space)
    with progress(f"fitting {type(calibrator).__name__}"):
        # Column numbers, because the order of the columns need not be that of the labels.
        calibrator.fit(rows.scores, rows.labels, rows.weights)
    before, after = (
        metrics.log_loss(rows.labels, one, sample_weight=rows.weights)
        for one in (rows.probabilities(), calibrator.predict_proba(rows.scores))
    )
    return replace(calibrator.map_, classes=rows.classes, columns=rows.columns), {
        "method": type(calibrator).__name__,
        "rows": float(counts.sum()),
        "classes": len(rows.classes),
        "log_loss_before": before,
        "log_loss_after": after,
    }


def _save(model: Any, summary: dict[str, Any], output: str | None) -> None:
    from calibrant.tally import row_count

    with written(output) as path:
        model.save(path)
    before = summary["log_loss_before"]
    change = f"log-loss {summary['log_loss_after']:.4f}" + (f", before {before:.4f}" if before is not None else "")
    where = "" if is_stdout(output) else f" Saved to {output}."
    kind = f"{100 * summary['base_rate']:.3g} % positive" if "base_rate" in summary else f"{summary['classes']} classes"
    rows = f"{row_count(summary['rows'])} rows, {kind}"
    note(f"{summary['method']} fitted to {rows}: {change} (on these rows).{where}")
