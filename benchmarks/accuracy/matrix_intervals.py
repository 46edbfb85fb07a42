"""Coverage of the intervals of `MatrixBlend` on score matrices with a known truth.

    python -m benchmarks.accuracy.matrix_intervals [--sizes 15x1000 15x3000]

Each truth is a function of the score matrix, so that a perfect calibrator could know it. The share of entries of fresh
rows whose 90 % interval holds the true probability is averaged over repetitions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from calibrant.multiclass.blend import MatrixBlend

LEVEL = 0.9
TEST_ROWS = 1000
SIZES = ("3x300", "3x3000", "10x300", "10x3000")  # classes and rows
Truth = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def normalise(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum(axis=1, keepdims=True)


def calibrated(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:  # noqa: ARG001
    return p


def overconfident(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:  # noqa: ARG001
    return normalise(p**0.6)


def other_frequencies(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return normalise(p * np.exp(0.7 * rng.standard_normal(p.shape[1])))


def lapses(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:  # noqa: ARG001
    return 0.9 * p + 0.1 / p.shape[1]


def class_slopes(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return normalise(p ** rng.uniform(0.5, 1.3, p.shape[1]))


def confused(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Part of each class is taken for another one."""
    k = p.shape[1]
    shares = 0.75 * np.eye(k) + 0.25 * rng.dirichlet(np.full(k, 0.5), size=k)
    return p @ shares


TRUTHS: dict[str, Truth] = {
    one.__name__.replace("_", " "): one
    for one in (calibrated, overconfident, other_frequencies, lapses, class_slopes, confused)
}


def coverage(truth: Truth, n_classes: int, n_rows: int, seed: int) -> tuple[float, float]:
    """The share of entries inside their interval, and the mean width."""
    rng = np.random.default_rng([seed, n_classes, n_rows])
    p = rng.dirichlet(np.full(n_classes, 0.5 if n_classes <= 3 else 0.2), size=n_rows + TEST_ROWS)
    q = truth(p, rng)
    y = (q.cumsum(axis=1) < rng.random((len(q), 1))).sum(axis=1).clip(0, n_classes - 1)
    blend = MatrixBlend().fit(p[:n_rows], y[:n_rows])
    low, high = blend.predict_interval(p[n_rows:], level=LEVEL)
    inside = (low <= q[n_rows:]) & (q[n_rows:] <= high)
    return float(inside.mean()), float((high - low).mean())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--sizes", nargs="+", default=SIZES, help="classes and rows, such as 15x1000")
    options = parser.parse_args()
    sizes = [(int(classes), int(rows)) for classes, rows in (size.split("x") for size in options.sizes)]
    seeds = range(options.first_seed, options.first_seed + options.repetitions)
    print(f"Coverage of {100 * LEVEL:g} % intervals, {options.repetitions} repetitions; in brackets the mean width")
    print(f"{'truth':20s}" + "".join(f"{f'K = {k}, N = {n}':>20s}" for k, n in sizes))
    overall = {size: [] for size in sizes}
    for name, truth in TRUTHS.items():
        cells = []
        for size in sizes:
            results = np.array([coverage(truth, *size, seed) for seed in seeds])
            overall[size].append(results[:, 0].mean())
            cells.append(f"{results[:, 0].mean():.3f} ({results[:, 1].mean():.3f})")
        print(f"{name:20s}" + "".join(f"{cell:>20s}" for cell in cells), flush=True)
    print(f"{'mean':20s}" + "".join(f"{np.mean(overall[size]):>20.3f}" for size in sizes))


if __name__ == "__main__":
    main()
