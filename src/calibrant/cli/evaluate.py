"""evaluate: how good probabilities are."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.options import load_class_map, load_score_map
from calibrant.cli.printing import print_json, print_table, progress

if TYPE_CHECKING:
    from calibrant.cli.classes import ClassRows
    from calibrant.cli.grouped import TableRows
    from calibrant.maps.score import CalibrationMap
    from calibrant.tally import Tally


WORDS = {"log_loss": "log-loss", "brier_score": "Brier score", "ece": "ECE", "ece_low": "from", "ece_high": "to"}


def evaluate(
    files: options.Files,
    *,
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    by: options.By = None,
    groups: options.Groups = None,
    drop_missing: options.Drop = False,
    positive: options.Positive = None,
    model: options.ModelOption = None,
    logits: options.Logits = False,
    top_label: options.Top = False,
    level: options.Level = 0.9,
    as_json: options.As_json = False,
) -> None:
    """Measure probabilities: proper scores, calibration errors with intervals, tests, and a verdict.

    With the scores of several classes: of the whole matrix, and of each class against the rest.
    """
    from calibrant.cli.classes import are_several, read_classes
    from calibrant.cli.grouped import read_rows
    from calibrant.cli.tallies import binary, count_by, open_with_columns

    if groups is not None and by is not None:
        raise Problem("--groups and --by cannot go together.")
    with open_with_columns(files, score, label, weight, by, groups=groups, drop=drop_missing) as (table, columns):
        several = are_several(columns, top_label, logits)
        if several and (by is not None or groups is not None):
            raise Problem(f"--{'by' if groups is None else 'groups'} with several classes needs --top-label.")
        if several:
            rows = read_classes(table, columns, logits)
        else:
            map_ = load_score_map(model)
            view = binary(table, columns, top_label, "evaluate")
            tallies = count_by(*view, positive)
            grouped = None if groups is None else read_rows(*view, positive)
    if several:
        evaluation, measured = _measure_classes(rows, model, level)
    else:
        whole, parts = _apply(map_, tallies, columns.score)
        with progress("measuring"):
            evaluation = _measure_rows(whole, grouped, map_, level)
            measured = [_measure(name, tally) for name, tally in parts.items()]
    if as_json:
        print_json(evaluation.to_dict() | ({"parts": measured} if measured else {}))
    else:
        _show(evaluation, measured, "Each class against the rest" if several else "Each segment separately")


def _show(evaluation: Any, measured: list[dict[str, Any]], title: str) -> None:
    sys.stdout.write(f"{evaluation}\n")
    if measured:
        texts = [[_text(value) for value in row.values()] for row in measured]
        print_table(f"\n{title}", [WORDS.get(key, key.replace("_", " ")) for key in measured[0]], texts)


def _apply(
    map_: CalibrationMap | None, tallies: tuple[Tally, dict[str, Tally]], score: str
) -> tuple[Tally, dict[str, Tally]]:
    """Return all rows and those of each segment with the probabilities of a model, if there is one."""
    whole, parts = tallies
    if map_ is not None:
        whole = whole.rescored(map_(whole.scores))
        parts = {name: tally.rescored(map_(tally.scores)) for name, tally in parts.items()}
    for name, tally in {score: whole, **parts}.items():
        check_probabilities(name, tally, "evaluate")
    return whole, parts


def _measure_rows(whole: Tally, grouped: TableRows | None, map_: CalibrationMap | None, level: float) -> Any:
    """Measure all rows, by their groups where they have some."""
    from calibrant import metrics

    if grouped is None:
        return metrics.evaluate(whole, level=level)
    p = grouped.scores if map_ is None else map_(grouped.scores)
    how = {"groups": grouped.groups, "sample_weight": grouped.weights, "level": level}
    return metrics.evaluate(grouped.labels, p, **how)


def _measure_classes(rows: ClassRows, model: str | None, level: float) -> tuple[Any, list[dict[str, Any]]]:
    from calibrant import metrics
    from calibrant.tally import Tally

    matrix = rows.probabilities(load_class_map(model, len(rows.classes)))
    with progress("measuring"):
        evaluation = metrics.evaluate(rows.labels, matrix, level=level, sample_weight=rows.weights)
        columns = ((name, k, matrix[:, k].clip(0.0, 1.0)) for k, name in enumerate(rows.columns))
        parts = {name: Tally.from_arrays(column, rows.labels == k, rows.weights) for name, k, column in columns}
        return evaluation, [_measure(name, tally) for name, tally in parts.items()]


def check_probabilities(name: str, tally: Tally, command: str) -> None:
    """Refuse scores that cannot be probabilities."""
    from calibrant.cli.tallies import is_decision, percent_hint

    if is_decision(tally):
        low, high = tally.scores[0], tally.scores[-1]
        raise Problem(
            f"{command} needs probabilities; '{name}' goes from {low:.4g} to {high:.4g}. {percent_hint(tally)}"
            "Learn a map with `calibrant fit` and add --model model.json, or look at all of it with `calibrant report`."
        )


def _measure(name: str, tally: Tally) -> dict[str, Any]:
    from calibrant import metrics

    error = partial(metrics.expected_calibration_error, strategy="quantile")
    interval = metrics.bootstrap_interval(error, tally, n_resamples=200) if tally.total >= 2 else None
    return {
        "name": name,
        "rows": tally.total,
        "base_rate": tally.base_rate,
        "mean_score": float(tally.scores @ tally.totals / tally.total),
        "log_loss": metrics.log_loss(tally),
        "brier_score": metrics.brier_score(tally),
        "ece": error(tally),
        "ece_low": interval.low if interval else None,
        "ece_high": interval.high if interval else None,
    }


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value == int(value) and value >= 2 else f"{value:.4f}"
    return "–" if value is None else str(value)
