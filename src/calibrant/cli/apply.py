"""apply: use a model on a table of any size."""

import glob
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from calibrant.cli import options
from calibrant.cli.fit import class_file
from calibrant.cli.options import load_model, load_segments
from calibrant.cli.printing import check_screen, check_target, is_stdout, note, progress, warn, written
from calibrant.cli.segments import report_unseen, segment_options
from calibrant.engines.table_files import shorten

ONLY_NEW = "Write only the new columns; faster for wide tables."


def apply(
    model: options.Model,
    files: options.Files,
    *,
    score: options.Score = None,
    by: options.Keys = None,
    missing: options.Missing = None,
    name: Annotated[str, options.option("Name of the new column.", "--name", value="NAME")] = "probability",
    only_new: Annotated[bool, options.option(ONLY_NEW, "--only-new")] = False,
    top_label: options.Top = False,
    output: options.Output = None,
    format_: options.Format = None,
) -> None:
    """Add the calibrated probability to a table of any size; all columns and the order of rows are kept.

    A model of segments finds their columns by the names of the fit; --by names others, in the same order.
    """
    from calibrant.engines import apply_file, open_table
    from calibrant.engines.table_columns import choose_scores

    check_target(output)
    kind = output_kind(output, format_)
    segmented = load_segments(model)
    with open_table(files) as table:
        scores = choose_scores(table, score or [], say=note)
        more = segment_options(segmented, table, by or [], missing)
        if segmented is None and len(scores) > 1 and not top_label:
            maps = {one: load_model(class_file(model, one)) for one in scores}
            _warn_of_unused_classes(model, scores)
        else:
            maps = None
        to_file = nullcontext(output) if not is_stdout(output) else written(None)
        with progress(f"calibrating {table.name}"), to_file as path:
            done = apply_file(
                segmented or maps or load_model(model),
                table,
                str(path),
                score=scores,
                name=name,
                only_new=only_new,
                format=kind,
                **more,
            )
    where = "" if is_stdout(output) else f" Saved to {output}."
    note(f"{done.rows} rows calibrated; new: {', '.join(map(shorten, done.columns))}.{where}")
    if done.unusable:
        warn(f"{done.unusable} scores are missing, not finite or outside the map's range; their result is empty.")
    report_unseen(done, segmented)


def output_kind(output: str | None, given: str | None) -> str:
    """Return the format to write, on standard output CSV unless another is given; binary ones are not for a screen."""
    from calibrant.engines.file_apply import output_format

    kind = output_format("-.csv" if is_stdout(output) else output or "", "json" if given == "jsonl" else given)
    if kind in ("parquet", "arrow"):
        check_screen(output, kind.capitalize())
    return kind


def _warn_of_unused_classes(model: str, scores: Sequence[str]) -> None:
    """Warn where classes that were fitted are left out: the others then share what would be theirs."""
    path = Path(model)
    used = {Path(class_file(model, one)).name for one in scores}
    others = sorted(one.name for one in path.parent.glob(f"{glob.escape(path.stem)}.*.json") if one.name not in used)
    if others:
        shown = f"{', '.join(others[:3])}{', …' if len(others) > 3 else ''}"
        warn(f"The probabilities add up to 1 over the {len(scores)} named classes; not used: {shown}.")
