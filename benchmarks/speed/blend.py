"""Blend and Bayesian temperature against scikit-learn's isotonic fit."""

from __future__ import annotations

import numpy as np
from sklearn.isotonic import IsotonicRegression

from benchmarks.timing import compare, seconds
from calibrant import BayesianTemperature, Blend, simulate


def main() -> None:
    data = simulate.bayes_iso(10**6, rng=0)
    compare(
        "Fit of 1,000,000 rows",
        ("scikit-learn isotonic", lambda: IsotonicRegression(out_of_bounds="clip").fit(data.scores, data.labels)),
        {
            "Blend": (lambda: Blend().fit(data.scores, data.labels), 2.5),
            "BayesianTemperature": (lambda: BayesianTemperature().fit(data.scores, data.labels), None),
        },
    )
    small = simulate.bayes_iso(1000, rng=0)
    times = [seconds(lambda: Blend().fit(small.scores, small.labels)) for _ in range(9)]
    median, limit = float(np.median(times)), 0.15
    print(f"\nBlend at 1000 rows: median {1e3 * median:.0f} ms, best {1e3 * min(times):.0f} ms")
    print(f"  limit {1e3 * limit:.0f} ms  {'ok' if median <= limit else 'MISSED'}")


if __name__ == "__main__":
    main()
