"""monitor: whether probabilities still hold."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.evaluate import check_probabilities
from calibrant.cli.options import load_class_map, load_score_map
from calibrant.cli.printing import escape, print_json, progress
from calibrant.cli.segment_monitor import compare_segments

if TYPE_CHECKING:
    from calibrant.cli.classes import ClassRows
    from calibrant.monitoring import TallyComparison
    from calibrant.tally import Tally

ALARM = 3
FALSE_ALARM = "Probability of a false alarm, over all looks together."


def monitor(
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help="Rows from when the model was deployed.")],
    current: Annotated[list[str], typer.Argument(metavar="CURRENT", help="All rows since then.")],
    *,
    score: options.Score = None,
    label: options.Label = None,
    by: options.Keys = None,
    drop_missing: options.Drop = False,
    positive: options.Positive = None,
    model: options.ModelOption = None,
    logits: options.Logits = False,
    alpha: Annotated[float, options.option(FALSE_ALARM, "--alpha", value="ALPHA")] = 0.05,
    fail: Annotated[bool, options.option(f"Exit with code {ALARM} on an alarm.", "--fail")] = False,
    as_json: options.As_json = False,
) -> None:
    """Test whether probabilities still hold; valid however often it is repeated, if CURRENT holds all rows so far.

    With the scores of several classes: of the predicted class and of each class, with one rate of false alarms. With
    --by every segment of REFERENCE is tested, with one probability of a false alarm over all of them.
    """
    from calibrant.cli.classes import are_several, read_classes
    from calibrant.cli.tallies import binary, count, open_with_columns

    if not 0.0 < alpha < 1.0:
        raise Problem(f"--alpha must lie strictly between 0 and 1, such as 0.05; got {alpha:g}.")
    if by:
        pair = ([reference], current)
        change = compare_segments(pair, score, label, by, drop=drop_missing, positive=positive, model=model)
        if print_change(change, alpha, as_json) and fail:
            raise typer.Exit(ALARM)
        return
    tallies, matrices = [], []
    for files in ([reference], current):
        with open_with_columns(files, score, label, drop=drop_missing) as (table, columns):
            if are_several(columns, False, logits):
                matrices.append(read_classes(table, columns, logits))
            else:
                tallies.append(count(*binary(table, columns, False, "monitor"), positive))
            score, label = list(columns.scores), columns.label
    change = _compare_classes(matrices, model) if matrices else _compare(tallies, columns.score, model)
    if print_change(change, alpha, as_json) and fail:
        raise typer.Exit(ALARM)


def _compare(tallies: list[Tally], name: str, model: str | None) -> TallyComparison:
    from calibrant.monitoring import compare_tallies

    map_ = load_score_map(model)
    if map_ is None:
        for tally in tallies:
            check_probabilities(name, tally, "monitor")
    return compare_tallies(*tallies, map_=map_)


def _compare_classes(rows: list[ClassRows], model: str | None) -> TallyComparison:
    from calibrant.monitoring import compare_tallies

    map_, classes = load_class_map(model, len(rows[0].classes)), rows[0].classes
    before, after = ((one.probabilities(map_), [one.classes[k] for k in one.labels]) for one in rows)
    with progress("testing each class"):
        return compare_tallies(before, after, classes=classes)


def print_change(change: TallyComparison, alpha: float, as_json: bool) -> bool:
    """Print what has changed, and tell whether there is an alarm."""
    from dataclasses import asdict

    from calibrant.monitoring.named_tallies import name_of

    alarms = change.alarms(alpha)
    if as_json:
        names = [
            {"name": name_of(name), "alarm": name in alarms, "adjusted_e_value": change.e_values[name], **asdict(one)}
            for name, one in change.changes.items()
        ]
        whole = {"alarm": bool(alarms), "alarms": [name_of(name) for name in alarms], "p_value": change.p_value}
        print_json(whole | asdict(change.whole) | {"e_value": change.e_value, "changes": names})
    else:
        sys.stdout.write("\n".join(map(escape, change.describe(alpha).split("\n"))) + "\n")
    return bool(alarms)
