"""Segments watched day by day: how often any of them is ever named while all is well, and how soon a change is.

python -m benchmarks.accuracy.segment_monitor [--series 400] [--looks 10]

Each day every segment has 40 rows whose labels are drawn from their probabilities. An alarm is any segment with an
adjusted e-value of 20 or more on any day, so that at most 5 % of the series may have one. `separate` are alarms of the
same monitors without the adjustment. For the power, the logit of one segment moves by 0.8 from the first day on.
"""

from __future__ import annotations

import argparse

import numpy as np

from calibrant import Tally
from calibrant.monitoring import CalibrationMonitor

ROWS = 40
COUNTS = (2, 8, 32)
ALPHA = 0.05
SHIFT = 0.8


def day(rng: np.random.Generator, shift: float = 0.0) -> Tally:
    z = rng.normal(0.0, 1.2, ROWS)
    return Tally.from_arrays(1.0 / (1.0 + np.exp(-z)), rng.random(ROWS) < 1.0 / (1.0 + np.exp(-z - shift)))


def watch(rng: np.random.Generator, count: int, looks: int, shift: float) -> tuple[list[int], bool]:
    """The segments that were named, and whether any would have been without the adjustment."""
    monitor, separate = CalibrationMonitor(segments=range(count)), [CalibrationMonitor()] * count
    for _ in range(looks):
        tallies = {g: day(rng, shift if g == 0 else 0.0) for g in range(count)}
        monitor = monitor.updated(tallies)
        separate = [one.updated(tally) for one, tally in zip(separate, tallies.values(), strict=True)]
    return monitor.alarms(ALPHA), any(one.alarms(ALPHA) for one in separate)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=400)
    parser.add_argument("--looks", type=int, default=10)
    options = parser.parse_args()
    for count in COUNTS:
        series = max(50, options.series * COUNTS[0] // count)
        calm = [watch(np.random.default_rng([s, count]), count, options.looks, 0.0) for s in range(series)]
        moved = [watch(np.random.default_rng([s, count, 1]), count, options.looks, SHIFT) for s in range(series // 2)]
        named, separate = (100.0 * np.mean([bool(one[i]) for one in calm]) for i in (0, 1))
        hit, wrong = (100.0 * np.mean(x) for x in zip(*((0 in a, any(a)) for a, _ in moved), strict=True))
        print(
            f"{count:>3} segments, {series} series: false alarms {named:.1f} % (separate {separate:.1f} %); with a "
            f"change in one, it is named in {hit:.0f} %, another in {wrong:.1f} %",
            flush=True,
        )


if __name__ == "__main__":
    main()
