"""Where simpler maps used to beat the default, as simulations of known truth: excess log-loss of Blend and of rivals.

python -m benchmarks.accuracy.patterns [seeds] [only patterns that begin with]

- atoms: a quarter of the rows each have a score of exactly 0 and 1; the true probability there is q and 1 − q. Between,
  the truth is the straight line from q to 1 − q, or the score itself held within q and 1 − q.
- plateau: the truth follows the score and stops at 0.87.
- rounding: scores of 0.05, 0.1, … and the next double; in the rows of the fit the last bit happens to tell the label.
- rare: 2 % positives, nearly separated from the rest; the true logit is a multiple of the score's.
- identity: strong models that need nothing; nearly: that need a slope of 0.85 or a level of 0.3.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from benchmarks.accuracy.blend import excess
from calibrant import BayesianTemperature, BetaCalibration, Blend, Identity, PlattScaling, SplineCalibration

METHODS = (Blend, Identity, BayesianTemperature, SplineCalibration, PlattScaling, BetaCalibration)
TEST_ROWS = 20_000
QS = (0.002, 0.02, 0.1, 0.3)


class Rows(NamedTuple):
    """Rows of a pattern, with the true probability of each."""

    scores: np.ndarray
    labels: np.ndarray
    truth: np.ndarray


Pattern = Callable[[int, np.random.Generator], Rows]


def drawn(scores: np.ndarray, truth: np.ndarray, rng: np.random.Generator) -> Rows:
    return Rows(scores, rng.random(len(scores)) < truth, truth)


def atoms(q: float, straight: bool, n: int, rng: np.random.Generator) -> Rows:
    place = rng.random(n)
    scores = np.where(place < 0.25, 0.0, np.where(place < 0.5, 1.0, rng.beta(0.7, 0.7, n).round(2)))
    truth = q + (1.0 - 2.0 * q) * scores if straight else np.clip(scores, q, 1.0 - q)
    return drawn(scores, truth, rng)


def plateau(n: int, rng: np.random.Generator) -> Rows:
    scores = expit(rng.normal(0.5, 2.5, n))
    return drawn(scores, np.minimum(scores, 0.87), rng)


def rounding(n: int, rng: np.random.Generator, told: bool = True) -> Rows:
    truth = rng.integers(1, 20, n) / 20.0
    labels = rng.random(n) < truth
    high = labels if told else rng.random(n) < 0.5
    twin = np.nextafter(truth, 1.0)
    return Rows(np.where(high, twin, truth), labels, truth)


def rare(slope: float, n: int, rng: np.random.Generator) -> Rows:
    positive = rng.random(n) < 0.02
    side = np.where(positive, 1.0, -1.0)
    distance = rng.normal(4.0 * side, 2.0)  # equal spreads: the true logit is linear in it
    true_logit = 2.0 * distance + logit(0.02)
    return Rows(expit(true_logit / slope), positive, expit(true_logit))


def nearly(slope: float, level: float, spread: float, n: int, rng: np.random.Generator) -> Rows:
    z = rng.normal(-1.0, spread, n)
    return drawn(expit(z), expit(slope * z + level), rng)


def patterns() -> list[tuple[str, Pattern, tuple[int, ...]]]:
    out: list[tuple[str, Pattern, tuple[int, ...]]] = []
    for straight in (True, False):
        shape = "straight" if straight else "held"
        out += [(f"atoms {shape} q={q}", partial(atoms, q, straight), (30, 100, 300)) for q in QS]
    out.append(("plateau", plateau, (100, 300, 1000)))
    out.append(("rounding", rounding, (100, 300, 1000)))
    out += [(f"rare, slope {slope}", partial(rare, slope), (300, 1000)) for slope in (0.6, 1.0, 1.6)]
    out += [(f"identity, spread {s}", partial(nearly, 1.0, 0.0, s), (100, 1000, 3000)) for s in (1.0, 2.5)]
    out.append(("nearly, slope", partial(nearly, 0.85, 0.0, 2.0), (100, 1000, 3000)))
    out.append(("nearly, level", partial(nearly, 1.0, 0.3, 2.0), (100, 1000, 3000)))
    return out


def main() -> None:
    warnings.simplefilter("ignore")
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    print(f"Excess log-loss × 10³, mean of {seeds} seeds\n")
    names = "".join(f"{method.title.split(' (')[0][:18]:>20}" for method in METHODS)
    print(f"{'pattern':<24}{'rows':>6}{names}")
    for name, pattern, sizes in patterns():
        if not name.startswith(only):
            continue
        fresh = partial(rounding, told=False) if name == "rounding" else pattern
        test = fresh(TEST_ROWS, np.random.default_rng(999))
        for n in sizes:
            samples = [pattern(n, np.random.default_rng(1000 + seed)) for seed in range(seeds)]
            samples = [rows for rows in samples if 0 < rows.labels.sum() < n]
            row = ""
            for method in METHODS:
                found = [excess(method().fit(s.scores, s.labels).predict(test.scores), test.truth) for s in samples]
                row += f"{1e3 * float(np.mean(found)):>20.3f}"
            print(f"{name:<24}{n:>6}{row}", flush=True)


if __name__ == "__main__":
    main()
