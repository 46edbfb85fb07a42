"""Several systems that a judge does not treat alike: one calibrator with segments, or one for each, or counting.

    python -m benchmarks.unlabelled.systems [--seeds 60] [--favour 0.4]

Four systems are right with a probability from Beta(2.0 … 2.9, 2); the judge scores its rounded root, moved on the
logit scale by a draw from N(0, favour) for each system. Of 1000 answers of each, 30, 60, 120 and 300 have labels. Told
are the share of right answers of each system, among its answers without labels, and all differences of two: how many
90 % intervals hold the truth, their width, and the root of the mean squared error as a multiple of that of counting.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from itertools import combinations

import numpy as np

from calibrant import Blend, SegmentedCalibrator
from calibrant._numerics import links
from calibrant._typing import Floats

N_ROWS, LABELS = 1000, (30, 60, 120, 300)
PAIRS = [*combinations(range(len(LABELS)), 2)]
Told = tuple[float, float, float]  # a value and the ends of its interval
Rows = list[tuple[Floats, Floats, Floats, Floats]]  # of each system: scores and labels, then scores and truth without


def simulate(rng: np.random.Generator, favour: float) -> Rows:
    found = []
    for system, n_labels in enumerate(LABELS):
        truth = rng.beta(2.0 + 0.3 * system, 2.0, N_ROWS)
        moved = links.logit(np.sqrt(truth)) + rng.normal(0.0, favour)
        scores, y = np.clip(np.round(links.expit(moved), 2), 0.01, 0.99), rng.random(N_ROWS) < truth
        found.append((scores[:n_labels], y[:n_labels], scores[n_labels:], y[n_labels:]))
    return found


def segmented(rows: Rows) -> tuple[list[Told], list[Told]]:
    system = np.repeat(range(len(LABELS)), LABELS)
    scores, labels = (np.concatenate([own[i] for own in rows]) for i in (0, 1))
    model = SegmentedCalibrator().fit(scores, labels, segment=system)
    answers = [model.estimate(own[2], segment=k) for k, own in enumerate(rows)]
    apart = [model.estimate_difference(rows[j][2], rows[i][2], segment=(j, i)) for i, j in PAIRS]
    values, differences = ([(one.value, one.low, one.high) for one in told] for told in (answers, apart))
    return values, differences


def each(rows: Rows) -> tuple[list[Told], list[Told]]:
    answers = [Blend().fit(*own[:2]).estimate(own[2], rng=k) for k, own in enumerate(rows)]
    apart = [
        (answers[j].value - answers[i].value, *np.quantile(answers[j].draws - answers[i].draws, [0.05, 0.95]))
        for i, j in PAIRS
    ]
    return [(one.value, one.low, one.high) for one in answers], apart


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--favour", type=float, default=0.4)
    options = parser.parse_args()
    found, counted = defaultdict(list), defaultdict(list)
    for seed in range(options.seeds):
        rows = simulate(np.random.default_rng(900 + seed), options.favour)
        truth, counts = ([own[i].mean() for own in rows] for i in (3, 1))
        wanted = {"value": truth, "difference": [truth[j] - truth[i] for i, j in PAIRS]}
        counted["value"] += [count - value for count, value in zip(counts, truth, strict=True)]
        counted["difference"] += [counts[j] - counts[i] - (truth[j] - truth[i]) for i, j in PAIRS]
        for method in (segmented, each):
            for (what, values), told in zip(wanted.items(), method(rows), strict=True):
                found[method.__name__, what] += [
                    (value - true, low <= true <= high, high - low)
                    for true, (value, low, high) in zip(values, told, strict=True)
                ]
    for (name, what), told in found.items():
        error, held, width = np.array(told, dtype=float).T
        ratio = np.sqrt(np.mean(error**2) / np.mean(np.square(counted[what])))
        print(f"{name:10s} {what:11s} held {held.mean():.3f}  width {width.mean():.3f}  error {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
