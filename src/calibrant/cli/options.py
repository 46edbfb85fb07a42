"""Options that several commands share, each declared once; those that say which labelled rows to read, together."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Signature, signature
from typing import Annotated, Any

import typer

from calibrant.cli.columns import Columns
from calibrant.cli.errors import Refusal
from calibrant.cli.problems import Problem, read_problem
from calibrant.errors import InvalidInputError

TABLES = "Tables: CSV, Parquet or JSON lines; paths or 'globs'; - is standard input."
SCORES = "Column of scores; for several classes a,b,c; repeated for several scores of a row."
MISSING = "Rows whose segment is missing: error, or segment for one of their own."
WEIGHTS = "Column of weights; each counts as that many rows."
GROUPS = "Column of groups, such as patients; their rows are resampled together and stay in one fold."
POSITIVE = "The label of the positive class; not needed for 0/1 or true/false."
SPACE = "What the scores are: probability, or decision for margins, logits and the like; by default probability."
METHOD, METHODS = "Calibration method; `calibrant methods` lists them.", "Methods to compare, a,b,c; by default all."
FORMAT = "csv, parquet or json; by default from the file name."


def option(help_: str, *names: str, value: str = "", **more: Any) -> Any:
    """Describe an option: what it does, its names, and what to call its value; a flag has none."""
    return typer.Option(*names, metavar=value, help=help_, **more)


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
Method = Annotated[str | None, option(METHOD, "--method", "-m", value="METHOD")]
Methods = Annotated[list[str] | None, option(METHODS, "--method", "-m", value="METHOD")]
ModelOption = Annotated[str | None, option("A model to apply to the scores; by default none.", "--model", value="FILE")]
Level = Annotated[float, option("Confidence level of the intervals.", "--level", value="LEVEL")]
Seed = Annotated[int, option("Seed of the random numbers.", "--seed", value="SEED", min=0)]
Output = Annotated[str | None, option("File to write; without it, standard output.", "--output", "-o", value="FILE")]
Format = Annotated[str | None, option(FORMAT, "--format", "-f", value="FORMAT")]

USUAL = ("files", "score", "label", "drop_missing", "positive")


@dataclass(frozen=True)
class RowOptions:
    """Which labelled rows a command is about, as its options say."""

    files: Files
    score: Score = None
    label: Label = None
    weight: Weight = None
    by: By = None
    groups: Groups = None
    drop_missing: Drop = False
    positive: Positive = None
    space: Space = None
    top_label: Top = False

    def read(self, *, time: str | None = None, **how: Any) -> Problem:
        """Read these rows, with a column of times in place of groups where one is named."""
        if time is not None:
            if self.groups is not None:
                raise Refusal("--time and --groups cannot go together.")
            try:
                return replace(replace(self, groups=time).read(**how), over_time=True)
            except (Refusal, InvalidInputError) as refusal:
                raise Refusal(str(refusal).replace("--groups", "--time")) from refusal
        columns = Columns(tuple(self.score or ()), self.label or "", self.weight, tuple(self.by or ()), self.groups)
        said = {name: getattr(self, name) for name in ("drop_missing", "positive", "space", "top_label")}
        said["panel"] = len(columns.scores) > 1 and not self.top_label  # before commas are read
        return read_problem(self.files, columns, **said | how)


def reads_rows(*more: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the usual options of `RowOptions` and `more` of them; it gets all as its first argument."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        shared = [one for name, one in signature(RowOptions).parameters.items() if name in USUAL + more]
        _, *own = signature(command, eval_str=True).parameters.values()
        before = [one for one in own if one.kind is not one.KEYWORD_ONLY]  # arguments that stand before the files
        parameters = [*before, *shared, *own[len(before) :]]

        @wraps(command)
        def run(**given: Any) -> None:
            rows = RowOptions(**{one.name: given.pop(one.name) for one in shared})
            command(rows, **given)

        # What the parser reads.
        vars(run)["__signature__"] = Signature(parameters)
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate
