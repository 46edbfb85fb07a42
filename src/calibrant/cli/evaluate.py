"""evaluate: how good probabilities are."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.options import load_model
from calibrant.cli.printing import print_json, print_table, progress

if TYPE_CHECKING:
    from calibrant.cli.grouped import TableRows
    from calibrant.maps import CalibrationMap
    from calibrant.metrics.table import Evaluation
    from calibrant.tally import Tally


def evaluate(
    files: options.Files,
    *,
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    by: options.By = None,
    groups: options.Groups = None,
    positive: options.Positive = None,
    model: options.ModelOption = None,
    top_label: options.Top = False,
    level: options.Level = 0.9,
    as_json: options.As_json = False,
) -> None:
    """Measure probabilities: proper scores, calibration errors with intervals, tests, and a verdict."""
    from calibrant.cli.grouped import read_rows
    from calibrant.cli.tallies import binary, count, count_by, count_classes, open_with_columns

    map_ = None if model is None else load_model(model)
    whole = grouped = None
    parts: dict[str, Tally] = {}
    if groups is not None and by is not None:
        raise Problem("--groups and --by cannot go together.")
    with open_with_columns(files, score, label, weight, by, groups=groups) as (table, columns):
        if groups is not None:
            view = binary(table, columns, top_label, "evaluate --groups")
            grouped, whole = read_rows(*view, positive), count(*view, positive)
        elif len(columns.scores) == 1 or top_label:
            whole, parts = count_by(*binary(table, columns, top_label, "evaluate"), positive)
        elif by is not None:
            raise Problem("--by with several classes needs --top-label.")
        else:
            parts = count_classes(table, columns)
    if map_ is not None:
        whole = None if whole is None else whole.rescored(map_(whole.scores))
        parts = {name: tally.rescored(map_(tally.scores)) for name, tally in parts.items()}
    for name, tally in [*([] if whole is None else [(columns.score, whole)]), *parts.items()]:
        check_probabilities(name, tally, "evaluate")
    with progress("measuring"):
        evaluation = _evaluate(whole, grouped, map_, level)
        rows = [_measure(name, tally) for name, tally in parts.items()]
    if as_json:
        print_json(({} if evaluation is None else evaluation.to_dict()) | ({"parts": rows} if rows else {}))
        return
    if evaluation is not None:
        sys.stdout.write(f"{evaluation}\n")
    if rows:
        title = "\nEach segment separately" if evaluation else "Each class against the rest"
        texts = [[_text(value) for value in row.values()] for row in rows]
        print_table(title, [key.replace("_", " ") for key in rows[0]], texts)


def _evaluate(
    whole: Tally | None, grouped: TableRows | None, map_: CalibrationMap | None, level: float
) -> Evaluation | None:
    """Measure all rows, by their groups where they have some; nothing, where each class is measured by itself."""
    from calibrant import metrics

    if grouped is not None:
        p = grouped.scores if map_ is None else map_(grouped.scores)
        how = {"groups": grouped.groups, "sample_weight": grouped.weights, "level": level}
        return metrics.evaluate(grouped.labels, p, **how)
    return None if whole is None else metrics.evaluate(whole, level=level)


def check_probabilities(name: str, tally: Tally, command: str) -> None:
    """Refuse scores that cannot be probabilities."""
    from calibrant.cli.tallies import is_decision

    if is_decision(tally):
        low, high = tally.scores[0], tally.scores[-1]
        percent = "If they are percentages, divide them by 100. " if low >= 0.0 and 2.0 < high <= 100.0 else ""
        raise Problem(
            f"{command} needs probabilities; '{name}' goes from {low:.4g} to {high:.4g}. {percent}"
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
