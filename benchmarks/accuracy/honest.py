"""How often intervals, bands and tests that promise a level keep it.

- 90 % intervals of the mean gap, the Brier score, slope, intercept and O/E where rows come in groups that share an
  effect, grouped and plain.
- The finite-sample band at 90 % on monotone truths.
- The equivalence test with the truth at the edge of its tolerance: how often it errs.
- 90 % intervals of the cutoff calibration error.

Run with ``python -m benchmarks.accuracy.honest [runs]``.
"""

from __future__ import annotations

import sys

import numpy as np

from calibrant import Tally, metrics, simulate
from calibrant._numerics import links
from calibrant.metrics import cutoff_calibration_interval, equivalence_test
from calibrant.metrics.calibration_band import finite_sample_band

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def mean_gap(tally: Tally) -> float:
    return float((tally.positives - tally.scores * tally.totals).sum() / tally.total)


def clustered(n_groups: int, size: int, seed: int) -> Rows:
    """Rows of a group share an effect on the log-odds, of standard deviation 1, that the model does not know."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    p = links.expit(rng.normal(0, 1, n_groups * size))
    return rng.random(len(p)) < links.expit(links.logit(p) + rng.normal(0, 1, n_groups)[groups]), p, groups


def grouped(runs: int) -> None:
    print("90 % intervals where rows come in groups: share that holds the truth")
    y, p, _ = clustered(40_000, 20, 10**6)
    options = {"n_resamples": 300, "bounds": (-np.inf, np.inf), "method": "basic"}
    for n_groups, size in ((30, 20), (60, 20), (100, 10)):
        for metric in (mean_gap, metrics.brier_score):
            truth = metric(Tally.from_arrays(p, y))
            held = np.zeros(2)
            for seed in range(runs):
                rows = clustered(n_groups, size, seed)
                pair = (
                    metrics.bootstrap_interval(metric, *rows[:2], groups=rows[2], **options),
                    metrics.bootstrap_interval(metric, *rows[:2], **options),
                )
                held += [interval.low <= truth <= interval.high for interval in pair]
            shares = held / runs
            print(
                f"  {n_groups:4} groups of {size}, {metric.__name__:12} grouped {shares[0]:.3f}  plain {shares[1]:.3f}"
            )


def grouped_lines(runs: int) -> None:
    """The intervals that come from standard errors instead of replicates."""
    print("90 % intervals of slope, intercept and O/E, 40 groups of 15: share that holds the truth")
    y, p, _ = clustered(40_000, 20, 10**6)
    whole = metrics.calibration_slope(y, p)
    truths = whole.slope.value, whole.intercept.value, float(np.mean(y) / np.mean(p))
    held = {"grouped": np.zeros(3), "plain": np.zeros(3)}
    for seed in range(runs):
        y, p, groups = clustered(40, 15, seed)
        for name, of_row in (("grouped", groups), ("plain", None)):
            line = metrics.calibration_slope(y, p, groups=of_row)
            ratio = metrics.observed_expected_ratio(y, p, level=0.9, groups=of_row)
            found = zip((line.slope, line.intercept, ratio), truths, strict=True)
            held[name] += [interval.low <= truth <= interval.high for interval, truth in found]
    for i, name in enumerate(("slope", "intercept", "O/E")):
        print(f"  {name:10} grouped {held['grouped'][i] / runs:.3f}  plain {held['plain'][i] / runs:.3f}")


def bands(runs: int) -> None:
    print("finite-sample band at 90 %: share that holds the whole curve, and mean width")
    for power in (0.5, 1.0, 3.0):
        for n in (200, 2000):
            held, width = 0, 0.0
            for seed in range(runs):
                rng = np.random.default_rng(seed)
                p = rng.random(n)
                band = finite_sample_band(rng.random(n) < p**power, p, max_blocks=64)
                held += bool(((band.low <= band.scores**power) & (band.scores**power <= band.high)).all())
                width += float(np.mean(band.high - band.low))
            print(f"  p ↦ p^{power:g}, {n:5} rows: {held / runs:.3f}, width {width / runs:.3f}")


def equivalence(runs: int) -> None:
    print(
        "equivalence test, level 90 %, truth off by the tolerance 0.05: share of errors; share of proofs if calibrated"
    )
    for n in (1000, 10_000, 50_000):
        wrong = proved = 0
        for seed in range(runs):
            rng = np.random.default_rng(seed)
            p = rng.integers(2, 9, n) / 10
            wrong += equivalence_test(rng.random(n) < p + 0.05, p, tolerance=0.0499).conclusion == "calibrated"
            proved += equivalence_test(rng.random(n) < p, p, tolerance=0.05).conclusion == "calibrated"
        print(f"  {n:6} rows: {wrong / runs:.3f} errors, {proved / runs:.3f} proofs")


def cutoffs(runs: int) -> None:
    print("90 % intervals of the cutoff calibration error: share that holds that of the population")
    for name, truth in simulate.TRUTHS.items():
        many = truth.sample(400_000, rng=0)
        walk = np.append(0.0, np.cumsum((many.probabilities - many.scores)[np.argsort(many.scores)])) / 400_000
        population = np.ptp(walk)
        held = 0
        for seed in range(runs):
            interval = cutoff_calibration_interval(truth.sample(500, rng=seed).tally, n_resamples=200)
            held += interval.low <= population <= interval.high
        print(f"  {name:20} {held / runs:.3f}")


def main(runs: int) -> None:
    grouped(runs)
    grouped_lines(runs)
    bands(runs)
    equivalence(runs)
    cutoffs(runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
