"""Intervals of score matrices and of segments where the truth is known, and weights that count as repeated rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.special import expit, softmax

from benchmarks.audit import Row
from calibrant import MatrixBlend, SegmentedCalibrator
from calibrant._typing import Floats, Ints
from calibrant.multiclass.base import BayesianMatrixCalibrator
from calibrant.multiclass.dirichlet import DirichletCalibration
from calibrant.multiclass.scaling import MatrixScaling, VectorScaling

TEST_ROWS = 100
FAMILY = (VectorScaling, MatrixScaling, DirichletCalibration, MatrixBlend)
Truth = Callable[[Floats], Floats]


def _confused(p: Floats) -> Floats:
    """Part of each class is taken for the next one."""
    out: Floats = 0.85 * p + 0.15 * np.roll(p, 1, axis=1)
    return out


# Each is a function of the score matrix, so that a perfect calibrator could know it.
TRUTHS: dict[str, Truth] = {
    "calibrated": lambda p: p,
    "confusion": _confused,
    "slopes": lambda p: softmax(np.log(p) * np.linspace(0.4, 1.6, p.shape[1]), axis=1),
}
UNSEEN_SEGMENTS = 10
ROWS_OF_SEGMENTS = np.repeat([15, 30, 80, 200, 400, 800], 5)
# How far the shift and the slope (a logit) of each segment are from those of all.
SEGMENTS: dict[str, Callable[[np.random.Generator, int], tuple[Floats, Floats]]] = {
    "slopes": lambda rng, n: (0.3 * rng.normal(size=n), 0.4 * rng.normal(size=n)),
    "slopes alone": lambda rng, n: (np.zeros(n), 0.4 * rng.normal(size=n)),
    "t3": lambda rng, n: (0.4 * rng.standard_t(3, n), np.zeros(n)),
    "none": lambda _, n: (np.zeros(n), np.zeros(n)),
}


def _draw(truth: Floats, rng: np.random.Generator) -> Ints:
    out: Ints = (truth.cumsum(axis=1) < rng.random((len(truth), 1))).sum(axis=1).clip(0, truth.shape[1] - 1)
    return out


def _same_rows(repeats: int, seed: int) -> Iterator[Row]:
    """F4: weights against repeated rows, and the same rows in another order.

    "Coverage" is the share of runs in which no probability moved by more than 1e-6, the width the largest move.
    """
    moved = np.array([_moves(np.random.default_rng([seed, 4, number])) for number in range(repeats)])
    for cell, moves in zip(("weights against repeats", "order of rows"), moved.T, strict=True):
        yield Row("F4", cell, len(moves), float(np.mean(moves < 1e-6)), float(moves.max()))


def _moves(rng: np.random.Generator, n: int = 5000, n_classes: int = 3) -> tuple[float, float]:
    scores = softmax(rng.normal(0.0, 2.0, (n, n_classes)), axis=1)
    y, weights, order = _draw(TRUTHS["slopes"](scores), rng), rng.integers(0, 4, n), rng.permutation(n)
    p = MatrixBlend().fit(scores, y, sample_weight=weights).predict_proba(scores)
    repeated = MatrixBlend().fit(np.repeat(scores, weights, axis=0), np.repeat(y, weights)).predict_proba(scores)
    other = MatrixBlend().fit(scores[order], y[order], sample_weight=weights[order]).predict_proba(scores)
    return float(np.abs(p - repeated).max()), float(np.abs(p - other).max())


def _slopes_of_classes(
    method: type[BayesianMatrixCalibrator], n_classes: int, repeats: int, seed: int
) -> Iterator[Row]:
    """F8: classes with slopes of their own."""
    for n in (100, 1000):
        yield _matrix_cell("F8", method, "slopes", n_classes, n, repeats, seed)


def _matrices(truth: str, repeats: int, seed: int) -> Iterator[Row]:
    """Section 1: the blend under other truths; with more rows where the truth is none of its models."""
    cells = [(100, 3), (100, 6), (1000, 3)]
    for n, n_classes in cells if truth == "confusion" else cells[:2]:
        yield _matrix_cell("1", MatrixBlend, truth, n_classes, n, repeats, seed)


def _matrix_cell(
    finding: str, method: type[BayesianMatrixCalibrator], truth: str, n_classes: int, n: int, repeats: int, seed: int
) -> Row:
    seen = []
    for number in range(repeats):
        rng = np.random.default_rng([seed, number, n_classes, n])
        p = softmax(rng.normal(0.0, 1.5, (n + TEST_ROWS, n_classes)), axis=1)
        q = TRUTHS[truth](p)
        low, high = method().fit(p[:n], _draw(q[:n], rng)).predict_interval(p[n:])
        seen.append((np.mean((low <= q[n:]) & (q[n:] <= high)), np.mean(high - low)))
    cell = f"{method.__name__}, {truth}, K = {n_classes}, n = {n}"
    return Row(finding, cell, repeats, *np.mean(seen, axis=0).tolist())


def _segments(truth: str, repeats: int, seed: int) -> Iterator[Row]:
    """F9, and section 2: segments by their rows, and some that the fit never saw."""
    effects, count = SEGMENTS[truth], len(ROWS_OF_SEGMENTS)
    everyone = count + UNSEEN_SEGMENTS
    size = np.append(np.digitize(ROWS_OF_SEGMENTS, [50, 251]), np.full(UNSEEN_SEGMENTS, 3))
    inside, width = np.zeros((2, repeats, everyone))
    for number in range(repeats):
        rng = np.random.default_rng([seed, number, 9])
        shift, slope = effects(rng, everyone)
        segment = np.repeat(np.arange(count), ROWS_OF_SEGMENTS)
        x = rng.normal(-0.3, 1.5, len(segment))
        y = rng.random(len(x)) < expit(x + shift[segment] + slope[segment] * x)
        calibrator = SegmentedCalibrator().fit(expit(x), y, segment=segment)
        grid = rng.normal(-0.3, 1.5, 40)
        truths = expit(grid + shift[:, None] + slope[:, None] * grid)
        wanted = np.repeat(np.arange(everyone), len(grid))
        ends = calibrator.predict_interval(np.tile(expit(grid), everyone), segment=wanted)
        low, high = (np.asarray(end).reshape(truths.shape) for end in ends)
        inside[number] = np.mean((low <= truths) & (truths <= high), axis=1)
        width[number] = np.mean(high - low, axis=1)
    names = ("under 50 rows", "50 to 250 rows", "over 250 rows", "unseen")
    for place, name in enumerate(names):
        coverage, mean_width = (float(values[:, size == place].mean()) for values in (inside, width))
        yield Row("F9" if truth.startswith("slopes") else "2", f"{truth}, {name}", repeats, coverage, mean_width)


PARTS = [
    ("F4", _same_rows),
    *(("F9" if truth.startswith("slopes") else "2", partial(_segments, truth)) for truth in SEGMENTS),
    *(("F8", partial(_slopes_of_classes, method, n_classes)) for method in FAMILY for n_classes in (6, 3)),
    *(("1", partial(_matrices, truth)) for truth in TRUTHS if truth != "slopes"),
]
