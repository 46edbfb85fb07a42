"""Blend beside its members where the truth is known: excess log-loss on the Bayes-Iso task, and coverage.

python -m benchmarks.accuracy.blend [seeds]
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.papers.planes import circular, xor
from calibrant import Blend, simulate

SIZES = (100, 1000, 3000, 30_000)
COVERAGE_SIZES = (300, 3000, 30_000)


def excess(p: np.ndarray, truth: np.ndarray) -> float:
    """Mean Kullback-Leibler divergence of the prediction from the truth."""
    p = np.clip(p, 1e-15, 1 - 1e-15)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = truth * np.log(truth / p) + (1 - truth) * np.log((1 - truth) / (1 - p))
    return float(np.nan_to_num(parts).mean())


def against_members(seeds: int) -> None:
    test = simulate.bayes_iso(100_000, rng=999_999)
    print(f"Bayes-Iso task, excess log-loss × 10⁴, seeds 0–{seeds - 1}")
    for n in SIZES:
        found = defaultdict(list)
        for seed in range(seeds):
            data = simulate.bayes_iso(n, rng=seed)
            blend = Blend().fit(data.scores, data.labels)
            for name, member in {"blend": blend, **blend.members_}.items():
                found[name].append(1e4 * excess(member.predict(test.scores), test.probabilities))
        means = {name: np.mean(values) for name, values in found.items()}
        best = min(value for name, value in means.items() if name != "blend")
        row = "  ".join(f"{name} {value:.1f}" for name, value in means.items())
        print(f"  N = {n:6}: {row}  | blend / best member {means['blend'] / best:.2f}")


def coverage(seeds: int) -> None:
    print(f"\nShare of scores whose true probability lies in the 90 % interval, mean of {seeds} seeds")
    tasks = {"bayes_iso": simulate.bayes_iso, "xor": xor, "circular": circular}
    tasks |= {name: truth.sample for name, truth in simulate.TRUTHS.items()}
    total = defaultdict(list)
    for name, sample in tasks.items():
        row = []
        for n in COVERAGE_SIZES:
            shares = []
            for seed in range(seeds):
                data = sample(n, rng=5000 + seed)
                low, high = Blend().fit(data.scores, data.labels).predict_interval(data.scores, level=0.9)
                shares.append(((low <= data.probabilities) & (data.probabilities <= high)).mean())
            row.append(np.mean(shares))
            total[n].append(row[-1])
        columns = zip(COVERAGE_SIZES, row, strict=True)
        print(f"  {name:<18}" + "  ".join(f"N = {n}: {share:.3f}" for n, share in columns))
    print("  mean              " + "  ".join(f"N = {n}: {np.mean(shares):.3f}" for n, shares in total.items()))


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    against_members(seeds)
    coverage(max(seeds // 4, 2))


if __name__ == "__main__":
    main()
