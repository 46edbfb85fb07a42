"""monitor, replay, adapt: whether probabilities still hold as labels arrive over time, and a map that follows them."""

import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.columns import check_name
from calibrant.cli.compare import EVERY
from calibrant.cli.errors import Refusal
from calibrant.cli.models import load_model
from calibrant.cli.printing import check_target, escape, note, print_json, print_table, progress
from calibrant.cli.problems import FIT_FIRST, Problem, read_problem
from calibrant.engines.tables import STDIN, Table, find_files, literal, open_table, quote

ALARM = 3
MOST_LOOKS = 2000
LOOKS = "Column of days, months, …: the rows with each of its values are a look, in their order."
MONITOR_STATE = "File that keeps the monitor between calls, made when missing; each call then brings new rows only."
FALSE_ALARM = "Probability of a false alarm, over all looks together."
PROMOTE = 4  # the exit code for "a better map is available", next to that of an alarm
TIME = "Column of the period of each row, such as its month; periods follow each other in their order."
DELAY = "How many periods late labels are; 0 if known before the next period."
CLUSTERED = "Rows of a period may share their outcome: count each period as one piece of evidence."
SAVE = "File to write the adaptive calibrator to, for `calibrant adapt`."
STATE = "File with the adaptive calibrator; with --model it is begun if it is not there."
PERIOD = "Name of the period; by default its number."
FAIL = f"Exit with code {PROMOTE} if a better map is available."
MAP = "File to write the map for the coming period to."

Delay = Annotated[int, options.option(DELAY, "--delay", value="PERIODS", min=0)]
Clustered = Annotated[bool, options.option(CLUSTERED, "--clustered")]


@options.reads_rows("by", "space")
def monitor(
    rows: options.RowOptions,
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help="Rows from when the model was deployed.")],
    *,
    time: Annotated[str | None, options.option(LOOKS, "--time", value="COLUMN")] = None,
    model: options.ModelOption = None,
    state: Annotated[str | None, options.option(MONITOR_STATE, "--state", value="FILE")] = None,
    alpha: Annotated[float, options.option(FALSE_ALARM, "--alpha", value="ALPHA")] = 0.05,
    fail: Annotated[bool, options.option(f"Exit with code {ALARM} on an alarm.", "--fail")] = False,
    as_json: options.As_json = False,
) -> None:
    """Test look by look whether probabilities still hold; however many looks, false alarms are as rare as --alpha says.

    Each FILE has rows since then, once each, and is a look, in this order. With the scores of several classes: of the
    predicted class and of each class, with one rate of false alarms. With --by every segment of REFERENCE is tested,
    with one probability of a false alarm over all of them.
    """
    from calibrant.monitoring import compare_tallies
    from calibrant.monitoring.named_tallies import read_named_tallies

    check_target(state, [reference, *rows.files, *([model] if model else [])])
    before = replace(rows, files=[reference]).read()
    map_ = None if model is None else load_model(model, before)
    watched = _begin(state, map_, before)
    alarmed = bool(watched.alarms(alpha))
    deployed = _rows_of(before, map_)
    looks: list[dict[str, Any]] = []
    since: dict[Any, Any] = {}  # all rows of all looks, by name
    about: dict[str, Any] = {"map_": map_, "classes": before.classes or None}
    for problem in _read_looks(rows, time, before):
        seen = _rows_of(problem, map_)
        watched = watched.updated(*seen)
        named = read_named_tallies(*seen, **about)
        change = compare_tallies(deployed, named, **about)
        since |= {name: tally + since.get(name, tally.empty()) for name, tally in named.items()}
        shares = {"predicted": change.whole.mean_predicted, "happened": change.whole.base_rates[1]}
        result = {"e_value": watched.e_value, "alarm": bool(watched.alarms(alpha))}
        looks.append({"look": problem.name, "rows": int(problem.n_rows)} | shares | result)
    if change.e_values.keys() != watched.e_values().keys():
        raise Refusal(f"{state} watches other names than {reference} has; begin a new file.")
    change = replace(compare_tallies(deployed, since, **about), e_values=watched.e_values(), e_value=watched.e_value)
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


def _read_looks(rows: options.RowOptions, time: str | None, before: Problem) -> Iterator[Problem]:
    """Read the looks in order: each file is one, or the rows with each value of a column."""
    how: dict[str, Any] = {"drop_missing": rows.drop_missing, "space": rows.space, "like": before}
    if time is None:
        for name in (name for file in rows.files for name in ([file] if file == STDIN else find_files(file))):
            yield read_problem([name], before.columns, **how)
        return
    with open_table(rows.files) as table:
        check_name(table, time, "--time")
        name = quote(time)
        # As text: DuckDB needs another package to hand over a time with its zone.
        moments = table.values(f"SELECT {name}::VARCHAR FROM rows GROUP BY {name} ORDER BY {name} LIMIT {MOST_LOOKS}")
        if len(moments) == MOST_LOOKS:
            raise Refusal(f"--time '{time}' has {MOST_LOOKS} values or more; make a column of days or months from it.")
        for (moment,) in moments:
            if moment is None:
                raise Refusal(f"--time '{time}' is missing in some rows; fill it, or drop them.")
            seen = table.relation.filter(f"{name}::VARCHAR = {literal(moment)}")
            yield read_problem(Table(moment, seen, connection=table.connection), before.columns, **how)


def _rows_of(problem: Problem, map_: Any) -> Any:
    """Return tallies, or scores and labels, as monitors take them; without a map they must be probabilities."""
    if map_ is None:
        problem = problem.calibrated(None)
        problem.check_probabilities(FIT_FIRST)
    if problem.rows is None:
        return (problem.segments or problem.tally,)
    return problem.rows.scores, [problem.classes[k] if problem.classes else k for k in problem.rows.labels]


def _print(watched: Any, change: Any, looks: list[Any], *, alpha: float, first: str | None, as_json: bool) -> None:
    from calibrant.monitoring.e_values import e_text
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
    form = {"rows": "d", "predicted": ".4f", "happened": ".4f"}
    texts = [[one["look"], *(f"{one[key]:{form[key]}}" for key in form), e_text(one["e_value"])] for one in looks]
    print_table("", ["look", "rows", "predicted", "happened", "e-value"], texts)
    raised = "" if first is None else f" First raised by {first}."
    tested = "" if watched.map_ is not None else " Without --model, the scores themselves are tested."
    sys.stdout.write(f"{escape(watched.describe(alpha) + raised + tested)}\n")


@options.reads_rows("space")
def replay(
    rows: options.RowOptions,
    *,
    time: Annotated[str, options.option(TIME, "--time", value="COLUMN")],
    every: Annotated[str | None, options.option(EVERY, "--every", value="LENGTH")] = None,
    delay: Delay = 0,
    first: Annotated[int, options.option("Periods to fit the static map to.", "--first", value="PERIODS", min=1)] = 1,
    clustered: Clustered = False,
    level: options.Level = 0.9,
    save: Annotated[str | None, options.option(SAVE, "--save", value="FILE")] = None,
    output: Annotated[str | None, options.option(MAP, "--output", "-o", value="FILE")] = None,
    as_json: options.As_json = False,
) -> None:
    """Replay a history: what standing still, refits that forget and adapting would have brought."""
    from calibrant.calibrators import registry
    from calibrant.monitoring import walk_forward

    check_target(save, rows.files)
    check_target(output, rows.files)
    problem = _check_shape(rows.read(time=time), "score", "panel")
    shape, (scores, labels, _, periods, _) = problem.shape, problem.rows
    method = registry.create("panel" if shape == "panel" else "blend", shape, space=rows.space or "probability")
    if every is None and len(set(periods)) > MOST_LOOKS:
        raise Refusal(f"--time '{time}' has more than {MOST_LOOKS} values; --every month, for instance, joins dates.")
    how: dict[str, Any] = {"delay": delay, "n_reference": first, "clustered": clustered, "level": level, "every": every}
    with progress("replaying"):
        found = walk_forward(scores, labels, periods, reference=method, **how)
    made, length = len(found.periods) + first, f"each value of '{time}'" if every is None else f"each {every}"
    note(f"{made} periods, one for {length}, {len(labels) / made:.0f} rows on average; --every makes others of dates.")
    if as_json:
        answer = {"promote": found.adaptive.promote(), "promoted_since": found.adaptive.promoted_since()}
        print_json({"ways": found.results} | answer)
    else:
        sys.stdout.write("\n".join(map(escape, str(found).split("\n"))) + "\n")
    if output is not None:
        found.adaptive.map_.save(output)
    elif found.adaptive.promote() and shape == "score":
        note("To use the better map, write it with -o map.json, and `calibrant apply` it.")
    if save is not None:
        found.adaptive.save(save)
        note(f"Saved to {save}; go on with `calibrant adapt {save}` and the rows of the next period.")


@options.reads_rows()
def adapt(
    rows: options.RowOptions,
    state: Annotated[str, typer.Argument(metavar="STATE", help=STATE)],
    *,
    model: Annotated[str | None, options.option("The model in use, to begin with.", "--model", value="FILE")] = None,
    period: Annotated[str | None, options.option(PERIOD, "--period", value="NAME")] = None,
    delay: Delay = 0,
    clustered: Clustered = False,
    output: Annotated[str | None, options.option(MAP, "--output", "-o", value="FILE")] = None,
    fail: Annotated[bool, options.option(FAIL, "--fail")] = False,
) -> None:
    """Add the labels of one more period to an adaptive calibrator, and say if a better map is available."""
    from calibrant.monitoring import AdaptiveCalibrator

    check_target(state, rows.files)
    known = Path(state).exists()
    check_target(output, [*rows.files, *([state] if known else [])])
    if known and model is not None:
        raise Refusal(f"{state} exists and has its model; leave out --model, or name another file to begin.")
    if known:
        adaptive = AdaptiveCalibrator.load(state)
    elif model is not None:
        adaptive = AdaptiveCalibrator(load_model(model), delay=delay, clustered=clustered)
    else:
        raise Refusal(f"{state} does not exist; begin it with --model and the model in use.")
    problem = _check_shape(rows.read(space=adaptive.reference.space), adaptive.reference.kind)
    adaptive = adaptive.after(adaptive.tally_of(*_rows_of(problem, adaptive.reference)), period)
    if output is not None:
        adaptive.map_.save(output)
    adaptive.save(state)
    sys.stdout.write(f"{escape(str(adaptive))}\n")
    if fail and adaptive.promote():
        raise typer.Exit(PROMOTE)


def _check_shape(problem: Problem, *shapes: str) -> Problem:
    if problem.shape not in shapes:
        raise Refusal("This takes one score column, or each of a panel by a --score of its own; adapt classes singly.")
    return problem
