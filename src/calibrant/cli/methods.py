"""methods, fit: the calibration methods by their names, listed, made, and fitted to a table."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, Any

from calibrant.cli import options
from calibrant.cli.errors import Refusal, in_options
from calibrant.cli.printing import check_target, is_stdout, note, print_json, print_table, progress, warn, written
from calibrant.cli.problems import Problem

SETTING = "Option of the method, such as --set n_bins=20."
ABILITIES, NO_YES = ("monotone", "intervals", "several classes"), ("no", "yes")


def methods(as_json: options.As_json = False) -> None:
    """List the calibration methods and what each can do."""
    from calibrant.calibrators import registry

    rows = registry.describe()
    if as_json:
        print_json(rows)
        return
    for row in rows:
        row["name"] += " (default)" * row["default"]
    texts = [[row["name"], row["scores"], *(NO_YES[row[key]] for key in ABILITIES), row["summary"]] for row in rows]
    print_table("", ["method", "scores", *ABILITIES, "what it does"], texts)


def method_names(*shapes: str) -> list[str]:
    """List the names of the methods for some shapes of scores, by default for all that have methods of their own."""
    from calibrant.calibrators import registry

    return list(dict.fromkeys(name for shape in shapes or registry.OWN_METHODS for name in registry.names(shape)))


def check_methods(names: Iterable[str | None]) -> None:
    """Refuse a method that does not exist before any data are read."""
    from calibrant.calibrators import registry

    for name in names:
        if name is not None and name not in method_names():
            registry.get(name)


def create_method(name: str | None, shape: str, space: str, settings: dict[str, Any]) -> Any:
    """Make the calibrator of a method, by default of the default one; options that it does not have are refused."""
    from calibrant.calibrators import registry

    cls: Any = registry.get(name or registry.DEFAULT_METHOD, shape)
    known = cls._get_param_names()
    unknown = next((key for key in settings if key not in known), None)
    if unknown is not None:
        raise Refusal(f"{cls.name} has no option {unknown!r}; it has {', '.join(known) or 'none'}.")
    if space == "decision" and not registry.takes_any_score(cls):
        raise Refusal(f"{cls.name} takes probabilities only; for --space decision choose one that takes any score.")
    return cls(**({"space": space} if "space" in known else {}) | settings)


def parse_settings(given: Iterable[str]) -> dict[str, Any]:
    """Read options of a method, each as name=value, with values as in JSON or else as text."""
    settings = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign:
            raise Refusal(f"--set needs a name and a value, such as n_bins=20; got {text!r}.")
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            settings[name] = value
    return settings


@options.reads_rows("weight", "by", "space", "top_label")
def fit(
    rows: options.RowOptions,
    *,
    missing: options.Missing = None,
    method: options.Method = None,
    settings: Annotated[list[str] | None, options.option(SETTING, "--set", value="NAME=VALUE")] = None,
    output: options.Output = None,
    as_json: options.As_json = False,
) -> None:
    """Learn a calibration map from scores and labels, and save it as JSON; one file, also for several classes.

    With --by it is one map for many segments, with several --score one map of several scores of a row.
    """
    check_target(output, rows.files)
    if as_json and is_stdout(output):
        raise Refusal("--json prints a summary, so the model needs a file of its own; name it with -o model.json.")
    if missing and not rows.by:
        raise Refusal("--missing is about segments; name their column with --by.")
    if method is None and len(rows.score or []) > 1:
        method = "panel"
    check_methods([method])
    parameters = parse_settings(settings or [])
    problem = rows.read(panel=method in method_names("panel"))
    problem.check_probabilities()
    calibrator = _create(problem, method, parameters, missing or "error")
    _warn_of_rows(problem)
    with progress(f"fitting {type(calibrator).__name__}"):
        problem.fit(calibrator)
    with written(output) as path:
        calibrator.save(path)
    summary = _summarise(problem, calibrator)
    _say(problem, calibrator, summary, output)
    if as_json:
        print_json(summary | {"output": output})


def _create(problem: Problem, method: str | None, parameters: dict[str, Any], missing: str) -> Any:
    """Make the calibrator; the curve that segments share always gets probabilities."""
    from calibrant import SegmentedCalibrator

    if problem.shape != "segments":
        return create_method(method, problem.shape, problem.space, parameters)
    for k, name in enumerate(problem.columns.by):
        without = sum(tally.total for segment, tally in problem.segments.items() if segment[k] is None)
        if without and missing == "error":
            raise Refusal(f"--by '{name}' is missing in {without:.10g} rows; fill it, or add --missing segment.")
    pooled = create_method(method, "score", "probability", parameters)
    return SegmentedCalibrator(pooled, missing=missing, space=problem.space)


def _warn_of_rows(problem: Problem) -> None:
    """Warn of rows from which little can be learnt."""
    import numpy as np

    from calibrant.metrics.scores import describe_doubts

    if problem.shape == "panel":
        return
    if problem.rows is None:
        for sentence in describe_doubts(problem.tally):
            warn(in_options(sentence))
        return
    counts = np.bincount(problem.rows.labels, problem.rows.weights, len(problem.classes))
    empty = [str(name) for name, count in zip(problem.classes, counts, strict=True) if not count]
    if empty:
        warn(f"No rows of {', '.join(empty[:6])}{', …' if len(empty) > 6 else ''}; what is said of them is a guess.")


def _summarise(problem: Problem, calibrator: Any) -> dict[str, Any]:
    import numpy as np

    summary: dict[str, Any] = {"method": type(calibrator).__name__, "rows": problem.n_rows}
    if problem.shape == "matrix":
        return summary | {"classes": len(problem.classes)}
    if problem.shape == "panel":
        base_rate = float(np.average(problem.rows.labels, weights=problem.rows.weights))
        worth = [asdict(row) for row in calibrator.scores_] if hasattr(calibrator, "scores_") else []
        return summary | {"base_rate": base_rate, "scores": worth}
    if problem.shape == "segments":
        found = calibrator.segments_
        summary |= {"keys": list(problem.columns.by), "differences": found.differences, "segments": found.to_records()}
    return summary | {"base_rate": problem.tally.base_rate}


def _say(problem: Problem, calibrator: Any, summary: dict[str, Any], output: str | None) -> None:
    from calibrant.tally import row_count

    kind = f"{summary['classes']} classes" if "classes" in summary else f"{100 * summary['base_rate']:.3g} % positive"
    where = "" if is_stdout(output) else f" Saved to {output}."
    note(f"{summary['method']} fitted to {row_count(summary['rows'])} rows, {kind}.{where}")
    if problem.shape in ("segments", "panel"):
        told = calibrator.segments_ if problem.shape == "segments" else calibrator
        for line in told.summary().split("\n"):
            note(line)
