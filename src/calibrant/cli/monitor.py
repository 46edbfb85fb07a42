"""monitor: whether probabilities still hold."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.evaluate import check_probabilities
from calibrant.cli.methods import load_model
from calibrant.cli.printing import print_json, print_table

__all__ = ["monitor"]

ALARM = 3
FALSE_ALARM = "Probability of a false alarm, over all looks together."


def monitor(
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help="Rows from when the model was deployed.")],
    current: Annotated[list[str], typer.Argument(metavar="CURRENT", help="All rows since then.")],
    *,
    score: options.Score = None,
    label: options.Label = None,
    positive: options.Positive = None,
    model: options.ModelOption = None,
    alpha: Annotated[float, options.option(FALSE_ALARM, "--alpha", value="ALPHA")] = 0.05,
    fail: Annotated[bool, options.option(f"Exit with code {ALARM} on an alarm.", "--fail")] = False,
    as_json: options.As_json = False,
) -> None:
    """Test whether probabilities still hold; valid however often it is repeated, if CURRENT holds all rows so far."""
    from calibrant.cli.columns import open_with_columns
    from calibrant.cli.tallies import binary, count
    from calibrant.monitoring import compare_tallies

    if not 0.0 < alpha < 1.0:
        raise Problem(f"--alpha must lie between 0 and 1; got {alpha:g}.")
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
        _show(change, alarm, alpha)
    if alarm and fail:
        raise typer.Exit(ALARM)


def _show(change: Any, alarm: bool, alpha: float) -> None:
    rows = [
        ["rows", f"{change.rows[0]:g}", f"{change.rows[1]:g}"],
        ["share of positives", f"{change.base_rates[0]:.4f}", f"{change.base_rates[1]:.4f}"],
        ["mean predicted", "", f"{change.mean_predicted:.4f}"],
    ]
    print_table("", ["", "reference", "current"], rows)
    low, high = change.base_rate_interval
    evidence = f"evidence {change.e_value:.3g}, alarm from {1 / alpha:g}"
    sys.stdout.write(
        f"Change of the share of positives: 95 % interval [{low:+.4f}, {high:+.4f}].\n"
        f"Shift of the scores: largest gap {change.score_shift:.4f}, population stability "
        f"index {change.population_stability_index:.4f}.\n"
        + (
            f"ALARM: the probabilities no longer hold ({evidence}). Fit again with the new rows.\n"
            if alarm
            else f"No alarm: no evidence against the probabilities so far ({evidence}).\n"
        )
    )
