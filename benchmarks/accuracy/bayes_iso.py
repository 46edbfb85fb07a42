"""The synthetic task of the Bayes-Iso paper, its Table 1, and the coverage of the intervals.

``python -m benchmarks.accuracy.bayes_iso`` takes about five minutes, most of it for the importance sampler.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.special import xlogy
from sklearn.exceptions import ConvergenceWarning

from calibrant import ENIR, BayesIso, BetaCalibration, IsotonicCalibration, PlattScaling, VennAbers, simulate
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.published.sampled_bayes_iso import SampledBayesIso

SIZES = (100, 1000, 3000, 30_000)
SEEDS = range(20)
LIMITS = {100: 0.0215, 1000: 0.0034, 3000: 0.0016, 30_000: 0.0004}
IMPORTANCE_UP_TO = 3000  # on every distinct score it takes half a minute for each fit beyond that

METHODS: dict[str, Callable[[], Calibrator]] = {
    "Bayes-Iso, levels": BayesIso,
    "Bayes-Iso, importance, paper's bounds": lambda: SampledBayesIso(bounds="paper"),
    "Bayes-Iso, importance, code's bounds": lambda: SampledBayesIso(bounds="code"),
    "Bayes-Iso, importance, 100 cells": lambda: SampledBayesIso(bounds="code", max_cells=100),
    "ENIR": lambda: ENIR(target_correction=False),
    "ENIR-Platt": lambda: ENIR(target_correction=True),
    "Iso": lambda: IsotonicCalibration(target_correction=False),
    "Iso-Platt": lambda: IsotonicCalibration(target_correction=True),
    "Beta": lambda: BetaCalibration(target_correction=False),
    "Beta-Platt": lambda: BetaCalibration(target_correction=True),
    "Log": lambda: PlattScaling(space="decision", target_correction=False),
    "Log-Platt": lambda: PlattScaling(space="decision", target_correction=True),
    "Venn-Abers": VennAbers,
}

# Table 1 of the paper, means of ten replicates: Brier score and log-loss at N = 100, then at N = 3000.
PAPER = {
    "ideal": (0.1621, 0.4741, 0.1621, 0.4741),
    "Bayes-Iso, importance, paper's bounds": (0.1655, 0.4878, 0.1625, 0.4753),
    "ENIR-Platt": (0.1683, 0.5029, 0.1627, 0.4778),
    "Iso-Platt": (0.1685, 0.5036, 0.1627, 0.4779),
    "Beta": (0.1672, None, 0.1660, None),
    "Beta-Platt": (None, 0.4895, None, 0.4862),
    "Log-Platt": (0.1720, 0.5112, 0.1721, 0.5097),
}


def excess(truth: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    """Expected Brier score and log-loss above those of the true map."""
    p = np.clip(p, 1e-15, 1.0 - 1e-15)
    return float(np.mean((p - truth) ** 2)), float(
        np.mean(xlogy(truth, truth / p) + xlogy(1.0 - truth, (1.0 - truth) / (1.0 - p)))
    )


def measure() -> dict[tuple[str, int], tuple[float, float]]:
    """Mean excess Brier score and log-loss of each method at each size."""
    test = simulate.bayes_iso(100_000, rng=999_999)
    out = {}
    for n in SIZES:
        for name, make in METHODS.items():
            if name.endswith("bounds") and n > IMPORTANCE_UP_TO:
                continue
            losses = []
            for seed in SEEDS:
                data = simulate.bayes_iso(n, rng=seed)
                calibrator = make().fit(data.scores, data.labels)
                losses.append(excess(test.probabilities, calibrator.predict(test.scores)))
            brier, log = np.mean(losses, axis=0)
            out[name, n] = (float(brier), float(log))
    return out


def table_of_excess(found: dict[tuple[str, int], tuple[float, float]]) -> None:
    print("Mean excess log-loss × 10⁴ (excess Brier score × 10⁵), seeds 0–19")
    print(f"{'':40}" + "".join(f"{f'N = {n}':>18}" for n in SIZES))
    for name in METHODS:
        cells = [found.get((name, n)) for n in SIZES]
        texts = [f"{1e4 * c[1]:8.1f} ({1e5 * c[0]:6.1f})" if c else "–" for c in cells]
        print(f"{name:40}" + "".join(f"{text:>18}" for text in texts))
    for n, limit in LIMITS.items():
        value = found["Bayes-Iso, levels", n][1]
        print(f"  N = {n}: {value:.5f}, limit {limit:g}  {'ok' if value <= limit else 'MISSED'}")
    for n in SIZES[1:]:
        rival = min(value[1] for (name, size), value in found.items() if "importance" in name and size == n)
        lower = found["Bayes-Iso, levels", n][1] < rival
        print(f"  N = {n}: the best importance sampler {rival:.5f}  {'ok' if lower else 'MISSED'}")


def table_of_the_paper(found: dict[tuple[str, int], tuple[float, float]]) -> None:
    test = simulate.bayes_iso(100_000, rng=999_999)
    truth = test.probabilities
    ideal = (
        float(np.mean(truth * (1.0 - truth))),
        float(-np.mean(xlogy(truth, truth) + xlogy(1.0 - truth, 1.0 - truth))),
    )
    print("\nTable 1: Brier score and log-loss at N = 100, then at N = 3000 (here 20 replicates | the paper, 10)")
    for name in ["ideal", *METHODS]:
        here = [ideal[k] + (found[name, n][k] if name in METHODS else 0.0) for n in (100, 3000) for k in (0, 1)]
        paper = PAPER.get(name, (None,) * 4)
        print(
            f"{name:40}"
            + " ".join(f"{x:.4f}" for x in here)
            + "  |  "
            + " ".join(f"{x:.4f}" if x is not None else "  –   " for x in paper)
        )


def coverage() -> None:
    print("\nShare of scores where the 90 % interval of Bayes-Iso covers the true probability, 10 replicates")
    samplers = {"bayes_iso": simulate.bayes_iso} | {
        name: truth.sample for name, truth in simulate.TRUTHS.items() if truth.monotone
    }
    sizes = (300, 3000, 30_000)
    shares = np.empty((len(samplers), len(sizes)))
    for row, (name, sample) in enumerate(samplers.items()):
        for column, n in enumerate(sizes):
            hits = []
            for seed in range(10):
                data, test = sample(n, rng=seed), sample(5000, rng=10_000 + seed)
                low, high = BayesIso().fit(data.scores, data.labels).predict_interval(test.scores)
                hits.append(np.mean((low <= test.probabilities) & (test.probabilities <= high)))
            shares[row, column] = np.mean(hits)
        print(f"{name:20}" + "".join(f"   N = {n}: {share:.3f}" for n, share in zip(sizes, shares[row], strict=True)))
    for n, share in zip(sizes, shares.mean(axis=0), strict=True):
        print(f"  mean at N = {n}: {share:.3f}  {'ok' if 0.85 <= share <= 0.95 else 'MISSED'}")


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)  # the importance sampler flags most of its fits, rightly
    found = measure()
    table_of_excess(found)
    table_of_the_paper(found)
    coverage()


if __name__ == "__main__":
    main()
