"""Processor time of one fit, on one thread: a table in docs/comparison.md. Other work hardly changes it."""

from __future__ import annotations

import time
from collections.abc import Callable

from sklearn.isotonic import IsotonicRegression

from calibrant import Blend, simulate
from calibrant.calibrators import ABB, ENIR, SBB, BayesIso, IsotonicCalibration, SplineCalibration, VennAbers

METHODS = (IsotonicCalibration, SplineCalibration, SBB, ABB, BayesIso, VennAbers, ENIR, Blend)


def processor_seconds(task: Callable[[], object], rounds: int) -> float:
    """The best of several rounds, after one that does not count."""
    task()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    for n, rounds in ((1000, 15), (10**6, 3)):
        data = simulate.bayes_iso(n, rng=0)
        rivals = {"scikit-learn isotonic": IsotonicRegression(out_of_bounds="clip")}
        print(f"\nFit of {n:,} rows, processor time")
        for name, model in (rivals | {method.__name__: method() for method in METHODS}).items():
            took = processor_seconds(lambda model=model, data=data: model.fit(data.scores, data.labels), rounds)
            print(f"  {name:<24} {took:8.4f} s")


if __name__ == "__main__":
    main()
