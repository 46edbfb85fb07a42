"""Speed of SBB and ABB as ratios to scikit-learn's isotonic fit on the same rows; exact fits in milliseconds."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn.isotonic import IsotonicRegression

from benchmarks.timing import compare
from calibrant import ABB, SBB, Tally

CELLS = 2048


def million_rows(title: str, truth: Callable[[np.ndarray], np.ndarray]) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(1_000_000)
    y = rng.random(len(scores)) < truth(scores)
    compare(
        f"fit, {len(scores)} rows, {title}",
        ("scikit-learn isotonic", lambda: IsotonicRegression(out_of_bounds="clip").fit(scores, y)),
        {
            "tally alone": (lambda: Tally.from_arrays(scores, y, max_cells=CELLS), None),
            "ABB, λ averaged": (lambda: ABB().fit(scores, y), 0.6),
            "ABB, one λ": (lambda: ABB(lam=16.0).fit(scores, y), None),
            "SBB, best λ": (lambda: SBB().fit(scores, y), 0.4),
            "SBB, one λ": (lambda: SBB(lam=16.0).fit(scores, y), 0.5),
        },
        rounds=4,
    )


def processor_seconds(task: Callable[[], object]) -> float:
    """The time that the task itself took, on a machine that may be busy with others."""
    start = time.process_time()
    task()
    return time.process_time() - start


def exact(rows: int, limit: float) -> None:
    rng = np.random.default_rng(1)
    scores = rng.random(rows)
    for title, truth in (("slope", scores), ("constant", np.full(rows, 0.5))):
        y = rng.random(rows) < truth
        best = min(processor_seconds(lambda y=y: ABB(lam=16.0, max_cells=rows).fit(scores, y)) for _ in range(4))
        verdict = "ok" if best < limit else "MISSED"
        print(f"  exact ABB, {rows} rows, {title:<10} {1e3 * best:9.1f} ms  limit {1e3 * limit:g} ms  {verdict}")


def predictions() -> None:
    rng = np.random.default_rng(2)
    scores = rng.random(1_000_000)
    y = rng.random(len(scores)) < scores
    abb = ABB().fit(scores, y)
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(scores, y)
    compare(
        "predict, 1000000 rows",
        ("scikit-learn isotonic", lambda: isotonic.predict(scores)),
        {
            "ABB": (lambda: abb.predict(scores), None),
            "ABB interval, 1000 draws": (lambda: abb.predict_interval(scores), None),
            "ABB, 100 whole maps at 1000 scores": (lambda: abb.sample_maps(scores[:1000]), None),
        },
        rounds=3,
    )


def main() -> None:
    million_rows("P = score", lambda s: s)
    million_rows("P = 1/2, where no bin can be dropped", lambda s: np.full(len(s), 0.5))
    print("\nexact fits, no coarsening, one λ, processor time")
    exact(3_000, 0.1)
    exact(20_000, 1.5)
    predictions()


if __name__ == "__main__":
    main()
