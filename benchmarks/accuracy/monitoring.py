"""False alarms of the running test over many looks, and how many days it takes to notice a change.

python -m benchmarks.accuracy.monitoring
python -m benchmarks.accuracy.monitoring --series 500 --looks 365 --calm

The second command looks at calm years alone, day by day.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy import special

from calibrant import Tally
from calibrant._typing import Floats
from calibrant.monitoring import CalibrationMonitor

GRID = np.linspace(0.01, 0.99, 50)
ROWS = 100
Truth = Callable[[Floats], Floats]
DRIFTS: dict[str, Truth] = {
    "logit + 0.2": lambda p: special.expit(special.logit(p) + 0.2),
    "logit + 0.5": lambda p: special.expit(special.logit(p) + 0.5),
    "logit × 0.7": lambda p: special.expit(0.7 * special.logit(p)),
    "hump of 0.1 around 0.6": lambda p: np.clip(p + 0.1 * np.exp(-(((p - 0.6) / 0.1) ** 2)), 0, 1),
}


def day(rng: np.random.Generator, truth: Truth) -> Tally:
    counts = np.bincount(rng.integers(0, len(GRID), ROWS), minlength=len(GRID)).astype(float)
    kept = counts > 0
    positives = rng.binomial(counts[kept].astype(int), truth(GRID[kept])).astype(float)
    return Tally(GRID[kept], positives, counts[kept])


def looks_until_alarm(rng: np.random.Generator, truth: Truth, start: int, most: int) -> int | None:
    monitor = CalibrationMonitor()
    for look in range(most):
        monitor = monitor.updated(day(rng, truth if look >= start else lambda p: p))
        if monitor.alarms(0.05):
            return look + 1 - start
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=300)
    parser.add_argument("--looks", type=int, default=1000)
    parser.add_argument("--calm", action="store_true", help="leave out the changes")
    options = parser.parse_args()
    rng, series, looks = np.random.default_rng(0), options.series, options.looks
    alarms = sum(looks_until_alarm(rng, lambda p: p, 0, looks) is not None for _ in range(series))
    print(f"false alarms: {alarms} of {series} series of {looks} looks ({100 * alarms / series:.1f} %, limit 5 %)")
    for start in () if options.calm else (0, 200):
        for name, truth in DRIFTS.items():
            delays = [looks_until_alarm(rng, truth, start, start + 200) for _ in range(30)]
            found = [delay for delay in delays if delay is not None and delay > 0]
            middle = f"median delay {np.median(found):.0f} days" if found else "never"
            print(
                f"  change on day {start:>3}, {name:<24} {len(found)} of 30 found in 200 days of {ROWS} rows, {middle}"
            )


if __name__ == "__main__":
    main()
