"""How often `multicalibration_error` rejects calibrated probabilities at 5 %, with 5, 50 and 500 segments.

python -m benchmarks.accuracy.multicalibration [--simulations 1000]
"""

from __future__ import annotations

import argparse

import numpy as np

from calibrant.metrics.multicalibration import multicalibration_error

SHAPES = {"uniform": (1.0, 1.0), "rare": (0.5, 4.0)}
SEGMENTS = {5: 500, 50: 1000, 500: 2000}  # and rows
DRAWS = 59  # p-values are exact with any number; with 59, 5 % of them are 3 / 60 or less


def rejections(n_segments: int, shape: tuple[float, float], simulations: int) -> float:
    rejected = 0
    for seed in range(simulations):
        rng = np.random.default_rng([seed, n_segments])
        p = rng.beta(*shape, SEGMENTS[n_segments])
        y, segment = rng.random(len(p)) < p, rng.integers(0, n_segments, len(p))
        found = multicalibration_error(y, p, segment=segment, n_simulations=DRAWS, rng=rng)
        rejected += found.p_value <= 0.05
    return rejected / simulations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000)
    options = parser.parse_args()
    for n_segments, rows in SEGMENTS.items():
        shares = {name: rejections(n_segments, shape, options.simulations) for name, shape in SHAPES.items()}
        figures = "  ".join(f"{name} {100 * share:.1f} %" for name, share in shares.items())
        print(f"{n_segments:>4} segments, {rows} rows: {figures}", flush=True)


if __name__ == "__main__":
    main()
