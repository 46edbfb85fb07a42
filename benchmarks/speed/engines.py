"""Tallies inside DuckDB, Spark, Polars and pandas, against the engine's own plain scans of the same file.

    python -m benchmarks.speed.engines                      # DuckDB: time and memory
    python -m benchmarks.speed.engines --spark --frames     # the others too, and whether all tallies are identical

The two plain scans are what anybody would write by hand for scores in [0, 1]: one that finds where the mass is, as a
histogram of 1024 bins with the extremes of each, and one GROUP BY of 4096 bins of equal width with their sums. They are
cheaper than what a tally needs, which has cells of similar mass for scores of any size, and checks scores and labels on
the way. The tally asks for the extremes (which Parquet knows without a scan in DuckDB, not in Spark), peeks at the
first rows, and then does one GROUP BY of some 24 000 finer cells.

Two sums of both columns, hardly more than reading them, are shown for what they cost by themselves.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.timing import compare, seconds
from calibrant import Tally, engines

ROWS = 20_000_000
LIMIT = 1.5  # times the two plain scans
MEGABYTES = 300  # on top of what the engine needs for the plain scans
HISTOGRAM = "SELECT floor(score * 1024) AS c, count(*), min(score), max(score) FROM {table} GROUP BY 1"
BINS = "SELECT floor(score * 4096) AS c, count(*), sum(label), sum(score) FROM {table} GROUP BY 1"
SUMS = "SELECT sum(score), sum(label) FROM {table}"


def make_file(path: Path, rows: int) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            f"COPY (SELECT score, (random() < score)::INTEGER AS label FROM "
            f"(SELECT random() * random() AS score FROM range({rows}))) TO '{path}' (FORMAT parquet)"
        )


def count(source: Any) -> Tally:
    tally: Tally = engines.tally(source, score="score", label="label")
    return tally


def in_duckdb(path: Path, rounds: int) -> None:
    import duckdb

    connection = duckdb.connect()

    def run(*queries: str) -> None:
        for query in queries:
            connection.execute(query.format(table=f"'{path}'")).fetchnumpy()

    compare(
        "DuckDB",
        ("two plain scans", lambda: run(HISTOGRAM, BINS)),
        {
            "engines.tally": (lambda: count(path), LIMIT),
            "the second plain scan alone": (lambda: run(BINS), None),
            "two sums of both columns": (lambda: run(SUMS, SUMS), None),
        },
        rounds,
    )
    runs = (lambda: run(HISTOGRAM, BINS), lambda: count(path))
    plain, ours = (min(processor_seconds(one) for _ in range(rounds)) for one in runs)
    print(f"  processor time of engines.tally: {ours / plain:.2f} times that of the two plain scans")


def processor_seconds(run: Callable[[], Any]) -> float:
    """Over all threads; unlike the time that passes it does not depend on what else the machine does."""
    start = time.process_time()
    run()
    return time.process_time() - start


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
    more = peaks[1] - peaks[0]
    print(f"\nPeak memory: plain scans {peaks[0]:.0f} MB, engines.tally {peaks[1]:.0f} MB")
    print(f"  {more:.0f} MB on top  limit {MEGABYTES}  {'ok' if more < MEGABYTES else 'MISSED'}")


@contextmanager
def spark_session() -> Iterator[Any]:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "3g")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def in_spark(path: Path, rounds: int) -> Tally:
    with spark_session() as session:
        frame = session.read.parquet(str(path))
        frame.createOrReplaceTempView("rows")

        def plain() -> None:
            for query in (HISTOGRAM, BINS):
                session.sql(query.format(table="rows")).toArrow()

        compare("Spark", ("two plain scans", plain), {"engines.tally": (lambda: count(frame), None)}, rounds)
        return count(frame)


def in_frames(path: Path) -> dict[str, Tally]:
    import pandas as pd
    import polars as pl

    tallies = {}
    print("\nFrames")
    for name, frame in (("Polars, lazy", pl.scan_parquet(path)), ("pandas", pd.read_parquet(path))):
        took = seconds(lambda: tallies.update({name: count(frame)}))  # noqa: B023 - called at once
        print(f"  {name:<44} {1e3 * took:10.2f} ms")
    return tallies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--spark", action="store_true", help="count with PySpark, too")
    parser.add_argument("--frames", action="store_true", help="count with Polars and pandas, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        make_file(path, options.rows)
        print(f"{options.rows} rows of Parquet")
        in_duckdb(path, options.rounds)
        memory(path)
        tallies = in_frames(path) if options.frames else {}
        if options.spark:
            tallies["Spark"] = in_spark(path, options.rounds)
        expected = count(path)
        for name, tally in tallies.items():
            same = "the same as DuckDB's, number for number" if tally == expected else "DIFFERENT from DuckDB's"
            print(f"The tally of {name} is {same}.")


if __name__ == "__main__":
    main()
