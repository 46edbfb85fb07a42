"""Fit times of the smooth methods as ratios to scikit-learn's isotonic fit: ``python -m benchmarks.speed.smooth``.

A peer's ratio to sort + isotonic fit, measured once on another day: splinecalib 120 at 10³ rows, 350 at 10⁶.
"""

from __future__ import annotations

import numpy as np
from sklearn.isotonic import IsotonicRegression

from benchmarks.timing import compare, seconds
from calibrant import ACP, BPM, EnsembleTemperatureScaling, SplineCalibration

THOUSAND_ROWS = 30.0  # ms: it is refitted in every fold of a blend


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    scores = rng.beta(0.6, 0.9, n)
    return scores, (rng.random(n) < scores**1.5 / (scores**1.5 + (1.0 - scores) ** 0.8)).astype(int)


def against_isotonic(n: int, limits: dict[str, float]) -> None:
    s, y = rows(n)
    isotonic = IsotonicRegression(out_of_bounds="clip", y_min=0.0, y_max=1.0)
    methods = {
        "SplineCalibration": SplineCalibration(),
        "EnsembleTemperatureScaling": EnsembleTemperatureScaling(),
        "BPM": BPM(),
        "ACP": ACP(),
    }
    compare(
        f"fit, n = {n}",
        ("scikit-learn IsotonicRegression", lambda: isotonic.fit(s, y)),
        {name: ((lambda m=m: m.fit(s, y)), limits.get(name)) for name, m in methods.items()},
        rounds=5 if n >= 100_000 else 15,
    )


def thousand_rows() -> None:
    """Different data, because the number of steps depends on them."""
    times = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        s = rng.random(1000)
        y = rng.random(1000) < s
        times.append(min(seconds(lambda s=s, y=y: SplineCalibration().fit(s, y)) for _ in range(8)))
    middle = 1e3 * float(np.median(times))
    print(f"\nSplineCalibration at 1000 rows, 12 data sets: median {middle:.1f} ms, largest {1e3 * max(times):.1f} ms")
    print(f"  limit {THOUSAND_ROWS:g} ms  {'ok' if middle <= THOUSAND_ROWS else 'MISSED'}")


def main() -> None:
    against_isotonic(1_000, {})
    against_isotonic(100_000, {})
    against_isotonic(1_000_000, {"SplineCalibration": 0.4})
    thousand_rows()


if __name__ == "__main__":
    main()
