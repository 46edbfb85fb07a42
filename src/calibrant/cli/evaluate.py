"""evaluate, monitor: how good probabilities are, and whether they still hold."""

import sys
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.columns import name_columns
from calibrant.cli.errors import Refusal
from calibrant.cli.models import load_model
from calibrant.cli.printing import escape, print_json, print_table, progress
from calibrant.cli.problems import FIT_FIRST, MOST_SEGMENTS, Problem, read_problem

WORDS = {"log_loss": "log-loss", "brier_score": "Brier score", "ece": "ECE", "ece_low": "from", "ece_high": "to"}
ALARM = 3
FALSE_ALARM = "Probability of a false alarm, over all looks together."


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


def monitor(
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help="Rows from when the model was deployed.")],
    current: Annotated[list[str], typer.Argument(metavar="CURRENT", help="All rows since then.")],
    *,
    score: options.Score = None,
    label: options.Label = None,
    by: options.By = None,
    drop_missing: options.Drop = False,
    positive: options.Positive = None,
    model: options.ModelOption = None,
    space: options.Space = None,
    alpha: Annotated[float, options.option(FALSE_ALARM, "--alpha", value="ALPHA")] = 0.05,
    fail: Annotated[bool, options.option(f"Exit with code {ALARM} on an alarm.", "--fail")] = False,
    as_json: options.As_json = False,
) -> None:
    """Test whether probabilities still hold; valid however often it is repeated, if CURRENT holds all rows so far.

    With the scores of several classes: of the predicted class and of each class, with one rate of false alarms. With
    --by every segment of REFERENCE is tested, with one probability of a false alarm over all of them.
    """
    from calibrant.monitoring import compare_tallies

    if not 0.0 < alpha < 1.0:
        raise Refusal(f"--alpha must lie strictly between 0 and 1, such as 0.05; got {alpha:g}.")
    named = name_columns(score, label, by=by)
    how: dict[str, Any] = {"drop_missing": drop_missing, "positive": positive, "space": space}
    before = read_problem([reference], named, **how)
    now = read_problem(current, before.columns, **how)
    map_ = None if model is None else load_model(model, before)
    with progress("testing"):
        change = compare_tallies(_watched(before, map_), _watched(now, map_), map_=map_, classes=before.classes or None)
    alarms = change.alarms(alpha)
    if as_json:
        _print_json(change, alarms)
    else:
        sys.stdout.write("\n".join(map(escape, change.describe(alpha).split("\n"))) + "\n")
    if alarms and fail:
        raise typer.Exit(ALARM)


def _watched(problem: Problem, map_: Any) -> Any:
    """Return the rows as the monitor takes them; what no map turns into probabilities must be some."""
    if map_ is None:
        problem = problem.calibrated(None)
        problem.check_probabilities(FIT_FIRST)
    if problem.rows is None:
        return problem.segments or problem.tally
    return problem.rows.scores, [problem.classes[k] for k in problem.rows.labels]


def _print_json(change: Any, alarms: list[Any]) -> None:
    from calibrant.monitoring.named_tallies import name_of

    names = [
        {"name": name_of(name), "alarm": name in alarms, "adjusted_e_value": change.e_values[name], **asdict(part)}
        for name, part in change.changes.items()
    ]
    whole = {"alarm": bool(alarms), "alarms": [name_of(name) for name in alarms], "p_value": change.p_value}
    print_json(whole | asdict(change.whole) | {"e_value": change.e_value, "changes": names})
