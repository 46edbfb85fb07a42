"""evaluate: how good probabilities are."""

import sys
from functools import partial
from typing import Any

from calibrant.cli import options
from calibrant.cli.columns import name_columns
from calibrant.cli.models import load_model
from calibrant.cli.printing import print_json, print_table, progress
from calibrant.cli.problems import FIT_FIRST, MOST_SEGMENTS, read_problem

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
    space: options.Space = None,
    top_label: options.Top = False,
    level: options.Level = 0.9,
    as_json: options.As_json = False,
) -> None:
    """Measure probabilities: proper scores, calibration errors with intervals, tests, and a verdict.

    With --by also of each segment; with the scores of several classes of each class against the rest.
    """
    from calibrant import metrics

    named = name_columns(score, label, weight, by, groups)
    how: dict[str, Any] = {"space": space, "top_label": top_label, "most_segments": MOST_SEGMENTS}
    raw = read_problem(files, named, drop_missing=drop_missing, positive=positive, **how)
    problem = raw.calibrated(None if model is None else load_model(model, raw))
    problem.check_probabilities(FIT_FIRST)
    with progress("measuring"):
        if problem.rows is None:
            evaluation = metrics.evaluate(problem.tally, level=level)
        else:
            scores, labels, weights, in_groups = problem.rows
            evaluation = metrics.evaluate(labels, scores, groups=in_groups, sample_weight=weights, level=level)
        measured = [_measure(name, tally, level) for name, tally in problem.parts.items()]
    if as_json:
        print_json(evaluation.to_dict() | ({"parts": measured} if measured else {}))
        return
    sys.stdout.write(f"{evaluation}\n")
    if measured:
        title = "Each class against the rest" if problem.shape == "matrix" else "Each segment separately"
        texts = [[_text(value) for value in row.values()] for row in measured]
        print_table(f"\n{title}", [WORDS.get(key, key.replace("_", " ")) for key in measured[0]], texts)


def _measure(name: str, tally: Any, level: float) -> dict[str, Any]:
    from calibrant import metrics

    error = partial(metrics.expected_calibration_error, strategy="quantile")
    few = tally.total < 2
    interval = None if few else metrics.bootstrap_interval(error, tally, n_resamples=200, level=level)
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
