"""export: ship a map to where there is no Python."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.options import load_model, load_segments
from calibrant.cli.printing import check_screen, check_target, is_stdout, note, progress, written
from calibrant.cli.segments import export_segments
from calibrant.engines.table_columns import split

if TYPE_CHECKING:
    from calibrant.maps.matrix import MatrixMap
    from calibrant.maps.score import CalibrationMap

TARGETS = {"sql": (".sql",), "onnx": (".onnx",), "python": (".py",), "c": (".c", ".h"), "schema": (".schema.json",)}
TITLES = {"sql": "SQL", "onnx": "ONNX", "python": "Python", "c": "C", "schema": "JSON schema"}
TARGET = f"{', '.join(TARGETS)}; by default from the file name."

SCORE = "Score column in SQL; for several classes a,b,c, by default those of the fit."
TABLE = "Several classes in SQL: the table with the score columns."
KEEP = "Several classes in SQL: other columns to carry along, a,b,c."


def export(
    model: options.Model,
    *,
    to: Annotated[str | None, options.option(TARGET, "--to", "-t", value="TARGET")] = None,
    dialect: Annotated[str, options.option("SQL dialect: duckdb, spark, …", "--dialect", value="DIALECT")] = "duckdb",
    score: Annotated[list[str] | None, options.option(SCORE, "--score", "-s", value="COLUMN")] = None,
    table: Annotated[str, options.option(TABLE, "--table", value="TABLE")] = "scores",
    keep: Annotated[list[str] | None, options.option(KEEP, "--keep", value="COLUMN")] = None,
    by: Annotated[list[str] | None, options.option("Columns of segments in SQL.", "--by", value="COLUMN")] = None,
    name: Annotated[str, options.option("Name of the function in Python and C.", "--name", value="NAME")] = "calibrate",
    output: options.Output = None,
) -> None:
    """Write a model as SQL, ONNX, Python or C; it is run and compared with the model before it is written."""
    import calibrant.export
    from calibrant.maps.segments import SegmentedMap

    check_target(output, [model])
    target = to or next((kind for kind, ends in TARGETS.items() if (output or "").endswith(ends)), None)
    if target is None:
        raise Problem(f"Say what to write with --to, one of {', '.join(TARGETS)}, or name a file such as -o map.sql.")
    if target not in TARGETS:
        raise Problem(f"--to must be one of {', '.join(TARGETS)}; got {to}.")
    if target == "onnx":
        check_screen(output, "ONNX")
    segmented = load_segments(model)
    if segmented is None and by:
        raise Problem("--by is for a model of segments; fit one with `calibrant fit --by`.")
    with progress(f"exporting to {target}"):
        map_ = segmented or load_model(model)
        if isinstance(map_, SegmentedMap):
            content = export_segments(
                map_, target, dialect=dialect, score=_one_score(split(score or [])), by=by or [], name=name
            )
        elif target == "onnx":
            content = calibrant.export.to_onnx(map_).SerializeToString()
        elif target == "schema":
            content = json.dumps(calibrant.export.schema(), indent=1).encode() + b"\n"
        elif target == "sql":
            content = _to_sql(map_, split(score or []), table, split(keep or []), dialect).encode() + b"\n"
        else:
            write = calibrant.export.to_python if target == "python" else calibrant.export.to_c
            content = write(map_, name=name).encode()
    with written(output) as path:
        path.write_bytes(content)
    if not is_stdout(output):
        note(f"{TITLES[target]} written to {output}, after checking it against the model.")


def _to_sql(
    map_: CalibrationMap | MatrixMap, scores: tuple[str, ...], table: str, keep: tuple[str, ...], dialect: str
) -> str:
    """Return an expression for one score, or a query for several classes, which no single expression computes."""
    from calibrant.export import matrix_sql, to_sql
    from calibrant.maps.matrix import MatrixMap

    if isinstance(map_, MatrixMap):
        return matrix_sql.matrix_to_sql(
            map_, columns=scores or map_.columns or None, table=table, keep=keep, dialect=dialect
        )
    return to_sql(map_, dialect=dialect, column=_one_score(scores))


def _one_score(scores: tuple[str, ...]) -> str:
    if len(scores) > 1:
        raise Problem(f"The model is of one score; --score names {len(scores)} columns.")
    return scores[0] if scores else "score"
