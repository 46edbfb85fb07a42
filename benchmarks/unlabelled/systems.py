"""Differences between systems that a judge does not treat alike: a calibrator for each, or one with segments for all.

    python -m benchmarks.unlabelled.systems [--seeds 60]

Four systems are right with a probability from Beta(2.0 … 2.9, 2); the judge scores its rounded root, moved on the logit
scale by a draw from N(0, 0.4) for each system. Of 4000 answers 240 have labels. Told are the differences of the share
of right answers to the first system, among answers without labels: how many 90 % intervals hold the truth, their width,
and the root of the mean squared error as a multiple of that of counting.
"""

from __future__ import annotations

import argparse

import numpy as np

from calibrant import Blend, SegmentedCalibrator
from calibrant._numerics import links
from calibrant._typing import Floats

N_ROWS, N_LABELS, SYSTEMS, FAVOUR = 4000, 240, 4, 0.4
Means = list[tuple[float, Floats]]  # of each system the value and draws of it


def each(s: Floats, y: Floats, system: Floats, rest: Floats, system_of_rest: Floats) -> Means:
    found = []
    for k in range(SYSTEMS):
        own = system == k
        answer = Blend().fit(s[own], y[own]).estimate(rest[system_of_rest == k], rng=k)
        found.append((answer.value, answer.draws))
    return found


def segmented(s: Floats, y: Floats, system: Floats, rest: Floats, system_of_rest: Floats) -> Means:
    model = SegmentedCalibrator().fit(s, y, segment=system)
    fitted = model.predict(rest, segment=system_of_rest)
    draws = model.sample_maps(rest, 400, segment=system_of_rest)
    members = [system_of_rest == k for k in range(SYSTEMS)]
    return [(float(fitted[own].mean()), draws[:, own].mean(axis=1)) for own in members]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=60)
    found: dict[str, list[tuple[float, bool, float]]] = {"each": [], "segmented": []}  # error, held, width
    counted = []
    for seed in range(parser.parse_args().seeds):
        rng = np.random.default_rng(900 + seed)
        system = rng.integers(0, SYSTEMS, N_ROWS)
        favour = rng.normal(0.0, FAVOUR, SYSTEMS)[system]
        truth = rng.beta(2.0 + 0.3 * system, 2.0)
        scores = np.clip(np.round(links.expit(links.logit(np.sqrt(truth)) + favour), 2), 0.01, 0.99)
        y = rng.random(N_ROWS) < truth
        own = rng.permutation(N_ROWS)[:N_LABELS]
        rest = np.setdiff1d(np.arange(N_ROWS), own)
        wanted, counts = ([y[i][system[i] == k].mean() for k in range(SYSTEMS)] for i in (rest, own))
        counted += [counts[k] - counts[0] - (wanted[k] - wanted[0]) for k in range(1, SYSTEMS)]
        for name, method in (("each", each), ("segmented", segmented)):
            means = method(scores[own], y[own], system[own], scores[rest], system[rest])
            for k in range(1, SYSTEMS):
                low, high = np.quantile(means[k][1] - means[0][1], [0.05, 0.95])
                apart = wanted[k] - wanted[0]
                found[name].append((means[k][0] - means[0][0] - apart, low <= apart <= high, high - low))
    unit = np.sqrt(np.mean(np.square(counted)))
    for name, rows in found.items():
        error, held, width = np.array(rows, dtype=float).T
        ratio = np.sqrt(np.mean(error**2)) / unit
        print(f"{name:10s} held {held.mean():.2f}  width {width.mean():.3f}  error {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
