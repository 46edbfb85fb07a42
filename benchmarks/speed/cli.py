"""The command line on ten million rows, against the engine reading and writing the same file; and the help page.

Three tables: scores and labels alone, and with 6 and 18 more columns, as scored tables have them. The commands are
timed as a user starts them, and inside this process, where Python and its packages are loaded. The engine copies a
file of two columns in about the time in which Python with DuckDB and a command line is started twice, as the last table
shows; so the promise is for tables with more than scores.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb

from benchmarks.timing import compare
from calibrant.cli.app import run

ROWS = int(os.environ.get("CALIBRANT_BENCH_ROWS", "10_000_000"))
ROUNDS = int(os.environ.get("CALIBRANT_BENCH_ROUNDS", "3"))
LIMIT, LIMIT_OF_HELP = 1.5, 0.5
Candidates = dict[str, tuple[Callable[[], object], float | None]]
METHODS = ("isotonic", "blend")  # blend is the default
SCORED = """
SELECT {more} s AS score, (random() < 1 / (1 + exp(-(0.3 + 0.6 * ln(s / (1 - s))))))::TINYINT AS label
FROM (SELECT range AS id, random() * 0.998 + 0.001 AS s FROM range({rows}))
"""
MORE = """
id, random() * 1000 AS amount, DATE '2024-01-01' + (id % 700)::INTEGER AS day, 'region ' || (id % 17) AS region,
md5(id::VARCHAR) AS customer, (random() * 100)::INTEGER AS age,
"""


FEATURES = " ".join(f"(random() * 4096)::INTEGER / 16 AS x{i}," for i in range(12))


def inside(*arguments: object) -> None:
    if run(["-q", *map(str, arguments)]) != 0:
        raise SystemExit("the command failed")


def started(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "calibrant", *map(str, arguments)], check=True, capture_output=True)


def python(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


def table(folder: Path, title: str, more: str, limit: float | None) -> None:
    """Both methods on one file. The baseline is a COPY of the file by the same DuckDB: it reads and writes all of it.

    Whoever adds a column of doubles has to write it too, which the second line shows.
    """
    data, copy, output = (folder / name for name in ("data.parquet", "copy.parquet", "out.parquet"))
    duckdb.sql(f"COPY ({SCORED.format(more=more, rows=ROWS)}) TO '{data}' (FORMAT parquet)")
    title = f"{ROWS:,} rows, {title}, {data.stat().st_size / 1e6:.0f} MB of Parquet"
    engine = f"COPY (FROM '{data}') TO '{copy}' (FORMAT parquet)"
    extended = f"COPY (SELECT *, score * 0.9 AS p FROM '{data}') TO '{copy}' (FORMAT parquet)"
    loaded: Candidates = {"the same with one more computed column": (lambda: duckdb.sql(extended), None)}
    commands: Candidates = {}
    for method in METHODS:
        model = folder / f"{method}.json"
        fit = ("fit", data, "-s", "score", "-l", "label", "-m", method, "-o", model)
        apply = ("apply", model, data, "-s", "score", "-o", output)
        loaded |= {
            f"{method}: fit": (partial(inside, *fit), None),
            f"{method}: apply": (partial(inside, *apply), None),
            f"{method}: fit and apply": (partial(both, inside, fit, apply), limit),
        }
        commands[f"{method}: fit and apply"] = (partial(both, started, fit, apply), limit)
    compare(title, ("the engine reads and writes it", lambda: duckdb.sql(engine)), loaded, rounds=ROUNDS)
    call = f'import duckdb; duckdb.sql("{engine}")'
    compare(f"{title}, all as processes", ("the engine", lambda: python(call)), commands, rounds=ROUNDS)


def both(call: Callable[..., object], fit: tuple[object, ...], apply: tuple[object, ...]) -> None:
    call(*fit)
    call(*apply)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        table(Path(folder), "two columns", "", None)
        table(Path(folder), "eight columns", MORE, LIMIT)
        table(Path(folder), "twenty columns", MORE + FEATURES, LIMIT)
        starting(Path(folder))


def starting(folder: Path) -> None:
    """What it takes to start, on a file that takes no time."""
    data, model, output = folder / "small.parquet", folder / "small.json", folder / "out.parquet"
    duckdb.sql(f"COPY ({SCORED.format(more='', rows=3000)}) TO '{data}' (FORMAT parquet)")
    fit = partial(started, "fit", data, "-s", "score", "-l", "label", "-o", model)
    fit()
    ratios = compare(
        "Starting",
        ("python", lambda: python("")),
        {
            "calibrant --help": (lambda: started("--help"), None),
            "importing duckdb, numpy and typer": (lambda: python("import duckdb, numpy, typer"), None),
            "importing scikit-learn's base": (lambda: python("import sklearn.base"), None),
            "calibrant fit on 3000 rows": (fit, None),
            "calibrant apply on 3000 rows": (partial(started, "apply", model, data, "-s", "score", "-o", output), None),
        },
    )
    print(f"  (the promise of the help is {LIMIT_OF_HELP} s; it takes {ratios['calibrant --help']:.1f} idle Pythons)")


if __name__ == "__main__":
    main()
