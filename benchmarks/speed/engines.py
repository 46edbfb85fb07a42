"""Tallies and scores inside DuckDB and Spark, against the engine's own plain scans of the same file.

    python -m benchmarks.speed.engines              # DuckDB
    python -m benchmarks.speed.engines --spark      # Spark too, and whether both give the same tally

The two plain scans are what anybody would write by hand for scores in [0, 1]: one that finds where the mass is, as a
histogram of 1024 bins with the extremes of each, and one GROUP BY of 4096 bins of equal width with their sums. They are
cheaper than what an exact tally needs, which has cells of nearly equal mass for scores of any size, and checks scores
and labels on the way. The tally asks for the extremes (which Parquet knows without a scan in DuckDB, not in Spark),
peeks at the first rows, and then does one GROUP BY of some 24 000 finer cells; that time is shown next to it.

Scoring is compared with adding up the scores, which is hardly more than reading them. The cheapest look-up that
DuckDB has, one entry of a constant list for each row, is printed for what it costs by itself.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.timing import compare
from calibrant import CalibrationMap, engines, map_functions

ROWS = 20_000_000
HISTOGRAM = "SELECT floor(score * 1024) AS c, count(*), min(score), max(score) FROM {table} GROUP BY 1"
BINS = "SELECT floor(score * 4096) AS c, count(*), sum(label), sum(score) FROM {table} GROUP BY 1"


def make_file(path: Path, rows: int = ROWS) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            f"COPY (SELECT score, (random() < score)::INTEGER AS label FROM "
            f"(SELECT random() * random() AS score FROM range({rows}))) TO '{path}' (FORMAT parquet)"
        )


def in_duckdb(path: Path, rounds: int) -> None:
    import duckdb

    connection = duckdb.connect()

    def plain() -> None:
        for query in (HISTOGRAM, BINS):
            connection.execute(query.format(table=f"'{path}'")).fetchnumpy()

    def second() -> None:
        connection.execute(BINS.format(table=f"'{path}'")).fetchnumpy()

    tally = lambda: engines.tally(path, score="score", label="label")  # noqa: E731
    compare(
        "DuckDB, 20 million rows of Parquet",
        ("two plain scans", plain),
        {"engines.tally": (tally, 1.3), "the second plain scan alone": (second, None)},
        rounds,
    )


def scoring(path: Path, rounds: int) -> None:
    import ibis

    x = np.sort(np.random.default_rng(0).random(200))
    y = np.sort(np.random.default_rng(1).random(200))
    z = np.linspace(-6.0, 6.0, 200)
    connection = ibis.duckdb.connect()
    table = connection.read_parquet(path, table_name="rows")
    maps = {
        "apply, 200 lines": CalibrationMap(map_functions.Linear(x, y), "probability"),
        "apply, 200 steps": CalibrationMap(map_functions.Step(x[:-1], y), "probability"),
        "apply, 200 lines on the logit scale": CalibrationMap(map_functions.LogitLinear(z, z, 1.0, 1.0), "probability"),
        "apply, beta": CalibrationMap(map_functions.Beta(1.2, 0.8, 0.1), "probability"),
    }
    queries = {name: connection.compile(engines.apply(map_, table, score="score").sum()) for name, map_ in maps.items()}
    entries = ", ".join(map(repr, y.tolist()))
    minimal = {
        "one look-up in a list of 200": f"SELECT sum(('[{entries}]'::DOUBLE[])[(score * 199)::INTEGER + 1]) FROM rows",
        "one logarithm": "SELECT sum(ln(score)) FROM rows",
    }
    run = lambda query: connection.con.execute(query).fetchall()  # noqa: E731
    compare(
        "Scoring in DuckDB, 2 million rows",
        ("SELECT sum(score)", partial(run, "SELECT sum(score) FROM rows")),
        {name: (partial(run, query), None) for name, query in minimal.items()}
        | {name: (partial(run, query), 1.5) for name, query in queries.items()},
        rounds,
    )
    print("  1.5 is out of reach: a single look-up or logarithm alone costs more, and a piece needs four to seven.")


def in_spark(path: Path, rounds: int) -> None:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    import ibis
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "3g")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    table = ibis.pyspark.connect(session).read_parquet(str(path))
    session.read.parquet(str(path)).createOrReplaceTempView("plain")

    def plain() -> None:
        for query in (HISTOGRAM, BINS):
            session.sql(query.format(table="plain")).toArrow()

    tally = lambda: engines.tally(table, score="score", label="label")  # noqa: E731
    compare("Spark, 20 million rows of Parquet", ("two plain scans", plain), {"engines.tally": (tally, 1.3)}, rounds)
    same = tally() == engines.tally(path, score="score", label="label")
    print(f"\nThe tallies of Spark and DuckDB are {'the same, number for number' if same else 'DIFFERENT'}.")
    session.stop()


def memory(path: Path) -> None:
    """Peak memory of a process that runs the plain scans, and of one that makes the tally."""
    queries = [query.format(table=f"'{path}'") for query in (HISTOGRAM, BINS)]
    plain = f"import duckdb; c = duckdb.connect(); [c.execute(q).fetchnumpy() for q in {queries!r}]"
    ours = f"from calibrant import engines; engines.tally({str(path)!r}, score='score', label='label')"
    # Not ru_maxrss: a child starts with the peak of the process that started it. VmHWM begins anew with the program.
    report = "\nfor line in open('/proc/self/status'):\n    if line.startswith('VmHWM'): print('\\n', line.split()[1])"
    peaks = []
    for code in (plain, ours):
        command = [sys.executable, "-W", "ignore", "-c", code + report]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout.split()[-1]) / 1024)
    print(f"\nPeak memory: plain scans {peaks[0]:.0f} MB, engines.tally {peaks[1]:.0f} MB")
    print(f"  {peaks[1] - peaks[0]:.0f} MB on top  limit 300  {'ok' if peaks[1] - peaks[0] < 300 else 'MISSED'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--spark", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        make_file(path)
        in_duckdb(path, options.rounds)
        few = Path(folder, "few.parquet")
        make_file(few, ROWS // 10)
        scoring(few, options.rounds)
        memory(path)
        if options.spark:
            in_spark(path, options.rounds)


if __name__ == "__main__":
    main()
