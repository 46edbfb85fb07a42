"""How often the intervals of a clinical validation hold the truth, at 95 %.

- All measures of `validation_summary` on independent rows, and on rows of centres with groups.
- `validate_centres`: the measures of the average centre, and those of a new centre by the prediction interval.
- `validate` of a logistic regression that overfits: the mean of corrected minus true measures, and the intervals.

Run with ``python -m benchmarks.accuracy.clinic [runs]``, or one part with ``summaries``, ``internal`` or ``centres``
before the number of runs; after ``internal`` may stand "bootstrap", "632+" or "cross_validation".
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.linear_model import LogisticRegression

import calibrant
from calibrant import Tally
from calibrant._numerics import links
from calibrant.metrics import validate_centres, validation_summary
from calibrant.metrics.validation import LINKS, measure_named, measure_tally

CUTS = np.array([0.1, 0.3])
METHODS = {"bootstrap": 60, "632+": 60, "cross_validation": 20}  # of `validate`, and numbers of replicates
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw(n_centres: int, size: int, icc: float, seed: int, slope: float = 0.7) -> Rows:
    """Labels, probabilities and centres; the intraclass correlation is that of the logit scale."""
    rng = np.random.default_rng(seed)
    centre = np.repeat(np.arange(n_centres), size)
    z = rng.normal(-1.0, 1.3, n_centres * size)
    spread = np.sqrt(icc / (1.0 - icc) * np.pi**2 / 3.0)
    truth = links.expit(-0.3 + slope * z + spread * rng.normal(0, 1, n_centres)[centre])
    return rng.random(len(z)) < truth, links.expit(z), centre


def summaries(runs: int) -> None:
    for title, n_centres, size, icc in (
        ("500 rows", 500, 1, 0.0),
        ("2000 rows", 2000, 1, 0.0),
        ("12 centres of 100, ICC .05", 12, 100, 0.05),
        ("12 centres of 100, ICC .2", 12, 100, 0.2),
        ("50 centres of 40, ICC .05", 50, 40, 0.05),
        ("50 centres of 40, ICC .2", 50, 40, 0.2),
    ):
        y, p, _ = draw(200_000 // size * 5, size, icc, 10**6)
        truth = measure_tally(Tally.from_arrays(p, y), CUTS)
        held = dict.fromkeys(truth, 0.0)
        for seed in range(runs):
            y, p, centre = draw(n_centres, size, icc, seed)
            groups = None if size == 1 else centre
            found = validation_summary(y, p, thresholds=CUTS, level=0.95, groups=groups, n_resamples=300)
            for name, interval in found.measures.items():
                held[name] += (interval.low <= truth[name] <= interval.high) / runs
        print(title)
        print("  " + "  ".join(f"{name} {share:.3f}" for name, share in held.items()), flush=True)


def internal(runs: int) -> None:
    def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        x = rng.normal(0, 1, (n, 8))
        return x, rng.random(n) < links.expit(x @ [0.8, -0.6, 0.5, 0.3, 0, 0, 0, 0] - 0.8)

    model, names = LogisticRegression(C=np.inf), ("observed_expected", "slope", "auc", "brier_score", "ici", "e90")
    others, outcomes = rows(50_000, 10**6)
    for method in [word for word in sys.argv if word in METHODS] or METHODS:
        off, held, apparent = [], [], []
        for seed in range(runs):
            x, y = rows(250, seed)
            found = calibrant.validate(model, x, y, method=method, n_resamples=METHODS[method], level=0.95)
            p = model.fit(x, y).predict_proba(others)[:, 1]
            truth = measure_tally(Tally.from_arrays(p, outcomes), CUTS)
            off.append([found[name].value - truth[name] for name in names])
            apparent.append([found.columns["apparent"][name] - truth[name] for name in names])
            held.append([found[name].low <= truth[name] <= found[name].high for name in names])
        for k, name in enumerate(names):
            error = np.std(off, axis=0)[k] / np.sqrt(runs)
            bias, before = np.mean(off, axis=0)[k], np.mean(apparent, axis=0)[k]
            moved = f"corrected {bias:+.4f} ± {error:.4f}, apparent {before:+.4f}"
            print(f"  {method:16} {name:12} {moved}, held {np.mean(held, axis=0)[k]:.3f}", flush=True)


def centres(runs: int) -> None:
    """Average and new centres; the true measures of a centre are those of many rows with its effect.

    The average is over the effects of centres, on the scale of pooling.
    """
    names = ("observed_expected", "intercept", "slope", "auc")
    links_of = [LINKS[measure_named(name).link] for name in names]
    nodes, weights = np.polynomial.hermite_e.hermegauss(9)
    for n_centres, size, icc in ((12, 100, 0.05), (12, 100, 0.2), (50, 40, 0.05), (50, 40, 0.2)):
        spread = np.sqrt(icc / (1.0 - icc) * np.pi**2 / 3.0)
        held, new = np.zeros(4), np.zeros(4)
        every = [_centre(spread * node) for node in nodes]
        mean = {
            name: back(np.average([link(one[name]) for one in every], weights=weights))
            for name, (link, back) in zip(names, links_of, strict=True)
        }
        for seed in range(runs):
            found = validate_centres(*draw(n_centres, size, icc, seed), level=0.95, n_resamples=60)
            other = _centre(spread * np.random.default_rng(10**7 + seed).normal())
            outlook = [found.columns["new centre"][name] for name in names]
            held += [found[name].low <= mean[name] <= found[name].high for name in names]
            new += [one.low <= other[name] <= one.high for name, one in zip(names, outlook, strict=True)]
        for title, counts in (("average centre", held), ("new centre", new)):
            shares = "  ".join(f"{name} {count / runs:.3f}" for name, count in zip(names, counts, strict=True))
            print(f"{n_centres} centres of {size}, ICC {icc}, {title}: {shares}", flush=True)


def _centre(effect: float) -> dict[str, float]:
    z = np.random.default_rng(0).normal(-1.0, 1.3, 20_000)
    p, truth = links.expit(z), links.expit(-0.3 + 0.7 * z + effect)
    labels, twice = np.repeat([1, 0], len(z)), np.tile(p, 2)
    return measure_tally(Tally.from_arrays(twice, labels, np.append(truth, 1.0 - truth)), CUTS)


JOBS = {"summaries": summaries, "internal": internal, "centres": centres}

if __name__ == "__main__":
    jobs = [job for job in sys.argv[1:] if job in JOBS] or list(JOBS)
    for job in jobs:
        JOBS[job](next((int(word) for word in sys.argv[1:] if word.isdigit()), 200))
