"""apply: use a model on a table of any size."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.options import load_any
from calibrant.cli.printing import check_screen, check_target, is_stdout, note, progress, shorten, warn, written
from calibrant.cli.segments import report_unseen, segment_options

if TYPE_CHECKING:
    from calibrant.engines.file_apply import Applied
    from calibrant.engines.tables import Table
    from calibrant.maps.matrix import MatrixMap
    from calibrant.maps.score import CalibrationMap
    from calibrant.maps.segments import SegmentedMap

MOST_NAMED = 5
FEW_ROWS, NARROW = 20, 0.05  # so many scores in so small a share of the range of the fit are on another scale
ONLY_NEW = "Write only the new columns; faster for wide tables."
NAME = "Name of the new column; for several classes its beginning."


def apply(
    model: options.Model,
    files: options.Files,
    *,
    score: options.Score = None,
    by: options.Keys = None,
    missing: options.Missing = None,
    name: Annotated[str, options.option(NAME, "--name", value="NAME")] = "probability",
    only_new: Annotated[bool, options.option(ONLY_NEW, "--only-new")] = False,
    top_label: options.Top = False,
    output: options.Output = None,
    format_: options.Format = None,
) -> None:
    """Add the calibrated probability to a table of any size; all columns and the order of rows are kept.

    A model of several classes adds a column for each, and finds the score columns by the names that it was fitted to.
    One of segments finds their columns by the names of the fit; --by names others, in the same order.
    """
    from calibrant.engines import apply_file, open_table
    from calibrant.maps.segments import SegmentedMap

    check_target(output, [model])
    kind = output_kind(output, format_)
    map_ = load_any(model)
    segmented = map_ if isinstance(map_, SegmentedMap) else None
    with open_table(files) as table:
        scores = _choose_scores(map_, table, score or [], top_label)
        more = segment_options(segmented, table, by or [], missing)
        to_file = nullcontext(output) if not is_stdout(output) else written(None)
        with progress(f"calibrating {table.name}"), to_file as path:
            done = apply_file(map_, table, str(path), score=scores, name=name, only_new=only_new, format=kind, **more)
    where = "" if is_stdout(output) else f" Saved to {output}."
    last = f", … {shorten(done.columns[-1])}" if len(done.columns) > MOST_NAMED else ""
    note(f"{done.rows} rows calibrated; new: {', '.join(map(shorten, done.columns[:MOST_NAMED]))}{last}.{where}")
    if done.unusable:
        warn(f"{done.unusable} rows have scores that are missing or that the map does not take; their result is empty.")
    report_unseen(done, segmented)
    _warn_of_scale(done, getattr((segmented.first or segmented.pooled) if segmented else map_, "fitted_range", None))


def _warn_of_scale(done: Applied, fitted: tuple[float, float] | None) -> None:
    """Warn where scores seem to be on another scale than those of the fit, such as percentages and shares."""
    if fitted is None or done.score_range is None:
        return
    (low, high), (lowest, highest) = fitted, done.score_range
    narrow = done.rows >= FEW_ROWS and highest - lowest < NARROW * (high - low)
    if narrow or done.outside > 0.5 * done.rows:
        warn(
            f"The scores go from {lowest:.4g} to {highest:.4g}; the model was fitted to scores from {low:.4g} to "
            f"{high:.4g}. Are they on the same scale?"
        )


def _choose_scores(
    map_: CalibrationMap | MatrixMap | SegmentedMap, table: Table, given: list[str], top_label: bool
) -> tuple[str, ...]:
    """Choose the score columns: as told, as the model was fitted, or guessed for a model of one score."""
    from calibrant.cli.columns import choose_scores
    from calibrant.maps.matrix import MatrixMap

    if not isinstance(map_, MatrixMap):
        scores = choose_scores(table, given, say=note)
        if len(scores) > 1 and not top_label:
            raise Problem("The model is of one score; to apply it to the highest score of each row add --top-label.")
        return scores
    scores = choose_scores(table, given or map_.columns or [str(label) for label in map_.classes], say=note)
    if len(scores) != len(map_.classes):
        raise Problem(f"The model is of {len(map_.classes)} classes; --score names {len(scores)} columns.")
    return map_.columns if set(scores) == set(map_.columns) else scores  # names tell more than their order


def output_kind(output: str | None, given: str | None) -> str:
    """Return the format to write, on standard output CSV unless another is given; binary ones are not for a screen."""
    from calibrant.engines.file_apply import output_format

    kind = output_format("-.csv" if is_stdout(output) else output or "", "json" if given == "jsonl" else given)
    if kind in ("parquet", "arrow"):
        check_screen(output, kind.capitalize())
    return kind
