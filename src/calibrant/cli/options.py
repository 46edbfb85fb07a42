"""Options that several commands share, each said once."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "As_json", "By", "Files", "Format", "Label", "Level", "Method", "Model", "ModelOption", "Output", "Positive",
    "Quiet", "Score", "Top", "Weight", "complete_method",
]  # fmt: skip


def complete_method(incomplete: str) -> list[str]:
    """List the methods that begin like a word, for the shell. Of a list, a,b,c, the last one is open."""
    from calibrant.cli.methods import method_names

    before, comma, open_ = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in method_names() if name.startswith(open_)]


Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="Suppress progress messages.")]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE", help="Tables: CSV, Parquet, Arrow or JSON lines; paths or 'globs'; - is standard input."
    ),
]
Model = Annotated[str, typer.Argument(help="A model that `calibrant fit` wrote.", metavar="MODEL")]
ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="FILE", help="A model to apply to the scores first.")
]
Score = Annotated[
    list[str] | None,
    typer.Option(
        "--score", "-s", metavar="COLUMN", help="Column of scores; for several classes a,b,c, one column each."
    ),
]
Label = Annotated[str | None, typer.Option("--label", "-l", metavar="COLUMN", help="Column of labels.")]
Weight = Annotated[
    str | None,
    typer.Option("--weight", "-w", metavar="COLUMN", help="Column of weights; each counts as that many rows."),
]
By = Annotated[
    str | None,
    typer.Option("--by", metavar="COLUMN", help="Column that defines segments; each is reported separately."),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive", metavar="LABEL", help="The label of the positive class; not needed for 0/1 or true/false."
    ),
]
Top = Annotated[
    bool, typer.Option("--top-label", metavar="", help="Several classes: use the highest score of each row.")
]
Level = Annotated[float, typer.Option("--level", metavar="LEVEL", help="Confidence level of the intervals.")]
As_json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON instead of text.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="File to write; without it, standard output.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", "-f", metavar="FORMAT", help="csv, parquet, arrow or json; by default from the file name."
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        metavar="METHOD",
        help="Calibration method; `calibrant methods` lists them.",
        autocompletion=complete_method,
    ),
]
