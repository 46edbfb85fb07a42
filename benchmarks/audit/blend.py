"""Posteriors of `Blend`: intervals of decision scores, of probabilities, and of numbers of rows without labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.audit import Row
from calibrant import Blend, CalibratedClassifier
from calibrant._typing import Bools, Floats
from calibrant.estimates import estimate_several

QUANTITIES = ("mean", "accuracy", "recall", "auc")
LABELLED = (50, 100, 250)
EVALUATED = 60  # scores at which a run compares intervals with the truth; runs differ far more than these
LINES: dict[str, Callable[[Floats], Floats]] = {
    "noise": lambda s: expit(-0.85 + 0.0 * s),
    "gentle": lambda s: expit(-0.5 + 0.5 * s),
    "steep": lambda s: expit(0.3 + 2.0 * s),
}
CURVES: dict[str, Callable[[Floats], Floats]] = {
    "sig": lambda s: expit(6.0 * s - 3.0),
    "flat": lambda s: 0.15 + 0.5 * s,
    "wavy": lambda s: np.clip(0.1 + 0.8 * s + 0.15 * np.sin(9.0 * s), 0.0, 1.0),
    "step": lambda s: np.where(s < 0.5, 0.2, 0.8),
    "calib": lambda s: s,
    "rare": lambda s: 0.02 + 0.1 * s**2,
    "const": lambda s: np.full_like(s, 0.3),
}
UNSMOOTH = ("wavy", "step")


def _row(finding: str, cell: str, seen: list[tuple[float, float]]) -> Row:
    coverage, width = np.mean(seen, axis=0).tolist()
    return Row(finding, cell, len(seen), coverage, width)


def _inside(low: Floats, high: Floats, truth: Floats) -> tuple[float, float]:
    return float(np.mean((low <= truth) & (truth <= high))), float(np.mean(high - low))


def _decision_scores(name: str, repeats: int, seed: int) -> Iterator[Row]:
    """F1: a truth in Platt's family."""
    rng, truth = np.random.default_rng([seed, 1]), LINES[name]
    for n in (100, 200, 1000):
        seen = []
        for _ in range(repeats):
            s, grid = rng.normal(size=n), rng.normal(size=EVALUATED)
            blend = Blend(space="decision").fit(s, rng.random(n) < truth(s))
            seen.append(_inside(*blend.predict_interval(grid), truth(grid)))
        yield _row("F1", f"{name}, {n} rows", seen)


def _classifier_on_noise(repeats: int, seed: int) -> Iterator[Row]:
    """F1: a classifier whose features say nothing."""
    rng, seen = np.random.default_rng([seed, 11]), []
    for _ in range(repeats):
        features, new = rng.normal(size=(200, 20)), rng.normal(size=(EVALUATED, 20))
        model = CalibratedClassifier(LogisticRegression()).fit(features, rng.random(200) < 0.3)
        low, high = (np.asarray(end)[..., 1] for end in model.predict_interval(new))
        seen.append(_inside(low, high, np.full(EVALUATED, 0.3)))
    yield _row("F1", "classifier, noise, 200 rows", seen)


def _estimates(name: str, n: int, repeats: int, seed: int) -> Iterator[Row]:
    """F2 and F3: numbers of 2000 rows from few labels, without and with a shift of the scores."""
    rng = np.random.default_rng([seed, 2, n])
    seen: dict[str, list[tuple[float, float]]] = {}
    for _ in range(repeats if name in UNSMOOTH else 2 * repeats):  # one run is one interval, not one at many scores
        s = rng.beta(1.5, 1.5, n)
        blend = Blend().fit(s, rng.random(n) < CURVES[name](s))
        for shift, first in (("", 1.5), (", shift", 2.5)):
            new = rng.beta(first, 1.5, 2000)
            y = rng.random(2000) < CURVES[name](new)
            for quantity, result in _ask(blend, new, y).items():
                seen.setdefault(f"{quantity}, {name}, {n} labels{shift}", []).append(result)
    for cell, results in seen.items():
        yield _row("F2" if cell.startswith("mean") else "F3", cell, results)


def _ask(blend: Blend, scores: Floats, y: Bools) -> dict[str, tuple[float, float]]:
    p = blend.predict(scores)
    called = p >= 0.5
    truths = {"mean": y.mean(), "accuracy": (called == y).mean(), "auc": roc_auc_score(y, p)}
    truths["recall"] = called[y].mean()
    found = estimate_several(blend, scores, QUANTITIES)
    return {name: (float(own.low <= truths[name] <= own.high), own.width) for name, own in found.items()}


def _intervals(name: str, repeats: int, seed: int) -> Iterator[Row]:
    """Section 7: intervals of probabilities under one truth."""
    rng, truth = np.random.default_rng([seed, 7]), CURVES[name]
    for n in (100, 1000) if name in UNSMOOTH else (100,):
        seen = []
        for _ in range(repeats):
            s, grid = rng.beta(1.5, 1.5, n), rng.beta(1.5, 1.5, EVALUATED)
            blend = Blend().fit(s, rng.random(n) < truth(s))
            seen.append(_inside(*blend.predict_interval(grid), truth(grid)))
        yield _row("7", f"{name}, {n} rows", seen)


def _draws(repeats: int, seed: int) -> Iterator[Row]:
    """F12: the share of the width of intervals that draws have, beside how near their mean is to the prediction."""
    rng, n = np.random.default_rng([seed, 12]), 50
    for space in ("probability", "decision"):
        seen = []
        for _ in range(repeats):
            s, grid = rng.beta(1.5, 1.5, n), np.linspace(0.05, 0.95, 19)
            blend = Blend(space=space).fit(s, rng.random(n) < CURVES["flat"](s))
            draws = blend.sample_maps(grid, 1000)
            low, high = blend.predict_interval(grid)
            spread = np.diff(np.quantile(draws, (0.05, 0.95), axis=0), axis=0)
            away = np.abs(draws.mean(axis=0) - blend.predict(grid)).max()
            seen.append((float(away), float(spread.mean() / (high - low).mean())))
        yield _row("F12", f"{space}, {n} rows: gap of the means, share of the width", seen)


def _judge(repeats: int, seed: int) -> Iterator[Row]:
    """A generous judge, and an honest one: the error as a multiple of that of counting, in the place of the width."""
    for power, name in ((0.5, "generous"), (1.0, "honest")):
        for n in (50, 100, 200):
            errors, covered = [], []
            for number in range(repeats):
                r = np.random.default_rng([seed, 5000 + number])
                t = r.beta(2, 2, 5000 + n)
                s, h = np.round(t**power, 2), r.random(5000 + n) < t
                truth = h[n:].mean()
                found = Blend().fit(s[:n], h[:n]).estimate(s[n:], "mean")
                errors.append((abs(found.value - truth), abs(h[:n].mean() - truth)))
                covered.append(found.low <= truth <= found.high)
            ours, counting = np.mean(errors, axis=0)
            yield Row(
                "judge", f"{name}, {n} labels: error by counting's", repeats, float(np.mean(covered)), ours / counting
            )


PARTS = [
    *(("F1", partial(_decision_scores, name)) for name in LINES),
    ("F1", _classifier_on_noise),
    *(("F2 F3", partial(_estimates, name, n)) for name in ("sig", "flat", "wavy") for n in LABELLED),
    *(("7", partial(_intervals, name)) for name in CURVES),
    ("F12", _draws),
    ("judge", _judge),
]
