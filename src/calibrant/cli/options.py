"""Options that several commands share, each said once, and the methods and models that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibrant.cli.errors import Problem
from calibrant.engines.table_files import ENDINGS, find_files, suggest

if TYPE_CHECKING:
    from calibrant.maps.matrix import MatrixMap
    from calibrant.maps.score import CalibrationMap
    from calibrant.maps.segments import SegmentedMap


TABLE_ENDINGS = tuple(ending for kind, endings in ENDINGS.items() if kind != "json" for ending in endings)


def option(help_: str, *names: str, value: str = "", **more: Any) -> Any:
    """Describe an option: what it does, its names, and what to call its value; a flag has none."""
    return typer.Option(*names, metavar=value, help=help_, **more)


def complete_method(incomplete: str) -> list[str]:
    """List the methods that begin like a word, for the shell. Of a list, a,b,c, the last one is open."""
    before, comma, open_ = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in method_names() if name.startswith(open_)]


def method_names(several: bool | None = None) -> list[str]:
    """List the names of all methods, or of those for two classes or for several."""
    from calibrant.calibrators import registry

    if several is not None:
        return list(registry.names("matrix" if several else "score"))
    return list(dict.fromkeys([*registry.names(), *registry.names("matrix")]))


def check_method(*names: str | None, several: bool | None = None) -> None:
    """Refuse a method that does not exist before any data are read, and one for another number of classes after."""
    from calibrant.calibrators.registry import ELSEWHERE

    known, all_ = method_names(several), method_names()
    for name in names:
        if name is None or name in known:
            continue
        if name not in all_:
            called = f"It is called {ELSEWHERE[name]!r} here." if name in ELSEWHERE else ""
            advice = called or suggest(name, all_, "`calibrant methods` lists them.")
            raise Problem(f"There is no method {name!r}. {advice}")
        if several:
            raise Problem(f"{name} is for two classes. For several use {', '.join(known)}; or add --top-label.")
        raise Problem(f"{name} is for several classes; name the score column of each, with --score a,b,c.")


def load_any(path: str) -> Any:
    """Load the map in a file, of any shape."""
    from calibrant.errors import ModelFileError
    from calibrant.maps.loading import load

    try:
        return load(find_files(path)[0])
    except ModelFileError as error:
        if path.lower().endswith(TABLE_ENDINGS):
            raise Problem(f"{path} is no model but a table; name the model first, then the tables.") from error
        raise


def load_segments(path: str) -> SegmentedMap | None:
    """Load the map of segments in a file; None if the file holds another map."""
    from calibrant.maps.segments import SegmentedMap

    map_ = load_any(path)
    return map_ if isinstance(map_, SegmentedMap) else None


def load_model(path: str) -> CalibrationMap | MatrixMap:
    """Load the map of one score or of several classes in a file."""
    from calibrant.maps.segments import SegmentedMap

    map_ = load_any(path)
    if isinstance(map_, SegmentedMap):
        raise Problem(f"{path} is a model of segments, which this command does not take; use `calibrant apply` first.")
    other: CalibrationMap | MatrixMap = map_
    return other


def load_score_map(path: str | None) -> CalibrationMap | None:
    """Load the map of one score, if any is named."""
    from calibrant.maps.score import CalibrationMap

    map_ = None if path is None else load_model(path)
    if map_ is None or isinstance(map_, CalibrationMap):
        return map_
    raise Problem(f"{path} is a model of {len(map_.classes)} classes; name their score columns with --score a,b,c.")


def load_class_map(path: str | None, n_classes: int) -> MatrixMap | None:
    """Load the map of several classes, if any is named."""
    from calibrant.maps.matrix import MatrixMap

    map_ = None if path is None else load_model(path)
    if not isinstance(map_, MatrixMap | None):
        raise Problem(f"{path} is a model of one score; with the scores of several classes add --top-label.")
    if map_ is not None and len(map_.classes) != n_classes:
        raise Problem(f"{path} is a model of {len(map_.classes)} classes; there are {n_classes} score columns.")
    return map_


TABLES = "Tables: CSV, Parquet, Arrow or JSON lines; paths or 'globs'; - is standard input."
SCORES = "Column of scores; for several classes a,b,c, one column each."
SEGMENTS = "Column that defines segments; each is reported separately."
GROUPS = "Column of groups, such as patients; their rows are resampled together and stay in one fold."
POSITIVE = "The label of the positive class; not needed for 0/1 or true/false."
METHOD = "Calibration method; `calibrant methods` lists them."

Files = Annotated[list[str], typer.Argument(metavar="FILE", help=TABLES)]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model that `calibrant fit` wrote.")]

Quiet = Annotated[bool, option("Suppress progress messages.", "--quiet", "-q")]
Top = Annotated[bool, option("Several classes: use the highest score of each row.", "--top-label")]
Logits = Annotated[bool, option("Several classes: the scores are logits, not probabilities.", "--logits")]
As_json = Annotated[bool, option("Print JSON instead of text.", "--json")]

Score = Annotated[list[str] | None, option(SCORES, "--score", "-s", value="COLUMN")]
Label = Annotated[str | None, option("Column of labels.", "--label", "-l", value="COLUMN")]
Weight = Annotated[
    str | None, option("Column of weights; each counts as that many rows.", "--weight", "-w", value="COLUMN")
]
By = Annotated[str | None, option(SEGMENTS, "--by", value="COLUMN")]
Groups = Annotated[str | None, option(GROUPS, "--groups", value="COLUMN")]
Keys = Annotated[list[str] | None, option("Column of segments; several with a,b or repeated.", "--by", value="COLUMN")]
Missing = Annotated[
    str | None,
    option("Rows whose segment is missing: error, or segment for one of their own.", "--missing", value="WHAT"),
]
Drop = Annotated[bool, option("Leave out rows without a score or a label.", "--drop-missing")]
Positive = Annotated[str | None, option(POSITIVE, "--positive", value="LABEL")]
Method = Annotated[str | None, option(METHOD, "--method", "-m", value="METHOD", autocompletion=complete_method)]
Methods = Annotated[
    list[str] | None,
    option(
        "Methods to compare, a,b,c; by default all.", "--method", "-m", value="METHOD", autocompletion=complete_method
    ),
]
ModelOption = Annotated[str | None, option("A model to apply to the scores first.", "--model", value="FILE")]
Level = Annotated[float, option("Confidence level of the intervals.", "--level", value="LEVEL")]
Seed = Annotated[int, option("Seed of the random numbers.", "--seed", value="SEED", min=0)]
Output = Annotated[str | None, option("File to write; without it, standard output.", "--output", "-o", value="FILE")]
Format = Annotated[
    str | None, option("csv, parquet, arrow or json; by default from the file name.", "--format", "-f", value="FORMAT")
]
