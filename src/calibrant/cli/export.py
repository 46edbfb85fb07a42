"""export: ship a map to where there is no Python."""

from __future__ import annotations

from typing import Annotated, Any

from calibrant.cli import options
from calibrant.cli.columns import split
from calibrant.cli.errors import Problem
from calibrant.cli.options import load_any
from calibrant.cli.printing import check_screen, check_target, is_stdout, note, progress, written

TARGETS = {"sql": (".sql",), "onnx": (".onnx",), "python": (".py",)}
TITLES = {"sql": "SQL", "onnx": "ONNX", "python": "Python"}
TARGET = f"{', '.join(TARGETS)}; by default from the file name."


def export(
    model: options.Model,
    *,
    to: Annotated[str | None, options.option(TARGET, "--to", "-t", value="TARGET")] = None,
    dialect: Annotated[str, options.option("SQL dialect: duckdb, spark, …", "--dialect", value="DIALECT")] = "duckdb",
    score: Annotated[str, options.option("Score column in SQL.", "--score", "-s", value="COLUMN")] = "score",
    by: Annotated[list[str] | None, options.option("Columns of segments in SQL.", "--by", value="COLUMN")] = None,
    name: Annotated[str, options.option("Name of the function in Python.", "--name", value="NAME")] = "calibrate",
    output: options.Output = None,
) -> None:
    """Write a model as SQL, ONNX or Python; it is run and compared with the model before it is written."""
    check_target(output, [model])
    target = to or next((kind for kind, ends in TARGETS.items() if (output or "").endswith(ends)), None)
    if target is None:
        raise Problem(f"Say what to write with --to, one of {', '.join(TARGETS)}, or name a file such as -o map.sql.")
    if target not in TARGETS:
        raise Problem(f"--to must be one of {', '.join(TARGETS)}; got {to}.")
    if target == "onnx":
        check_screen(output, "ONNX")
    with progress(f"exporting to {target}"):
        content = _write(load_any(model), target, dialect=dialect, score=score, by=split(by or []) or None, name=name)
    with written(output) as path:
        path.write_bytes(content)
    if not is_stdout(output):
        note(f"{TITLES[target]} written to {output}, after checking it against the model.")


def _write(map_: Any, target: str, *, dialect: str, score: str, by: tuple[str, ...] | None, name: str) -> bytes:
    from calibrant.export import to_onnx, to_python, to_sql

    if target == "sql":
        return to_sql(map_, dialect=dialect, column=score, by=by).encode() + b"\n"
    if target == "onnx":
        content: bytes = to_onnx(map_).SerializeToString()
        return content
    return to_python(map_, name=name).encode()
