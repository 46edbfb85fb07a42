"""monitor: whether probabilities still hold."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.evaluate import check_probabilities
from calibrant.cli.options import load_class_map, load_score_map
from calibrant.cli.printing import print_json, progress
from calibrant.cli.segment_monitor import monitor_segments

if TYPE_CHECKING:
    from calibrant.cli.classes import ClassRows
    from calibrant.monitoring.classes import MatrixChange
    from calibrant.monitoring.monitor import TallyComparison
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
        alarm = monitor_segments(
            pair, score, label, by, drop=drop_missing, positive=positive, model=model, alpha=alpha, as_json=as_json
        )
        if alarm and fail:
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
    change: Any = _compare_classes(matrices, model) if matrices else _compare(tallies, columns.score, model)
    alarm = change.p_value <= alpha
    off = [f"Off by themselves: {', '.join(names)}.\n"] if matrices and (names := change.off(alpha)) else []
    if as_json:
        print_json(_plain(change, alpha) | {"p_value": change.p_value, "alarm": alarm})
    else:
        verdict = (
            "ALARM: the probabilities no longer hold; fit again with the new rows"
            if alarm
            else "No alarm: no evidence against the probabilities so far"
        )
        sys.stdout.write(f"{change}\n{''.join(off)}{verdict} (alarm from an evidence of {1 / alpha:g}).\n")
    if alarm and fail:
        raise typer.Exit(ALARM)


def _compare(tallies: list[Tally], name: str, model: str | None) -> TallyComparison:
    from calibrant.monitoring.monitor import compare_tallies

    map_ = load_score_map(model)
    if map_ is None:
        for tally in tallies:
            check_probabilities(name, tally, "monitor")
    return compare_tallies(*tallies, map_=map_)


def _compare_classes(rows: list[ClassRows], model: str | None) -> MatrixChange:
    from calibrant.monitoring.classes import compare_matrices

    map_ = load_class_map(model, len(rows[0].classes))
    before, after = ((one.labels, one.probabilities(map_)) for one in rows)
    with progress("testing each class"):
        return compare_matrices(before, after, classes=rows[0].classes)


def _plain(change: Any, alpha: float) -> dict[str, Any]:
    if not hasattr(change, "classes"):
        return dict(vars(change))
    classes = {name: dict(vars(one)) for name, one in change.classes.items()}
    whole = {"rows": change.rows, "e_value": change.e_value, "off": change.off(alpha)}
    return whole | {"predicted_class": dict(vars(change.top)), "classes": classes}
