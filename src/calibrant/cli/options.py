"""Options that several commands share, each said once."""

from __future__ import annotations

from typing import Annotated, Any

import typer

TABLES = "Tables: CSV, Parquet, Arrow or JSON lines; paths or 'globs'; - is standard input."
SCORES = "Column of scores; for several classes a,b,c, one column each."
MISSING = "Rows whose segment is missing: error, or segment for one of their own."
WEIGHTS = "Column of weights; each counts as that many rows."
GROUPS = "Column of groups, such as patients; their rows are resampled together and stay in one fold."
POSITIVE = "The label of the positive class; not needed for 0/1 or true/false."
SPACE = "What the scores are: probability, or decision for margins, logits and the like; by default probability."
FORMAT = "csv, parquet, arrow or json; by default from the file name."


def option(help_: str, *names: str, value: str = "", **more: Any) -> Any:
    """Describe an option: what it does, its names, and what to call its value; a flag has none."""
    return typer.Option(*names, metavar=value, help=help_, **more)


def complete_method(incomplete: str) -> list[str]:
    """List the methods that begin like a word, for the shell. Of a list, a,b,c, the last one is open."""
    from calibrant.cli.methods import method_names

    before, comma, open_ = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in method_names() if name.startswith(open_)]


def _method_option(help_: str) -> Any:
    return option(help_, "--method", "-m", value="METHOD", autocompletion=complete_method)


Files = Annotated[list[str], typer.Argument(metavar="FILE", help=TABLES)]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model that `calibrant fit` wrote.")]

Quiet = Annotated[bool, option("Suppress progress messages.", "--quiet", "-q")]
Strict = Annotated[bool, option("Exit with code 5 after a warning.", "--strict")]
Top = Annotated[bool, option("Several classes: use the highest score of each row.", "--top-label")]
As_json = Annotated[bool, option("Print JSON instead of text.", "--json")]
Drop = Annotated[bool, option("Leave out rows without a score or a label.", "--drop-missing")]

Score = Annotated[list[str] | None, option(SCORES, "--score", "-s", value="COLUMN")]
Label = Annotated[str | None, option("Column of labels.", "--label", "-l", value="COLUMN")]
Weight = Annotated[str | None, option(WEIGHTS, "--weight", "-w", value="COLUMN")]
By = Annotated[list[str] | None, option("Column of segments; several with a,b or repeated.", "--by", value="COLUMN")]
Groups = Annotated[str | None, option(GROUPS, "--groups", value="COLUMN")]
Missing = Annotated[str | None, option(MISSING, "--missing", value="WHAT")]
Positive = Annotated[str | None, option(POSITIVE, "--positive", value="LABEL")]
Space = Annotated[str | None, option(SPACE, "--space", value="SPACE")]
Method = Annotated[str | None, _method_option("Calibration method; `calibrant methods` lists them.")]
Methods = Annotated[list[str] | None, _method_option("Methods to compare, a,b,c; by default all.")]
ModelOption = Annotated[str | None, option("A model to apply to the scores first.", "--model", value="FILE")]
Level = Annotated[float, option("Confidence level of the intervals.", "--level", value="LEVEL")]
Seed = Annotated[int, option("Seed of the random numbers.", "--seed", value="SEED", min=0)]
Output = Annotated[str | None, option("File to write; without it, standard output.", "--output", "-o", value="FILE")]
Format = Annotated[str | None, option(FORMAT, "--format", "-f", value="FORMAT")]
