"""Ten thousand segments of ten million rows on DuckDB: counting, fitting, and the peak of memory.

python -m benchmarks.scale.segments [--rows 10000000] [--segments 10000]

Scores have two decimals, as those of many systems do. Seconds are those of the processor, over all threads; the
engine's own GROUP BY over segment and score is the unit of the others.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import duckdb

from calibrant import engines
from calibrant.segments.calibrator import SegmentedCalibrator

ROWS = """
create table rows as
with drawn as (
    select (i * 7919) % {segments} as segment, round(0.02 + 0.96 * random(), 2) as score from range({rows}) t(i)
)
select segment, score,
    random() < 1 / (1 + exp(-(ln(score / (1 - score)) + 0.5 * sin(segment)))) as label
from drawn
"""
GROUPS = "select segment, score, count(*), sum(label::int) from rows group by segment, score"


def timed(name: str, run: Callable[[], Any], unit: float | None) -> tuple[Any, float]:
    start = time.process_time()
    result = run()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ratio = "" if unit is None else f", {seconds / unit:.1f} × GROUP BY"
    print(f"{name:<28} {seconds:6.1f} s{ratio}, peak {peak:.0f} MB", flush=True)
    return result, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--segments", type=int, default=10_000)
    parser.add_argument("--calibrator", default="blend")
    options = parser.parse_args()
    connection = duckdb.connect()
    timed("make the table", lambda: connection.execute(ROWS.format(**vars(options))), None)
    _, unit = timed("GROUP BY", lambda: connection.execute(GROUPS).fetchnumpy(), None)
    tallies, _ = timed(
        "engines.tally(by=segment)",
        lambda: engines.tally(connection.table("rows"), score="score", label="label", by="segment"),
        unit,
    )
    calibrator = SegmentedCalibrator(options.calibrator)
    timed("fit_tallies", lambda: calibrator.fit_tallies(tallies), unit)
    print(f"segments differ with probability {calibrator.segments_.differences['segment']:.2f}")


if __name__ == "__main__":
    main()
