"""Every calibration error against the true one as N grows (Dong et al. 2025, Figure 1c): bias and RMSE over seeds.

The truths are those of `calibrant.simulate.TRUTHS`, so the true errors are exact. The debiased L2 error is held against
the true L2 error, all others against the true L1 error. Where calibrant has Bayesian calibrators, the posterior mean of
the error is judged too, with how often its 90 % interval holds the truth; the bootstrap's interval is judged likewise.

Run with ``python -m benchmarks.accuracy.metrics [seeds]``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

import calibrant
from benchmarks.peers.smooth_ece import relplot_1_0_3
from calibrant import Tally, metrics, simulate

SIZES = (250, 500, 1000, 2000, 5000, 10_000)
CALIBRATED = "calibrated"
ece = metrics.expected_calibration_error
MEASURES: dict[str, Callable[[Tally], float]] = {
    "ECE, 15 of equal width": ece,
    "ECE, 15 of equal mass": partial(ece, strategy="quantile"),
    "ECE, N^(1/3) of equal mass": partial(ece, strategy="quantile", n_bins="auto"),
    "debiased L1, equal mass": partial(metrics.debiased_calibration_error, p=1),
    "debiased L2, equal mass": metrics.debiased_calibration_error,
    "sweep": metrics.sweep_calibration_error,
    "KS": metrics.ks_calibration_error,
    "smECE": metrics.smooth_calibration_error,
    "smECE as relplot": relplot_1_0_3,
    "ICI": metrics.integrated_calibration_index,
    "TCE_bpm": metrics.tce_bpm,
}
BAYESIAN = ("ABB", "BayesIso", "SplineCalibration")


def truths() -> dict[str, simulate.Truth]:
    calibrated = simulate.Truth(np.array, 2.0, 1.0, True, "z")
    return simulate.TRUTHS | {CALIBRATED: calibrated}


def posterior_means(tally: Tally) -> dict[str, float]:
    out = {}
    for name in BAYESIAN:
        if name in calibrant.__all__:
            fitted = getattr(calibrant, name)().fit_tally(tally)
            out[f"posterior of {name}"] = metrics.metric_posterior(fitted, tally).value
    return out


def measure(truth: simulate.Truth, n: int, seeds: int) -> dict[str, np.ndarray]:
    """Estimate minus truth, for each measure and seed."""
    first, second = truth.calibration_error(), truth.calibration_error(2)
    errors: dict[str, list[float]] = {}
    for seed in range(seeds):
        tally = truth.sample(n, rng=seed).tally
        found = {name: metric(tally) for name, metric in MEASURES.items()} | posterior_means(tally)
        for name, value in found.items():
            errors.setdefault(name, []).append(value - (second if "L2" in name else first))
    return {name: np.array(values) for name, values in errors.items()}


def print_truth(name: str, truth: simulate.Truth, seeds: int) -> dict[str, list[float]]:
    print(f"\n{name}: logit P = {truth.formula}, scores Beta({truth.a:g}, {truth.b:g})")
    print(f"true L1 error {truth.calibration_error():.5f}, true L2 error {truth.calibration_error(2):.5f}")
    print("bias and RMSE × 10⁴" + " " * 9 + "".join(f"{n:>14}" for n in SIZES))
    columns = [measure(truth, n, seeds) for n in SIZES]
    rmse: dict[str, list[float]] = {}
    for key in columns[0]:
        cells = [(1e4 * column[key].mean(), 1e4 * np.sqrt((column[key] ** 2).mean())) for column in columns]
        rmse[key] = [cell[1] for cell in cells]
        print(f"{key:<28}" + "".join(f"{bias:>8.0f}{root:>6.0f}" for bias, root in cells))
    return rmse


def print_coverage(seeds: int) -> None:
    print(
        "\n90 % bootstrap intervals of ECE (15 of equal mass): share that holds the truth, squared / basic / percentile"
    )
    print(" " * 20 + "".join(f"{n:>22}" for n in SIZES[::2]))
    for name, truth in truths().items():
        shares = []
        for n in SIZES[::2]:
            inside = dict.fromkeys(("squared", "basic", "percentile"), 0)
            for seed in range(seeds):
                tally = truth.sample(n, rng=seed).tally
                for method in inside:
                    found = metrics.bootstrap_interval(
                        partial(ece, strategy="quantile"), tally, n_resamples=100, method=method
                    )
                    inside[method] += found.low <= truth.calibration_error() <= found.high
            shares.append(" / ".join(f"{count / seeds:.2f}" for count in inside.values()))
        print(f"{name:<20}" + "".join(f"{share:>22}" for share in shares))


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    warnings.simplefilter("ignore")  # small samples make Bayesian fits warn; their errors are what is measured here
    rmse = {name: print_truth(name, truth, seeds) for name, truth in truths().items()}
    print(f"\nmean RMSE × 10⁴ over the truths, {seeds} seeds" + "".join(f"{n:>9}" for n in SIZES))
    for key in next(iter(rmse.values())):
        print(f"{key:<42}" + "".join(f"{np.mean([r[key][i] for r in rmse.values()]):>9.0f}" for i in range(len(SIZES))))
    print_coverage(seeds)


if __name__ == "__main__":
    main()
