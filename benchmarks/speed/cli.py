"""`calibrant fit` and `calibrant apply` on ten million rows, against DuckDB copying the same file; all as processes.

The tables have 8 and 20 columns, as scored tables have them. What `apply` wrote is read back by three readers: the old
columns must be those of the input, the new one must be the map's own numbers. The last table shows what starting takes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow.parquet as pq

from benchmarks.timing import compare
from calibrant import load

ROWS = int(os.environ.get("CALIBRANT_BENCH_ROWS", "10_000_000"))
ROUNDS = int(os.environ.get("CALIBRANT_BENCH_ROUNDS", "3"))
LIMIT = 3.0
SCORED = """
SELECT {more} s AS score, (random() < 1 / (1 + exp(-(0.3 + 0.6 * ln(s / (1 - s))))))::TINYINT AS label
FROM (SELECT range AS id, random() * 0.998 + 0.001 AS s FROM range({rows}))
"""
MORE = """
id, random() * 1000 AS amount, DATE '2024-01-01' + (id % 700)::INTEGER AS day, 'region ' || (id % 17) AS region,
md5(id::VARCHAR) AS customer, (random() * 100)::INTEGER AS age,
"""
FEATURES = " ".join(f"(random() * 4096)::INTEGER / 16 AS x{i}," for i in range(12))


def start(*arguments: object) -> None:
    subprocess.run([sys.executable, *map(str, arguments)], check=True, capture_output=True)


def fit_and_apply(data: Path, model: Path, output: Path, *options: str) -> None:
    start("-m", "calibrant", "fit", data, "-s", "score", "-l", "label", "-o", model)
    start("-m", "calibrant", "apply", model, data, "-s", "score", "-o", output, *options)


def measure(folder: Path, title: str, more: str) -> None:
    data, copy, model, output = (folder / name for name in ("data.parquet", "copy.parquet", "m.json", "out.parquet"))
    duckdb.sql(f"COPY ({SCORED.format(more=more, rows=ROWS)}) TO '{data}'")
    engine = f"import duckdb; duckdb.sql(\"SET enable_progress_bar = false; COPY (FROM '{data}') TO '{copy}'\")"
    apply_alone = ("-m", "calibrant", "apply", model, data, "-s", "score", "-o")
    compare(
        f"{ROWS:,} rows, {title}, {data.stat().st_size / 1e6:.0f} MB of Parquet",
        ("DuckDB copies it", partial(start, "-c", engine)),
        {
            "fit and apply": (partial(fit_and_apply, data, model, output), LIMIT),
            "apply": (partial(start, *apply_alone, output), None),
            "apply --only-new": (partial(start, *apply_alone, folder / "new.parquet", "--only-new"), None),
        },
        rounds=ROUNDS,
    )
    check(data, model, output)


def check(data: Path, model: Path, output: Path) -> None:
    """Read the written file back with three readers."""
    old, new = pq.ParquetFile(data), pq.ParquetFile(output)
    scores = old.read(["score"])["score"].to_numpy()
    wanted = load(model)(scores)
    by_reader = {
        "pyarrow": new.read(["probability"])["probability"].to_numpy(),
        "DuckDB": duckdb.sql(f"SELECT probability FROM '{output}'").fetchnumpy()["probability"],
        "Polars": pl.read_parquet(output, columns=["probability"])["probability"].to_numpy(),
    }
    for reader, column in by_reader.items():
        if not np.array_equal(column, wanted):
            raise SystemExit(f"{reader} does not find the map's numbers")
    for name in old.schema_arrow.names:
        if not new.read([name]).equals(old.read([name])):
            raise SystemExit(f"pyarrow finds the column {name} changed")
        both = pl.read_parquet(data, columns=[name]), pl.read_parquet(output, columns=[name])
        if not both[0].equals(both[1]):
            raise SystemExit(f"Polars finds the column {name} changed")
    names = ", ".join(f'"{name}"' for name in old.schema_arrow.names)
    before, after = (f"(SELECT hash({names}) AS {side} FROM '{path}')" for side, path in (("a", data), ("b", output)))
    if duckdb.sql(f"SELECT count(*) FROM {before} POSITIONAL JOIN {after} WHERE a <> b").fetchall()[0][0]:
        raise SystemExit("DuckDB finds rows changed")
    print("  pyarrow, DuckDB and Polars find all old columns unchanged, and the map's own numbers")


def measure_starting(folder: Path) -> None:
    data, model, output = folder / "small.parquet", folder / "small.json", folder / "out.parquet"
    duckdb.sql(f"COPY ({SCORED.format(more='', rows=3000)}) TO '{data}'")
    compare(
        "Starting",
        ("python", partial(start, "-c", "")),
        {
            "calibrant --help": (partial(start, "-m", "calibrant", "--help"), None),
            "fit and apply on 3000 rows": (partial(fit_and_apply, data, model, output), None),
        },
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), "eight columns", MORE)
        measure(Path(folder), "twenty columns", MORE + FEATURES)
        measure_starting(Path(folder))


if __name__ == "__main__":
    main()
