"""A tally of 10⁹ rows on one machine: generated inside DuckDB, never stored.

    python -m benchmarks.scale.billion [--rows 1000000000]

The scores are a hash of the row number, so that every scan sees the same rows. Generating them is part of every scan;
the plain scans, which are timed too, show how much.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from calibrant import engines

ROWS = """
SELECT score, (second < score)::INTEGER AS label
FROM (SELECT (hash(i) >> 11) / 9007199254740992.0 * ((hash(i + 1e12::BIGINT) >> 11) / 9007199254740992.0) AS score,
             (hash(i + 2e12::BIGINT) >> 11) / 9007199254740992.0 AS second
      FROM range({rows}) AS r (i))
"""


def peak_megabytes() -> float:
    """Peak memory of this program; unlike ru_maxrss it does not start with that of the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


def main() -> None:
    import duckdb

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**9)
    rows = parser.parse_args().rows
    connection = duckdb.connect()
    relation = connection.sql(ROWS.format(rows=rows))
    start = time.perf_counter()
    for query in (
        "SELECT floor(score * 1024), count(*), min(score), max(score) FROM t GROUP BY 1",
        "SELECT floor(score * 4096), count(*), sum(label), sum(score) FROM t GROUP BY 1",
    ):
        relation.query("t", query).fetchall()
    plain = time.perf_counter() - start
    before = peak_megabytes()
    start = time.perf_counter()
    tally = engines.tally(relation, score="score", label="label")
    took = time.perf_counter() - start
    after = peak_megabytes()
    print(tally)
    print(f"two plain scans {plain:.1f} s; engines.tally {took:.1f} s, ratio {took / plain:.2f}")
    print(f"{rows / took / 1e6:.0f} million rows a second")
    print(f"peak memory {before:.0f} MB after the plain scans, {after:.0f} MB after the tally")


if __name__ == "__main__":
    main()
