"""Options that several commands share, each said once."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "As_json", "By", "Files", "Format", "Label", "Level", "Method", "Model", "Output", "Positive", "Quiet", "Score",
    "Top", "Weight", "methods",
]  # fmt: skip


def methods(incomplete: str) -> list[str]:
    """The methods that begin like a word; the shell asks for them. Of a list, a,b,c, it is the last that is open."""
    from calibrant.calibrators import registry

    before, comma, open_ = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in registry.METHODS if name.startswith(open_)]


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No remarks on the way.")]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE", help="Tables: CSV, Parquet, Arrow or JSON lines; paths or 'globs'; - is standard input."
    ),
]
Model = Annotated[str, typer.Argument(help="A model that `calibrant fit` wrote.", metavar="MODEL")]
Score = Annotated[
    list[str] | None,
    typer.Option(
        "--score", "-s", metavar="COLUMN", help="Column of scores; for several classes a,b,c, one column each."
    ),
]
Label = Annotated[str | None, typer.Option("--label", "-l", metavar="COLUMN", help="Column of labels.")]
Weight = Annotated[
    str | None, typer.Option("--weight", "-w", metavar="COLUMN", help="Column of weights, counted as rows.")
]
By = Annotated[str | None, typer.Option("--by", metavar="COLUMN", help="Column of segments, each looked at by itself.")]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive", metavar="LABEL", help="The label of the positive class; not needed for 0/1 or true/false."
    ),
]
Top = Annotated[bool, typer.Option("--top-label", help="Several classes: look at the highest score of each row.")]
Level = Annotated[float, typer.Option("--level", help="Confidence level of the intervals.")]
As_json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="File to write; without it, standard output.")
]
Format = Annotated[
    str | None,
    typer.Option("--format", "-f", metavar="FORMAT", help="csv, parquet, arrow or json; by default the file's ending."),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        metavar="METHOD",
        help="Calibration method; `calibrant methods` lists them.",
        autocompletion=methods,
    ),
]
