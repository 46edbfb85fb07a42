"""report: a page on the calibration of a model."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from calibrant.cli import options
from calibrant.cli.compare import run_comparison, warn_of_copies
from calibrant.cli.options import check_method
from calibrant.cli.printing import check_target, note, progress, written

if TYPE_CHECKING:
    from calibrant.comparison.table import Comparison
    from calibrant.engines.table_columns import Columns
    from calibrant.report.section import Section
    from calibrant.tally import Tally


def report(
    files: options.Files,
    *,
    output: Annotated[str, options.option("The page to write.", "--output", "-o", value="FILE")] = "report.html",
    score: options.Score = None,
    label: options.Label = None,
    weight: options.Weight = None,
    by: options.Keys = None,
    positive: options.Positive = None,
    method: options.Method = None,
    top_label: options.Top = False,
    title: Annotated[str | None, options.option("The heading of the page.", "--title", value="TEXT")] = None,
) -> None:
    """Write a page on the calibration of a model: one HTML file that opens offline.

    With the scores of several classes the page is about the highest score of each row and whether its class was right.
    """
    from calibrant.cli.tallies import binary, count_parts, name_segments, open_with_columns, predicted_class
    from calibrant.errors import InvalidInputError

    check_target(output, files)
    check_method(method)
    with open_with_columns(files, score, label, weight, by) as (table, columns):
        warn_of_copies(table, columns)
        heading = f"Calibration of {Path(table.name).name}"
        top = top_label or len(columns.scores) > 1
        if len(columns.scores) > 1:
            heading += ": is the predicted class right?"
            note("Several classes: the page is about the highest score of each row and whether its class was right.")
        if len(columns.scores) > 1 and by is None:
            note("Its segments are the predicted classes.")
            view = predicted_class(table, columns)
        else:
            view = binary(table, columns, top, "report")
        tally, parts = count_parts(*view, positive)
    about = {"title": title or heading, "commands": _commands(files, columns, positive), "top_label": top}
    comparison = None
    with suppress(InvalidInputError):  # rows that allow no comparison; the page says why
        comparison = run_comparison(tally)
    sections = _pooling(parts, view[1].by, method, comparison) if by else []
    write_page(output, tally, name_segments(parts), comparison, method=method, sections=sections, **about)
    note(f"The report is in {output}; open it in a browser.")


def _pooling(
    parts: dict[tuple[Any, ...], Tally], keys: tuple[str, ...], method: str | None, comparison: Comparison | None
) -> list[Section]:
    """Return the section on maps by segment, around the method that the page shows."""
    from calibrant.calibrators import registry
    from calibrant.report.pooling_section import pooling_section

    shown = method or (comparison.recommended if comparison is not None else registry.DEFAULT_METHOD)
    with progress(f"fitting {len(parts)} segments"):
        section = pooling_section(parts, keys, registry.create(shown))
    return [] if section is None else [section]


def _commands(files: list[str], columns: Columns, positive: str | None) -> str:
    """Return the commands that calibrate these very rows; the page puts the method in."""
    ending = "".join(Path(files[0]).suffixes[-2:]) if files != ["-"] else ".csv"
    top = ["--top-label"] if len(columns.scores) > 1 else []
    scores = ["--score", ",".join(columns.scores), *top]
    more = {"--label": columns.label, "--weight": columns.weight, "--positive": positive}
    given = [part for option, value in more.items() if value is not None for part in (option, value)]
    source = files if files != ["-"] else [f"data{ending}"]
    fit = shlex.join(["calibrant", "fit", *source, *scores, *given])
    apply = shlex.join(["calibrant", "apply", "calibration.json", f"new{ending}", *scores, "-o", f"calibrated{ending}"])
    return f"{fit} --method {{method}} -o calibration.json\n{apply}"


def write_page(
    output: str, tally: Tally, segments: dict[str, Tally], comparison: Comparison | None, **arguments: Any
) -> None:
    """Write the page, whole or not at all; to standard output where the name is ``-``."""
    from calibrant.report import write_report

    with written(output) as path, progress("writing the report"):
        write_report(path, tally, segments=segments or None, comparison=comparison, **arguments)
