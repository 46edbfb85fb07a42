"""h-calibration (Huang et al. 2025) of score matrices, written from its formulae.

Its loss asks that, among events of nearly the same probability, as many happen as were predicted. For each class k take
the rows of other classes and every probability p in them with its outcome o (1 at the row's label). In the order of p,
the mean of p − o over a window of neighbours is a local error; the loss is the mean over k of the absolute local error,
averaged within each cluster of probabilities and then over clusters.

The map is an average of temperatures, with their published start, steps and stops for proper scores; of the published
choice among maps and numbers of temperatures only this one is taken. Clusters start from quantiles, then from those of
the step before, and not from random rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np

from benchmarks.arena.champions import logs

__all__ = ["EventLoss", "HCalibration"]

TEMPERATURES, WINDOW, CLUSTERS, LLOYD_STEPS = 16, 200, 15, 25
STEPS, STEP_SIZE, LOSS_WEIGHT = 2000, 0.005, 1e5
STEPS_TO_HALVE, STEPS_TO_STOP = 20, 160  # without a lower calibration error of the predicted class
SMALLEST_HALVING = 1e-8  # of the step size; a smaller one is left out
BINS = 15


class HCalibration:
    """An average of temperatures that minimises the loss of h-calibration, by Adam from seed 0."""

    def fit(self, p: np.ndarray, y: np.ndarray) -> Self:
        """Learn from probabilities (n, K) and labels 0 … K − 1."""
        x = logs(p)
        at = np.random.default_rng(0).uniform(-1.0, 1.0, size=(2, TEMPERATURES)) / np.sqrt(TEMPERATURES)
        loss, adam, patience, lowest = EventLoss(), _Adam(at.shape), _Patience(), np.inf
        mixed, slopes = _temperatures(x, at)
        while patience.left and adam.steps < STEPS:
            at = at - patience.step_size * adam.direction(LOSS_WEIGHT * slopes(loss(mixed, y)[1]))
            mixed, slopes = _temperatures(x, at)
            log_loss = -np.log(mixed[np.arange(len(y)), y] + 1e-25).mean()
            if log_loss <= lowest:
                lowest, self.found = log_loss, at
            patience.see(_top_error(mixed, y))
        self.steps = adam.steps
        return self

    def predict_proba(self, p: np.ndarray) -> np.ndarray:
        """Calibrated probabilities, (n, K)."""
        return _temperatures(logs(p), self.found)[0]


class EventLoss:
    """The loss of probabilities (n, K), and its derivative by each; windows and clusters are held."""

    def __init__(self, window: int = WINDOW, clusters: int = CLUSTERS) -> None:
        self.window, self.clusters = window, clusters
        self.centres: dict[int, np.ndarray] = {}

    def __call__(self, p: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
        """Of labels 0 … K − 1."""
        n_classes = p.shape[1]
        gap = (p - (np.arange(n_classes) == y[:, None])).ravel()
        order = np.argsort(p, axis=None)
        label = y[order // n_classes]
        losses, gradient = np.zeros(n_classes), np.zeros(p.size)
        for k in range(n_classes):
            events = order[label != k]
            local = _windows(gap[events], self.window)
            sizes = self._cluster_sizes(k, p.ravel()[events])
            weight = np.repeat(1.0 / (self.clusters * np.maximum(sizes, 1)), sizes)
            losses[k] = weight @ np.abs(local)
            gradient[events] += _windows(weight * np.sign(local), self.window)
        return float(losses.mean()), gradient.reshape(p.shape) / n_classes

    def _cluster_sizes(self, k: int, values: np.ndarray) -> np.ndarray:
        """How many of the sorted values are in each cluster, by k-means from the centres that class k had before."""
        sums = np.concatenate(([0.0], values.cumsum()))
        edges = np.linspace(0, len(values), self.clusters + 1).round().astype(int)
        if k in self.centres:
            edges[1:-1] = _borders(values, self.centres[k])
        centres = self.centres.get(k, np.zeros(self.clusters))
        for _ in range(LLOYD_STEPS):
            sizes, old = np.diff(edges), edges.copy()
            centres = np.sort(np.where(sizes > 0, np.diff(sums[edges]) / np.maximum(sizes, 1), centres))
            edges[1:-1] = _borders(values, centres)
            if np.array_equal(edges, old):
                break
        self.centres[k] = centres
        return np.diff(edges)


def _borders(values: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return np.searchsorted(values, (centres[1:] + centres[:-1]) / 2)


def _windows(values: np.ndarray, window: int) -> np.ndarray:
    """Sums of neighbours up to half a window away, with zeros beyond the ends, over the size of a window."""
    sums = np.pad(np.concatenate(([0.0], values.cumsum())), window // 2, mode="edge")
    return (sums[window // 2 * 2 + 1 :] - sums[: len(values)]) / (window + 1)


def _temperatures(x: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """The mixture of softmax(|a| x) with weights |v| / Σ|v|, and what makes derivatives by (a, v) of those by it."""
    slope, total = np.abs(at[0]), np.abs(at[1]).sum()
    weight = np.abs(at[1]) / total
    parts = np.multiply.outer(slope, x)
    np.exp(parts, out=parts)
    parts /= parts.sum(axis=2, keepdims=True)

    def slopes(gradient: np.ndarray) -> np.ndarray:
        by_row = np.einsum("mnk,nk->mn", parts, gradient)
        spread = np.einsum("mnk,nk->m", parts, gradient * x) - (by_row * np.einsum("mnk,nk->mn", parts, x)).sum(axis=1)
        each = by_row.sum(axis=1)
        return np.sign(at) * np.array([weight * spread, (each - weight @ each) / total])

    return np.tensordot(weight, parts, axes=1), slopes


class _Adam:
    def __init__(self, shape: tuple[int, ...]) -> None:
        self.steps, self.mean, self.square = 0, np.zeros(shape), np.zeros(shape)

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        self.steps += 1
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.999 * self.square + 0.001 * gradient**2
        return (self.mean / (1 - 0.9**self.steps)) / (np.sqrt(self.square / (1 - 0.999**self.steps)) + 1e-8)


class _Patience:
    """Halves the step where an error has not fallen for a while, and says when to stop."""

    def __init__(self) -> None:
        self.step_size, self.left = STEP_SIZE, STEPS_TO_STOP
        self.lowest, self.plateau, self.waited = np.inf, np.inf, 0

    def see(self, error: float) -> None:
        self.left = STEPS_TO_STOP if error < self.lowest else self.left - 1
        self.lowest = min(error, self.lowest)
        self.waited += 1
        if error < self.plateau * (1 - 1e-4):
            self.plateau, self.waited = error, 0
        if self.waited > STEPS_TO_HALVE:
            self.waited = 0
            if self.step_size / 2 > SMALLEST_HALVING:
                self.step_size /= 2


def _top_error(p: np.ndarray, y: np.ndarray) -> float:
    """The expected calibration error of the predicted class in bins of equal width."""
    top = p.max(axis=1)
    cell = np.clip(np.ceil(top * BINS).astype(int) - 1, 0, BINS - 1)
    return float(np.abs(np.bincount(cell, top - (p.argmax(axis=1) == y))).sum() / len(y))
