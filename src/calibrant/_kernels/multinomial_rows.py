"""The multinomial likelihood of rows whose logits are linear in features of each class: values and derivatives.

Row i has the logits z_ik = offset_ik + V_ik · θ[places of class k]. Coefficients come in blocks: shared by all classes,
one set for each class, and a row of each matrix. A pass costs O(n K M), the curvature O(n K M² + n D²).
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np

from calibrant._kernels.class_features import OWN, PAIRS, SHARED, Features, log_softmax
from calibrant._kernels.multinomial_curvature import Arrow, Curvature, Dense
from calibrant._typing import Floats, Ints

KEPT_VALUES = 60_000_000  # features held in memory (480 MB); beyond, they are computed again in each pass
DENSE_UP_TO = 1500  # coefficients; beyond, curvature between different classes (−p_k p_l, small) is left out
CACHED_ROWS = 1024  # a block of rows that stays in the processor's cache


@dataclass(frozen=True)
class Layout:
    """Which coefficient belongs to which block: shared ones first, then class by class, then matrix rows."""

    blocks: tuple[str, ...]
    n_classes: int
    n_shared: int
    n_own: int
    group: np.ndarray  # the name of each coefficient's block

    @classmethod
    def of(cls, features: Features, blocks: tuple[str, ...], n_classes: int) -> Self:
        """The layout of these blocks."""
        sizes = features.sizes(blocks)
        shared = [b for b in SHARED if b in blocks for _ in range(sizes[b])]
        own = [b for b in OWN if b in blocks for _ in range(sizes[b])]
        pairs = [b for b in PAIRS if b in blocks for _ in range(n_classes - 1)]
        return cls(blocks, n_classes, len(shared), len(own), np.array(shared + own * n_classes + pairs * n_classes))

    def __len__(self) -> int:
        return len(self.group)

    def ranges(self, k: int) -> tuple[slice, slice, slice]:
        """Where the coefficients of class k are: shared, own, and its rows of the matrices."""
        own = self.n_shared + k * self.n_own
        width = (self.n_classes - 1) * sum(b in self.blocks for b in PAIRS)
        row = self.n_shared + self.n_classes * self.n_own + k * width
        return slice(0, self.n_shared), slice(own, own + self.n_own), slice(row, row + width)

    def places(self, k: int) -> Ints:
        """The same as numbers."""
        return np.concatenate([np.arange(part.start, part.stop) for part in self.ranges(k)])

    def members(self) -> dict[str, Ints]:
        """The places of each block that has coefficients."""
        return {b: np.flatnonzero(self.group == b) for b in self.blocks if (self.group == b).any()}


class Rows:
    """Log-probabilities to start from, labels and weights, with the features of each class."""

    def __init__(self, features: Features, ell: Floats, y: Ints, weights: Floats, blocks: tuple[str, ...]) -> None:
        self.features, self.ell, self.y, self.weights = features, ell, y, weights
        n, n_classes = ell.shape
        self.layout = Layout.of(features, blocks, n_classes)
        self.places = [self.layout.places(k) for k in range(n_classes)]
        values = n_classes * len(self.places[0])
        self._step = max(64, min(n, KEPT_VALUES // max(values, 1)))
        self._kept = list(self._chunk(slice(0, n))) if self._step >= n else None

    def restricted(self, blocks: tuple[str, ...]) -> Rows:
        """The same rows with some of the blocks, whose features are not computed again."""
        if blocks == self.layout.blocks:
            return self
        if self._kept is None:
            return Rows(self.features, self.ell, self.y, self.weights, blocks)
        out = copy(self)
        out.layout = Layout.of(self.features, blocks, self.layout.n_classes)
        out.places = [out.layout.places(k) for k in range(self.layout.n_classes)]
        held = np.flatnonzero(np.isin(self.layout.group[self.places[0]], blocks))
        out._kept = [features[:, held] for features in self._kept]
        return out

    def _chunk(self, rows: slice) -> Iterator[Floats]:
        ell, blocks = self.ell[rows], self.layout.blocks
        common = self.features.of_rows(ell)
        return (self.features.of_class(ell, k, blocks, common) for k in range(self.layout.n_classes))

    def chunks(self) -> Iterator[tuple[slice, Iterator[Floats] | list[Floats]]]:
        """Slices of rows with the features (rows, M) of one class after the other."""
        step = self._step if self._kept is None else CACHED_ROWS
        for start in range(0, len(self.ell), step):
            rows = slice(start, start + step)
            yield rows, self._chunk(rows) if self._kept is None else [features[rows] for features in self._kept]

    def log_probabilities(self, theta: Floats) -> Floats:
        """Logarithms of the class probabilities at θ, (n, K)."""
        out = np.empty_like(self.ell)
        for rows, classes in self.chunks():
            z = out[rows]
            for k, features in enumerate(classes):
                z[:, k] = features @ theta[self.places[k]]
            z += self.ell[rows]
            out[rows] = log_softmax(z)
        return out

    def log_likelihood(self, log_p: Floats) -> float:
        """Σ weights log p of the labels."""
        return float(self.weights @ log_p[np.arange(len(self.y)), self.y])

    def average(self, thetas: Floats) -> tuple[float, Floats]:
        """The mean log-likelihood over several θ, (draws, D), and the averaged probabilities, (n, K)."""
        total, out = 0.0, np.empty_like(self.ell)
        for rows, classes in self.chunks():
            ell, y = self.ell[rows], self.y[rows]
            z = np.empty((ell.shape[1], len(ell), len(thetas)))
            for k, features in enumerate(classes):
                z[k] = features @ thetas[:, self.places[k]].T + ell[:, k, None]
            z -= z.max(axis=0)
            own = z[y, np.arange(len(y))]
            p = np.exp(z, out=z)
            mass = p.sum(axis=0)
            total += float(self.weights[rows] @ (own - np.log(mass)).mean(axis=1))
            p /= mass
            out[rows] = p.mean(axis=2).T
        return total, out

    def gradient(self, p: Floats) -> Floats:
        """Of the log-likelihood where the class probabilities are p: Σ_k V_kᵀ weights (1[y = k] − p_k)."""
        residual = -self.weights[:, None] * p
        residual[np.arange(len(self.y)), self.y] += self.weights
        out = np.zeros(len(self.layout))
        for rows, classes in self.chunks():
            for k, features in enumerate(classes):
                out[self.places[k]] += residual[rows, k] @ features
        return out

    def second_derivatives(self, p: Floats) -> Curvature:
        """Minus those of the log-likelihood, as one matrix or, for very many coefficients, as an arrow."""
        if len(self.layout) <= DENSE_UP_TO or any(b in self.layout.blocks for b in PAIRS):
            return Dense(self.curvature(p))
        return Arrow(*self.arrow(p))

    def curvature(self, p: Floats) -> Floats:
        """Minus the second derivatives: Σ_k V_kᵀ diag(w p_k) V_k − Gᵀ diag(w) G with G = Σ_k diag(p_k) V_k, (D, D)."""
        size = len(self.layout)
        out = np.zeros((size, size))
        for rows, classes in self.chunks():
            q, w = p[rows], self.weights[rows, None]
            mean = np.zeros((size, len(q))).T  # columns lie together
            for k, features in enumerate(classes):
                at, weighted = self.places[k], q[:, k, None] * features
                out[at[:, None], at] += features.T @ (w * weighted)
                self._place(weighted, k, mean)
            mean *= np.sqrt(w)
            out -= mean.T @ mean
        return out

    def _place(self, values: Floats, k: int, out: Floats) -> None:
        """Add the columns of class k to those of all coefficients; only shared ones have been written before."""
        start = 0
        for number, part in enumerate(self.layout.ranges(k)):
            columns = values[:, start : start + part.stop - part.start]
            out[:, part] = out[:, part] + columns if number == 0 else columns
            start += columns.shape[1]

    def arrow(self, p: Floats) -> tuple[Floats, Floats, Floats]:
        """The same without what links classes: shared (S, S), shared with class (K, S, C), class (K, C, C)."""
        layout = self.layout
        s, c, n_classes = layout.n_shared, layout.n_own, layout.n_classes
        shared, link, own = np.zeros((s, s)), np.zeros((n_classes, s, c)), np.zeros((n_classes, c, c))
        for rows, classes in self.chunks():
            q, w, columns = p[rows], self.weights[rows, None], list(classes)
            mean = np.zeros((len(q), s))
            for k, features in enumerate(columns):
                mean += q[:, k, None] * features[:, :s]
            shared -= mean.T @ (w * mean)
            for k, features in enumerate(columns):
                first, last, weight = features[:, :s], features[:, s:], w * q[:, k, None]
                shared += first.T @ (weight * first)
                link[k] += (first - mean).T @ (weight * last)
                own[k] += last.T @ (weight * (1.0 - q[:, k, None]) * last)
        return shared, link, own
