"""Coverage of ABB's intervals, and what coarsening and the printed formula change.

Run with ``python -m benchmarks.accuracy.binnings``. The seeds are not those with which the intervals were designed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.papers.planes import circular, xor
from calibrant import ABB, BBQ, SBB, simulate
from calibrant.calibrators.published.printed_abb import PrintedABB

TASKS: dict[str, Callable[..., simulate.Simulation]] = {
    "bayes_iso": simulate.bayes_iso,
    **{name: partial(simulate.from_truth, name) for name in simulate.TRUTHS},
    "xor": xor,
    "circular": circular,
}
JUDGED = ("bayes_iso", "D1", "hump", "wave")  # the promise of 85 to 95 % is about these four
SIZES = ((300, 30), (3000, 12), (30_000, 6))
FIRST_SEED = 7000


def coverage() -> None:
    print("\n90 % interval: share of scores whose truth it covers, and its mean width; both models")
    print(f"{'task':<18}{'rows':>7}{'akaike':>9}{'width':>8}{'posterior':>11}{'width':>8}")
    for name, make in TASKS.items():
        for rows, repeats in SIZES:
            found = np.array([_covered(make(rows, rng=FIRST_SEED + seed)) for seed in range(repeats)]).mean(axis=0)
            judged = "" if name not in JUDGED else ("  ok" if 0.85 <= found[0] <= 0.95 else "  OUTSIDE .85–.95")
            print(f"{name:<18}{rows:>7}{found[0]:>9.3f}{found[1]:>8.3f}{found[2]:>11.3f}{found[3]:>8.3f}{judged}")
            sys.stdout.flush()


def _covered(data: simulate.Simulation) -> list[float]:
    at = np.random.default_rng(0).permutation(len(data))[:2000]
    truth, out = data.probabilities[at], []
    for interval in ("akaike", "posterior"):
        calibrator = ABB(interval=interval, n_draws=500).fit(data.scores, data.labels)
        low, high = calibrator.predict_interval(data.scores[at])
        out += [((low <= truth) & (truth <= high)).mean(), (high - low).mean()]
    return out


def coarsening(rows: int = 10_000, cells: int = 2048, repeats: int = 4) -> None:
    print(f"\nmean |map at {cells} cells − exact map|, {rows} rows, λ averaged, {repeats} repeats: mean and worst")
    for name, make in TASKS.items():
        errors = [_coarsening_error(make(rows, rng=FIRST_SEED + seed), cells) for seed in range(repeats)]
        verdict = "ok" if np.mean(errors) <= 1e-3 else "ABOVE 1e-3"
        print(f"  {name:<18}{np.mean(errors):10.2e}{max(errors):10.2e}  {verdict}")
        sys.stdout.flush()


def _coarsening_error(data: simulate.Simulation, cells: int) -> float:
    exact, coarse = (ABB(max_cells=m).fit(data.scores, data.labels) for m in (len(data), cells))
    return float(np.abs(exact.predict(data.scores) - coarse.predict(data.scores)).mean())


def map_errors(rows: int = 3000, repeats: int = 10) -> None:
    print(f"\nmean |map − truth| × 10⁴, {rows} rows, {repeats} repeats")
    methods = {
        "ABB": ABB,
        "ABB as printed": PrintedABB,
        "ABB λ=16": partial(ABB, lam=16.0),
        "SBB": SBB,
        "BBQ": BBQ,
    }
    print(f"{'task':<18}" + "".join(f"{name:>16}" for name in methods))
    for name, make in TASKS.items():
        errors = dict.fromkeys(methods, 0.0)
        for seed in range(repeats):
            data = make(rows, rng=FIRST_SEED + seed)
            for method, create in methods.items():
                fitted = create().fit(data.scores, data.labels)
                errors[method] += np.abs(fitted.predict(data.scores) - data.probabilities).mean() / repeats
        print(f"{name:<18}" + "".join(f"{1e4 * error:>16.0f}" for error in errors.values()))
        sys.stdout.flush()


def main() -> None:
    coarsening()
    coverage()
    map_errors()


if __name__ == "__main__":
    main()
