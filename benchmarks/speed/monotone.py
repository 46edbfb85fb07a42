"""Fit times of BayesIso, ENIR and VennAbers as ratios to an isotonic fit: ``python -m benchmarks.speed.monotone``.

The peers' ratios to sort + isotonic fit, measured once on another day: netcal's ENIR 2700 at 10⁴ rows and over two
minutes at 10⁵; the venn-abers package 94 at 10⁶ rows.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.isotonic import IsotonicRegression

from benchmarks.timing import compare, seconds
from calibrant import ENIR, BayesIso, VennAbers

NETCAL_ENIR = 2700.0  # times sort + isotonic fit, at 10⁴ rows


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    scores = rng.beta(0.6, 0.9, n)
    return scores, (rng.random(n) < scores**1.5 / (scores**1.5 + (1.0 - scores) ** 0.8)).astype(int)


def against_isotonic(n: int, limits: dict[str, float | None]) -> None:
    s, y = rows(n)
    isotonic = IsotonicRegression(out_of_bounds="clip", y_min=0.0, y_max=1.0)
    methods = {"BayesIso": BayesIso(), "ENIR": ENIR(), "VennAbers": VennAbers()}
    compare(
        f"fit, n = {n}",
        ("scikit-learn IsotonicRegression", lambda: isotonic.fit(s, y)),
        {name: ((lambda m=m: m.fit(s, y)), limits.get(name)) for name, m in methods.items()},
        rounds=5 if n >= 100_000 else 15,
    )


def against_netcal(n: int = 10_000) -> None:
    s, y = rows(n)
    isotonic = IsotonicRegression(out_of_bounds="clip")
    compare(
        f"ENIR against netcal's recorded ratio of {NETCAL_ENIR:g}, n = {n}: at least 50 times faster",
        ("sort + scikit-learn IsotonicRegression", lambda: (np.sort(s), isotonic.fit(s, y))),
        {"ENIR": (lambda: ENIR().fit(s, y), NETCAL_ENIR / 50.0)},
        rounds=9,
    )


def thousand_rows() -> None:
    """Different data, because some need a second grid of levels; one thread, so processor time is the cost."""
    wall, processor = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        s = rng.random(1000)
        y = rng.random(1000) < s
        BayesIso().fit(s, y)
        wall.append(min(seconds(lambda s=s, y=y: BayesIso().fit(s, y)) for _ in range(5)))
        start = time.process_time()
        BayesIso().fit(s, y)
        processor.append(time.process_time() - start)
    for name, times in (("wall clock", wall), ("processor time", processor)):
        middle = 1e3 * float(np.median(times))
        verdict = "ok" if middle <= 60.0 else "MISSED"
        print(
            f"\nBayesIso at 1000 rows, 12 data sets, {name}: median {middle:.1f} ms, largest {1e3 * max(times):.1f} ms"
        )
        print(f"  limit 60 ms  {verdict}")


def main() -> None:
    against_isotonic(10**3, {})
    against_isotonic(10**5, {})
    against_isotonic(10**6, {"BayesIso": 0.5, "VennAbers": 0.6})
    against_netcal()
    thousand_rows()


if __name__ == "__main__":
    main()
