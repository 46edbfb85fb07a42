"""Blend and Bayesian temperature against scikit-learn's isotonic fit."""

from __future__ import annotations

from sklearn.isotonic import IsotonicRegression

from benchmarks.timing import compare
from calibrant import BayesianTemperature, Blend, simulate


def main() -> None:
    data = simulate.bayes_iso(10**6, rng=0)
    compare(
        "Fit of 1,000,000 rows",
        ("scikit-learn isotonic", lambda: IsotonicRegression(out_of_bounds="clip").fit(data.scores, data.labels)),
        {
            "Blend": (lambda: Blend().fit(data.scores, data.labels), 1.0),
            "BayesianTemperature": (lambda: BayesianTemperature().fit(data.scores, data.labels), None),
        },
    )
    small = simulate.bayes_iso(1000, rng=0)
    compare(
        "Fit of 1000 rows",
        ("scikit-learn isotonic", lambda: IsotonicRegression(out_of_bounds="clip").fit(small.scores, small.labels)),
        {"Blend": (lambda: Blend().fit(small.scores, small.labels), 35.0)},
        rounds=15,
    )


if __name__ == "__main__":
    main()
