"""monitor: whether probabilities still hold."""

import sys
from typing import Annotated

import typer

from calibrant.cli import options
from calibrant.cli.evaluate import check_probabilities
from calibrant.cli.options import load_model
from calibrant.cli.printing import print_json
from calibrant.cli.segment_monitor import monitor_segments

ALARM = 3
FALSE_ALARM = "Probability of a false alarm, over all looks together."


def monitor(
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help="Rows from when the model was deployed.")],
    current: Annotated[list[str], typer.Argument(metavar="CURRENT", help="All rows since then.")],
    *,
    score: options.Score = None,
    label: options.Label = None,
    by: options.Keys = None,
    positive: options.Positive = None,
    model: options.ModelOption = None,
    alpha: Annotated[float, options.option(FALSE_ALARM, "--alpha", value="ALPHA", min=1e-9, max=1 - 1e-9)] = 0.05,
    fail: Annotated[bool, options.option(f"Exit with code {ALARM} on an alarm.", "--fail")] = False,
    as_json: options.As_json = False,
) -> None:
    """Test whether probabilities still hold; valid however often it is repeated, if CURRENT holds all rows so far.

    With --by every segment of REFERENCE is tested, with one probability of a false alarm over all of them.
    """
    from calibrant.cli.tallies import binary, count, open_with_columns
    from calibrant.monitoring import compare_tallies

    if by:
        alarm = monitor_segments(
            ([reference], current), score, label, by, positive=positive, model=model, alpha=alpha, as_json=as_json
        )
        if alarm and fail:
            raise typer.Exit(ALARM)
        return
    tallies = []
    map_ = None if model is None else load_model(model)
    for files in ([reference], current):
        with open_with_columns(files, score, label) as (table, columns):
            tallies.append(count(*binary(table, columns, False, "monitor"), positive))
            if map_ is None:
                check_probabilities(columns.score, tallies[-1], "monitor")
            score, label = list(columns.scores), columns.label
    change = compare_tallies(*tallies, map_=map_)
    alarm = change.p_value <= alpha
    if as_json:
        print_json(vars(change) | {"p_value": change.p_value, "alarm": alarm})
    else:
        verdict = (
            "ALARM: the probabilities no longer hold; fit again with the new rows"
            if alarm
            else "No alarm: no evidence against the probabilities so far"
        )
        sys.stdout.write(f"{change}\n{verdict} (alarm from an evidence of {1 / alpha:g}).\n")
    if alarm and fail:
        raise typer.Exit(ALARM)
