"""export: ship a map to where there is no Python."""

import json
from typing import Annotated

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.options import load_model, load_segments
from calibrant.cli.printing import check_screen, check_target, is_stdout, note, progress, written
from calibrant.cli.segments import export_segments

TARGETS = {"sql": (".sql",), "onnx": (".onnx",), "python": (".py",), "c": (".c", ".h"), "schema": (".schema.json",)}
TARGET = f"{', '.join(TARGETS)}; by default from the file name."


def export(
    model: options.Model,
    *,
    to: Annotated[str | None, options.option(TARGET, "--to", "-t", value="TARGET")] = None,
    dialect: Annotated[str, options.option("SQL dialect: duckdb, spark, …", "--dialect", value="DIALECT")] = "duckdb",
    score: Annotated[
        str, options.option("Name of the score column in SQL.", "--score", "-s", value="COLUMN")
    ] = "score",
    by: Annotated[list[str] | None, options.option("Columns of segments in SQL.", "--by", value="COLUMN")] = None,
    name: Annotated[str, options.option("Name of the function in Python and C.", "--name", value="NAME")] = "calibrate",
    output: options.Output = None,
) -> None:
    """Write a model as SQL, ONNX, Python or C; it is run and compared with the model before it is written."""
    import calibrant.export
    from calibrant.segmented_maps import SegmentedMap

    check_target(output, [model])
    target = to or next((kind for kind, ends in TARGETS.items() if (output or "").endswith(ends)), None)
    if target not in TARGETS:
        raise Problem(f"--to must be one of {', '.join(TARGETS)}; got {to or 'nothing'}.")
    if target == "onnx":
        check_screen(output, "ONNX")
    segmented = load_segments(model)
    if segmented is None and by:
        raise Problem("--by is for a model of segments; fit one with `calibrant fit --by`.")
    with progress(f"exporting to {target}"):
        map_ = segmented or load_model(model)
        if isinstance(map_, SegmentedMap):
            content = export_segments(map_, target, dialect=dialect, score=score, by=by or [], name=name)
        elif target == "onnx":
            content = calibrant.export.to_onnx(map_).SerializeToString()
        elif target == "schema":
            content = json.dumps(calibrant.export.schema(), indent=1).encode() + b"\n"
        elif target == "sql":
            content = calibrant.export.to_sql(map_, dialect=dialect, column=score).encode() + b"\n"
        else:
            write = calibrant.export.to_python if target == "python" else calibrant.export.to_c
            content = write(map_, name=name).encode()
    with written(output) as path:
        path.write_bytes(content)
    if not is_stdout(output):
        note(f"{target} written to {output}, after checking it against the model.")
