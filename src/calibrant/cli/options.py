"""Options that several commands share, each said once."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "As_json", "By", "Files", "Format", "Label", "Level", "Method", "Output", "Positive", "Score", "Top", "Weight",
]  # fmt: skip

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...", help="Tables: CSV, Parquet, Arrow or JSON lines; paths or 'globs'; - is standard input."
    ),
]
Score = Annotated[
    list[str] | None,
    typer.Option("--score", "-s", help="Column of scores; for several classes a,b,c, one column each."),
]
Label = Annotated[str | None, typer.Option("--label", "-l", help="Column of labels.")]
Weight = Annotated[str | None, typer.Option("--weight", "-w", help="Column of weights, counted as rows.")]
By = Annotated[str | None, typer.Option("--by", help="Column of segments, each looked at by itself.")]
Positive = Annotated[
    str | None, typer.Option("--positive", help="The label of the positive class; not needed for 0/1 or true/false.")
]
Top = Annotated[bool, typer.Option("--top-label", help="Several classes: look at the highest score of each row.")]
Level = Annotated[float, typer.Option("--level", help="Confidence level of the intervals.")]
As_json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", help="File to write; without it, standard output.", show_default=False)
]
Format = Annotated[
    str | None, typer.Option("--format", "-f", help="csv, parquet, arrow or json; by default the file's ending.")
]
Method = Annotated[
    str | None, typer.Option("--method", "-m", help="Calibration method; `calibrant methods` lists them.")
]
