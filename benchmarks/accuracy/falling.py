"""Where the default map falls, and how sure that is: the example of docs/index.md and every simulation.

python -m benchmarks.accuracy.falling [seeds]

For each falling run of a map, fresh curves are drawn: weighted means of one curve of each member of the blend. The run
counts as certain if the 90 % interval of the difference between the ends of a stretch around it lies below zero; the
map has its highest value on the stretch at its lower end, and its lowest at its upper end.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from benchmarks.papers.planes import circular, xor
from calibrant import Blend, Identity, simulate

DRAWS = 2000
ROWS = 2000
SEED = 12345  # of the fresh draws
LOW_END = np.array([0.001, 0.003, 0.005, 0.01, 0.02])


def first_page_example(n: int, rng: int) -> simulate.Simulation:
    generator = np.random.default_rng(rng)
    scores = generator.random(n)
    return simulate.Simulation(scores, generator.random(n) < scores**2, scores**2)


def tasks() -> dict:
    named = {"first page, y < s²": first_page_example, "bayes_iso": simulate.bayes_iso, "xor": xor}
    return named | {"circular": circular} | {name: truth.sample for name, truth in simulate.TRUTHS.items()}


def curves(blend: Blend, scores: np.ndarray) -> np.ndarray:
    total = np.zeros((DRAWS, len(scores)))
    for i, (name, member) in enumerate(blend.members_.items()):
        weight = blend.weights_[name]
        if weight > 0.0:
            drawn = scores if isinstance(member, Identity) else member.sample_maps(scores, DRAWS, SEED + i)
            total += weight * drawn
    return total


def falling_runs(y: np.ndarray) -> list[tuple[int, int]]:
    """First and last node of each run over which y falls."""
    down = np.concatenate(([False], np.diff(y) < 0.0, [False]))
    edges = np.flatnonzero(down[1:] != down[:-1])
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def falls_over(y: np.ndarray, first: int, last: int) -> bool:
    """Whether the highest value of a stretch is its first one and the lowest its last."""
    own = y[first : last + 1]
    return bool(own[0] == own.max() > own.min() == own[-1])


def upper_ends(blend: Blend) -> list[float]:
    """For each falling run the lowest upper end of a 90 % interval of the change over a stretch around it."""
    table = blend.map_.function
    runs = falling_runs(table.y)
    if not runs:
        return []
    reported = np.searchsorted(expit(table.x), [end for fall in blend.falls_ for end in fall[:2]])
    nodes = np.unique(np.concatenate((np.array(runs).ravel(), np.minimum(reported, len(table.x) - 1))))
    drawn = curves(blend, expit(table.x[nodes]))
    found = []
    for low, high in runs:
        around = [(i, j) for i in np.flatnonzero(nodes <= low) for j in np.flatnonzero(nodes >= high)]
        ends = [np.quantile(drawn[:, j] - drawn[:, i], 0.95) for i, j in around if falls_over(table.y, *nodes[[i, j]])]
        found.append(float(min(ends)))
    return found


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    print(f"{ROWS} rows, seeds 0–{seeds - 1}; certain: the 90 % interval of the change lies below zero")
    heads = f"{'mixture falls':>14} {'map falls':>10} {'falling runs':>13} {'certain':>8} {'low end falls':>14}"
    print(f"{'task':<18} {heads}")
    for name, sample in tasks().items():
        before = after = low_end = 0
        ends: list[float] = []
        for seed in range(seeds):
            data = sample(ROWS, rng=seed)
            blend = Blend().fit(data.scores, data.labels)
            grid = np.unique(data.scores)
            mixture = sum(blend.weights_[key] * member.predict(grid) for key, member in blend.members_.items())
            before += bool((np.diff(mixture) < -1e-6).any())
            after += not blend.map_.monotone
            low_end += bool((np.diff(blend.predict(LOW_END)) < 0.0).any())
            ends += upper_ends(blend)
        certain = sum(end < 0.0 for end in ends)
        row = f"{before:>11}/{seeds} {after:>7}/{seeds} {len(ends):>13} {certain:>8} {low_end:>11}/{seeds}"
        print(f"{name:<18} {row}")
        for end in sorted(ends):
            if end >= 0.0:
                print(f"    not certain: upper end {end:+.5f}")


if __name__ == "__main__":
    main()
