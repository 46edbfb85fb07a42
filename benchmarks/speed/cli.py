"""The command line on ten million rows, against the engine reading and writing the same file; and the help page.

Two tables: scores and labels alone, and the same with six more columns, as scored tables have them. The commands are
timed inside this process, where Python and its packages are loaded, and as a user starts them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

from benchmarks.timing import compare
from calibrant.cli.app import run

ROWS = int(os.environ.get("CALIBRANT_BENCH_ROWS", "10_000_000"))
LIMIT, LIMIT_OF_HELP = 1.5, 0.5
SCORED = """
SELECT {more} s AS score, (random() < 1 / (1 + exp(-(0.3 + 0.6 * ln(s / (1 - s))))))::TINYINT AS label
FROM (SELECT range AS id, random() * 0.998 + 0.001 AS s FROM range({rows}))
"""
MORE = """
id, random() * 1000 AS amount, DATE '2024-01-01' + (id % 700)::INTEGER AS day, 'region ' || (id % 17) AS region,
md5(id::VARCHAR) AS customer, (random() * 100)::INTEGER AS age,
"""


def inside(*arguments: object) -> None:
    if run(["-q", *map(str, arguments)]) != 0:
        raise SystemExit("the command failed")


def started(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "calibrant", *map(str, arguments)], check=True, capture_output=True)


def table(folder: Path, title: str, more: str) -> None:
    data, copy, model, output = (folder / name for name in ("data.parquet", "copy.parquet", "m.json", "out.parquet"))
    duckdb.sql(f"COPY ({SCORED.format(more=more, rows=ROWS)}) TO '{data}' (FORMAT parquet)")
    fit = ("fit", data, "-s", "score", "-l", "label", "-o", model)
    apply = ("apply", model, data, "-s", "score", "-o", output)

    def both(call: object) -> None:
        call(*fit)  # type: ignore[operator]
        call(*apply)  # type: ignore[operator]

    compare(
        f"{ROWS:,} rows, {title}, {data.stat().st_size / 1e6:.0f} MB of Parquet",
        ("the engine reads and writes it", lambda: duckdb.sql(f"COPY (FROM '{data}') TO '{copy}' (FORMAT parquet)")),
        {
            "the same with one more computed column": (
                lambda: duckdb.sql(f"COPY (SELECT *, score * 0.9 AS p FROM '{data}') TO '{copy}' (FORMAT parquet)"),
                None,
            ),
            "fit": (lambda: inside(*fit), None),
            "apply": (lambda: inside(*apply), None),
            "fit and apply": (lambda: both(inside), LIMIT),
            "fit and apply, two processes": (lambda: both(started), None),
        },
        rounds=2,
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        table(Path(folder), "two columns", "")
        table(Path(folder), "eight columns", MORE)
    ratios = compare(
        "Starting",
        ("python", lambda: subprocess.run([sys.executable, "-c", ""], check=True)),
        {"calibrant --help": (lambda: started("--help"), None)},
    )
    print(f"  (the promise of the help is {LIMIT_OF_HELP} s; it takes {ratios['calibrant --help']:.1f} idle Pythons)")


if __name__ == "__main__":
    main()
