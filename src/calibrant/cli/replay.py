"""Labels that arrive over time: replay a history, and keep an adaptive calibrator in a file."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.columns import name_columns
from calibrant.cli.errors import Refusal
from calibrant.cli.models import load_model
from calibrant.cli.printing import check_target, escape, note, print_json, progress
from calibrant.cli.problems import Problem, read_problem

PROMOTE = 4  # the exit code for "a better map is available", next to that of an alarm
TIME = "Column of the period of each row, such as its month; periods follow each other in their order."
DELAY = "How many periods late labels are; 0 if known before the next period."
FIRST = "Fit the static map to so many first periods."
CLUSTERED = "Rows of a period may share their outcome: count each period as one piece of evidence."
SAVE = "File to write the adaptive calibrator to, for `calibrant adapt`."
STATE = "File with the adaptive calibrator; with --model it is begun if it is not there."
PERIOD = "Name of the period; by default its number."
FAIL = f"Exit with code {PROMOTE} if a better map is available."
MAP = "File to write the map for the coming period to."

Delay = Annotated[int, options.option(DELAY, "--delay", value="PERIODS", min=0)]
Clustered = Annotated[bool, options.option(CLUSTERED, "--clustered")]


def replay(
    files: options.Files,
    *,
    time: Annotated[str, options.option(TIME, "--time", value="COLUMN")],
    delay: Delay = 0,
    first: Annotated[int, options.option(FIRST, "--first", value="PERIODS", min=1)] = 1,
    score: options.Score = None,
    label: options.Label = None,
    drop_missing: options.Drop = False,
    positive: options.Positive = None,
    space: options.Space = None,
    clustered: Clustered = False,
    level: options.Level = 0.9,
    save: Annotated[str | None, options.option(SAVE, "--save", value="FILE")] = None,
    as_json: options.As_json = False,
) -> None:
    """Replay a history: what standing still, refits that forget and adapting would have brought."""
    from calibrant.calibrators import registry
    from calibrant.monitoring import walk_forward

    check_target(save, files)
    named = name_columns(score, label, groups=time)
    rows = _one_score(read_problem(files, named, drop_missing=drop_missing, positive=positive, space=space)).rows
    method = registry.create(registry.DEFAULT_METHOD, space=space or "probability")
    with progress("replaying"):
        found = walk_forward(
            rows.scores,
            rows.labels,
            rows.groups,
            delay=delay,
            n_reference=first,
            reference=method,
            clustered=clustered,
            level=level,
        )
    if as_json:
        print_json({"ways": [result.to_dict() for result in found.results], "promote": found.adaptive.promote()})
    else:
        sys.stdout.write("\n".join(map(escape, str(found).split("\n"))) + "\n")
    if save is not None:
        found.adaptive.save(save)
        note(f"Saved to {save}; go on with `calibrant adapt {save}` and the rows of the next period.")


def adapt(
    state: Annotated[str, typer.Argument(metavar="STATE", help=STATE)],
    files: options.Files,
    *,
    score: options.Score = None,
    label: options.Label = None,
    drop_missing: options.Drop = False,
    positive: options.Positive = None,
    model: Annotated[str | None, options.option("The model in use, to begin with.", "--model", value="FILE")] = None,
    period: Annotated[str | None, options.option(PERIOD, "--period", value="NAME")] = None,
    delay: Delay = 0,
    clustered: Clustered = False,
    output: Annotated[str | None, options.option(MAP, "--output", "-o", value="FILE")] = None,
    fail: Annotated[bool, options.option(FAIL, "--fail")] = False,
) -> None:
    """Add the labels of one more period to an adaptive calibrator, and say if a better map is available."""
    from calibrant.monitoring import AdaptiveCalibrator

    check_target(state, files)
    check_target(output, [*files, state])
    if Path(state).exists():
        if model is not None:
            raise Refusal(f"{state} exists and has its model; leave out --model, or name another file to begin.")
        adaptive = AdaptiveCalibrator.load(state)
    elif model is None:
        raise Refusal(f"{state} does not exist; begin it with --model and the model in use.")
    else:
        adaptive = AdaptiveCalibrator(load_model(model), delay=delay, clustered=clustered)
    space = adaptive.reference.space
    problem = read_problem(files, name_columns(score, label), drop_missing=drop_missing, positive=positive, space=space)
    adaptive = adaptive.updated(_one_score(problem).tally, period=period)
    adaptive.save(state)
    if output is not None:
        adaptive.map_.save(output)
    sys.stdout.write(f"{escape(str(adaptive))}\n")
    if fail and adaptive.promote():
        raise typer.Exit(PROMOTE)


def _one_score(problem: Problem) -> Any:
    if problem.shape != "score":
        raise Refusal("This takes one score column; name it with --score, and adapt classes one by one.")
    return problem
