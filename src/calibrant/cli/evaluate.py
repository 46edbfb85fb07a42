"""evaluate, monitor: how good probabilities are, and look by look whether they still hold."""

import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.columns import check_name, name_columns
from calibrant.cli.errors import Refusal
from calibrant.cli.models import load_model
from calibrant.cli.printing import check_target, escape, print_json, print_table, progress
from calibrant.cli.problems import FIT_FIRST, MOST_SEGMENTS, Problem, literal, read_problem
from calibrant.engines.table_files import find_files
from calibrant.engines.tables import STDIN, Table, open_table, quote

WORDS = {"log_loss": "log-loss", "brier_score": "Brier score", "ece": "ECE", "ece_low": "from", "ece_high": "to"}
ALARM = 3
MOST_LOOKS = 2000
CURRENT = "Rows since then, once each; the files are looks, in this order."
TIME = "Column of days, months, …: the rows with each of its values are a look, in their order."
STATE = "File that keeps the monitor between calls, made when missing; each call then brings new rows only."
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
    current: Annotated[list[str], typer.Argument(metavar="CURRENT", help=CURRENT)],
    *,
    score: options.Score = None,
    label: options.Label = None,
    by: options.By = None,
    time: Annotated[str | None, options.option(TIME, "--time", value="COLUMN")] = None,
    drop_missing: options.Drop = False,
    positive: options.Positive = None,
    model: options.ModelOption = None,
    space: options.Space = None,
    state: Annotated[str | None, options.option(STATE, "--state", value="FILE")] = None,
    alpha: Annotated[float, options.option(FALSE_ALARM, "--alpha", value="ALPHA")] = 0.05,
    fail: Annotated[bool, options.option(f"Exit with code {ALARM} on an alarm.", "--fail")] = False,
    as_json: options.As_json = False,
) -> None:
    """Test look by look whether probabilities still hold; however many looks, false alarms are as rare as --alpha says.

    With the scores of several classes: of the predicted class and of each class, with one rate of false alarms. With
    --by every segment of REFERENCE is tested, with one probability of a false alarm over all of them.
    """
    from calibrant.monitoring import compare_tallies

    if not 0.0 < alpha < 1.0:
        raise Refusal(f"--alpha must lie strictly between 0 and 1, such as 0.05; got {alpha:g}.")
    check_target(state, [reference, *current, *([model] if model else [])])
    how: dict[str, Any] = {"drop_missing": drop_missing, "space": space}
    before = read_problem([reference], name_columns(score, label, by=by), positive=positive, **how)
    map_ = None if model is None else load_model(model, before)
    watched = _begin(state, map_, before)
    alarmed = bool(watched.alarms(alpha))
    about: dict[str, Any] = {"map_": map_, "classes": before.classes or None}
    deployed = _rows_of(before, map_)
    looks: list[dict[str, Any]] = []
    for problem in _read_looks(current, time, before, how):
        rows = _rows_of(problem, map_)
        watched = watched.updated(*rows) if isinstance(rows, tuple) else watched.updated(rows)
        change = compare_tallies(deployed, rows, **about)
        shares = {"predicted": change.whole.mean_predicted, "happened": change.whole.base_rates[1]}
        result = {"e_value": watched.e_value, "alarm": bool(watched.alarms(alpha))}
        looks.append({"look": problem.name, "rows": int(problem.n_rows)} | shares | result)
    if change.e_values.keys() != watched.e_values().keys():
        raise Refusal(f"{state} watches other names than {reference} has; begin a new file.")
    change = replace(change, e_values=watched.e_values(), e_value=watched.e_value)
    if state is not None:
        watched.save(state)
    first = "an earlier call" if alarmed else next((look["look"] for look in looks if look["alarm"]), None)
    _print(watched, change, looks, alpha=alpha, first=first, as_json=as_json)
    if first is not None and fail:
        raise typer.Exit(ALARM)


def _begin(state: str | None, map_: Any, before: Problem) -> Any:
    """Return the monitor that a file keeps, or a new one of the classes or segments of the reference."""
    from calibrant.monitoring import CalibrationMonitor

    if state is None or not Path(state).exists():
        return CalibrationMonitor(map_, classes=before.classes or None, segments=list(before.segments) or None)
    kept = CalibrationMonitor.load(state)
    if kept.map_ != map_:
        raise Refusal(f"{state} was begun with another --model; name that one, or begin a new file.")
    return kept


def _read_looks(files: list[str], time: str | None, before: Problem, how: dict[str, Any]) -> Iterator[Problem]:
    """Read the looks in order: each file is one, or the rows with each value of a column."""
    if time is None:
        for name in (name for file in files for name in ([file] if file == STDIN else find_files(file))):
            yield read_problem([name], before.columns, like=before, **how)
        return
    with open_table(files) as table:
        check_name(table, time, "--time")
        column = quote(time)
        moments = table.values(f"SELECT DISTINCT {column}, {column}::VARCHAR FROM rows ORDER BY 1 LIMIT {MOST_LOOKS}")
        if len(moments) == MOST_LOOKS:
            raise Refusal(f"--time '{time}' has {MOST_LOOKS} values or more; make a column of days or months from it.")
        for _, moment in moments:
            if moment is None:
                raise Refusal(f"--time '{time}' is missing in some rows; fill it, or drop them.")
            rows = table.relation.filter(f"{column}::VARCHAR = {literal(moment)}")
            yield read_problem(Table(moment, rows, connection=table.connection), before.columns, like=before, **how)


def _rows_of(problem: Problem, map_: Any) -> Any:
    """Return tallies, or scores and labels, as the monitor takes them; without a map they must be probabilities."""
    if map_ is None:
        problem = problem.calibrated(None)
        problem.check_probabilities(FIT_FIRST)
    if problem.rows is None:
        return problem.segments or problem.tally
    return problem.rows.scores, [problem.classes[k] for k in problem.rows.labels]


def _print(watched: Any, change: Any, looks: list[Any], *, alpha: float, first: str | None, as_json: bool) -> None:
    from calibrant.monitoring.named_tallies import name_of

    alarms = watched.alarms(alpha)
    if as_json:
        names = [
            {"name": name_of(name), "alarm": name in alarms, **asdict(part), "e_value": change.e_values[name]}
            for name, part in change.changes.items()
        ]
        whole = {"alarm": bool(alarms), "alarms": [name_of(name) for name in alarms], "first_alarm": first}
        values = {"e_value": watched.e_value, "largest_e_value": watched.largest_e_value}
        print_json(whole | asdict(change.whole) | values | {"changes": names, "looks": looks})
        return
    sys.stdout.write("\n".join(map(escape, change.describe_changes().split("\n"))) + "\n")
    formats = {"rows": "d", "predicted": ".4f", "happened": ".4f", "e_value": ".3g"}
    texts = [[look["look"], *(f"{look[key]:{form}}" for key, form in formats.items())] for look in looks]
    print_table("", ["look", "rows", "predicted", "happened", "e-value"], texts)
    raised = "" if first is None else f" First raised by {first}."
    sys.stdout.write(f"{escape(watched.describe(alpha) + raised)}\n")
