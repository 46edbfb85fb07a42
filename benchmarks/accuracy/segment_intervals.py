"""Simulated segments with known scales: how well the scales come back, and how often 90 % intervals hold the truth.

python -m benchmarks.accuracy.segment_intervals [--repeats 30] [--calibrator blend]

Each sample has 40 segments of 20 rows, 20 of 100 and 6 of 1000; scores are uniform, and the true logit is that of the
score times 0.8, plus a shift and a slope for each segment, Gaussian with the scales given.
"""

from __future__ import annotations

import argparse

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats, Ints
from calibrant.segments.calibrator import SegmentedCalibrator

SIZES = np.repeat([20, 100, 1000], [40, 20, 6])
SCALES = ((0.0, 0.0), (0.1, 0.0), (0.3, 0.1), (0.8, 0.2))
GRID = np.linspace(0.05, 0.95, 19)
LOGIT_SPREAD = 1.5  # about the standard deviation of the true logits, so that slopes are per standard deviation


def truth(scores: Floats, shift: Floats, slope: Floats) -> Floats:
    logits = 0.8 * links.logit(scores)
    return links.expit(logits + shift + slope * logits / LOGIT_SPREAD)


def sample(rng: np.random.Generator, scales: tuple[float, float]) -> tuple[Floats, Ints, Ints, Floats]:
    """Scores, labels and segments of the rows, and the shifts and slopes of the segments and of a new one."""
    effects = rng.standard_normal((len(SIZES) + 1, 2)) * scales
    segment = np.repeat(np.arange(len(SIZES)), SIZES)
    scores = rng.uniform(0.02, 0.98, len(segment))
    p = truth(scores, *effects[segment].T)
    return scores, (rng.random(len(p)) < p).astype(int), segment, effects


def covered(calibrator: SegmentedCalibrator, effects: Floats) -> dict[str, float]:
    """The share of scores at which the interval holds the truth, by size of the segment; "new" was never seen."""
    inside = []
    for g, effect in enumerate(effects):
        low, high = calibrator.predict_interval(GRID, segment=np.full(len(GRID), g))
        p = truth(GRID, *effect)
        inside.append(np.mean((low <= p) & (p <= high)))
    seen = {str(size): float(np.mean(np.array(inside[:-1])[size == SIZES])) for size in np.unique(SIZES)}
    return seen | {"new": float(inside[-1])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--calibrator", default="blend")
    options = parser.parse_args()
    for scales in SCALES:
        found, scale = [], []
        for seed in range(options.repeats):
            scores, y, segment, effects = sample(np.random.default_rng([seed, 7]), scales)
            calibrator = SegmentedCalibrator(options.calibrator).fit(scores, y, segment=segment)
            found.append(covered(calibrator, effects))
            line = [t for t in calibrator.map_.terms if t.keys == (0,) and t.kind == "line"]
            scale.append(np.sqrt(np.diag(line[0].prior)) if line else np.zeros(2))
        means = {name: np.mean([f[name] for f in found]) for name in found[0]}
        print(
            f"scales {scales[0]:.2f} {scales[1]:.2f}: found {np.mean(scale, axis=0).round(2)}; coverage "
            + "  ".join(f"{name} {100 * mean:.0f} %" for name, mean in means.items()),
            flush=True,
        )


if __name__ == "__main__":
    main()
