"""A tally of 10⁹ rows on one machine: generated inside DuckDB, never stored.

    python -m benchmarks.scale.billion [--rows 1000000000]

The scores are a hash of the row number, so that every scan sees the same rows. Generating them is part of every scan;
the plain scans, which are timed too, show how much.
"""

from __future__ import annotations

import argparse
import resource
import time

from calibrant import engines

ROWS = """
SELECT score, (second < score)::INTEGER AS label
FROM (SELECT (hash(i) >> 11) / 9007199254740992.0 * ((hash(i + 1e12::BIGINT) >> 11) / 9007199254740992.0) AS score,
             (hash(i + 2e12::BIGINT) >> 11) / 9007199254740992.0 AS second
      FROM range({rows}) AS r (i))
"""


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
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    tally = engines.tally(relation, score="score", label="label")
    took = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(tally)
    print(f"two plain scans {plain:.1f} s; engines.tally {took:.1f} s, ratio {took / plain:.2f}")
    print(f"{rows / took / 1e6:.0f} million rows a second")
    print(f"peak memory {before:.0f} MB after the plain scans, {after:.0f} MB after the tally")


if __name__ == "__main__":
    main()
