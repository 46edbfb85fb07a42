"""The multinomial likelihood of rows whose logits are linear in features of each class: values and derivatives.

Row i has the logits z_ik = ℓ_ik + V_ik · θ[places of class k]. Coefficients come in blocks: shared by all classes,
one set for each class, and a row of each matrix. A pass costs O(n K M), the curvature O(n K M² + n D²).
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from calibrant._typing import Floats, Ints
from calibrant.multiclass.curvature import Arrow, Curvature, Dense
from calibrant.multiclass.features import OWN, PAIRS, SHARED, Features, repeated_entries

KEPT_VALUES = 60_000_000  # features held in memory (480 MB); beyond, they are computed again in each pass,
PASS_VALUES = 8_000_000  # so many at a time
DENSE_UP_TO = 1500  # coefficients; beyond, curvature between different classes (−p_k p_l, small) is left out
BLOCK_ROWS = 8192  # so many that a pass over the classes is arithmetic rather than calls
DOUBLE_UP_TO = 60_000  # entries of the score matrix; features of more are held in single precision


@dataclass(frozen=True)
class Layout:
    """Which coefficient belongs to which block: shared ones first, then class by class."""

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
        return cls(blocks, n_classes, len(shared), len(own), np.array(shared + own * n_classes))

    def __len__(self) -> int:
        return len(self.group)

    def places(self, k: int) -> Ints:
        """Where the coefficients of class k are: shared, and its own."""
        own = self.n_shared + k * self.n_own
        return np.r_[: self.n_shared, own : own + self.n_own]

    @cached_property
    def members(self) -> dict[str, Ints]:
        """The places of each block that has coefficients."""
        return {b: np.flatnonzero(self.group == b) for b in self.blocks if (self.group == b).any()}


class Rows:
    """Log-probabilities to start from, labels and weights, with the features of each class, (M, n).

    Where other terms are held fixed, `offset` is the log-probabilities with them, and curvature is an arrow.
    """

    def __init__(
        self,
        features: Features,
        ell: np.ndarray[Any, Any],
        y: Ints,
        weights: Floats,
        blocks: tuple[str, ...],
        offset: np.ndarray[Any, Any] | None = None,
    ) -> None:
        self.features, self.y, self.weights = features, y, weights
        n, n_classes = ell.shape
        single = repeated_entries(weights, n_classes) > DOUBLE_UP_TO
        # Class by class in memory, as are all arrays made like it, since every pass goes through classes.
        self.ell = ell.astype(np.float32 if single else ell.dtype, order="F", copy=False)
        self.offset = self.ell if offset is None else offset
        self.layout = Layout.of(features, blocks, n_classes)
        self.places = [self.layout.places(k) for k in range(n_classes)]
        values = n_classes * len(self.places[0])
        self._step = max(64, PASS_VALUES // max(values, 1))
        self._kept = list(self._chunk(slice(0, n))) if n * values <= KEPT_VALUES else None

    def restricted(self, blocks: tuple[str, ...]) -> Rows:
        """The same rows with some of the blocks, whose features are not computed again."""
        if blocks == self.layout.blocks:
            return self
        if self._kept is None:
            return Rows(self.features, self.ell, self.y, self.weights, blocks)
        out = copy(self)
        out.layout = Layout.of(self.features, blocks, self.layout.n_classes)
        out.places = [out.layout.places(k) for k in range(self.layout.n_classes)]
        # Every class has the blocks in the same order, so what holds for the lines of class 0 holds for all.
        held = np.isin(self.layout.group[self.places[0]], blocks)
        out._kept = [features[held] for features in self._kept]
        return out

    def _chunk(self, rows: slice) -> Iterator[Floats]:
        ell, blocks = self.ell[rows], self.layout.blocks
        common = self.features.of_rows(ell, blocks)
        return (self.features.of_class(ell, k, blocks, common) for k in range(self.layout.n_classes))

    def chunks(self) -> Iterator[tuple[slice, Iterator[Floats] | list[Floats]]]:
        """Slices of rows with the features (M, rows) of one class after the other."""
        step = self._step if self._kept is None else BLOCK_ROWS
        for start in range(0, len(self.ell), step):
            rows = slice(start, start + step)
            yield rows, self._chunk(rows) if self._kept is None else [features[:, rows] for features in self._kept]

    def log_probabilities(self, theta: Floats) -> Floats:
        """Logarithms of the class probabilities at θ, (n, K)."""
        out, theta = np.empty_like(self.ell), theta.astype(self.ell.dtype)
        for rows, classes in self.chunks():
            z = self.offset[rows].T.copy()
            for k, features in enumerate(classes):
                z[k] += theta[self.places[k]] @ features
            z -= z.max(axis=0)
            z -= np.log(np.exp(z).sum(axis=0))
            out[rows] = z.T
        return out

    def log_likelihood(self, log_p: Floats) -> float:
        """Σ weights log p of the labels."""
        return float(self.weights @ log_p[np.arange(len(self.y)), self.y])

    def average(self, thetas: Floats) -> tuple[float, Floats]:
        """The mean log-likelihood over several θ, (draws, D), and the averaged probabilities, (n, K)."""
        total, out = 0.0, np.empty_like(self.ell)
        for rows, classes in self.chunks():
            ell, y = self.offset[rows], self.y[rows]
            z = np.empty((ell.shape[1], len(thetas), len(ell)))
            for k, features in enumerate(classes):
                z[k] = thetas[:, self.places[k]] @ features + ell[:, k]
            z -= z.max(axis=0)
            own = z[y, :, np.arange(len(y))].T
            p = np.exp(z, out=z)
            mass = p.sum(axis=0)
            total += float((own - np.log(mass)).mean(axis=0) @ self.weights[rows])
            p /= mass
            out[rows] = p.mean(axis=1).T
        return total, out

    def gradient(self, p: Floats) -> Floats:
        """Of the log-likelihood where the class probabilities are p: Σ_k V_k weights (1[y = k] − p_k)."""
        out = np.zeros(len(self.layout))
        for rows, classes in self.chunks():
            w, y = self.weights[rows].astype(p.dtype), self.y[rows]
            residual = -w * p[rows].T
            residual[y, np.arange(len(y))] += w
            for k, features in enumerate(classes):
                out[self.places[k]] += features @ residual[k]
        return out

    def second_derivatives(self, p: Floats) -> Curvature:
        """Minus those of the log-likelihood, as one matrix or, for very many coefficients, as an arrow."""
        small, blocks = len(self.layout) <= DENSE_UP_TO and self.offset is self.ell, self.layout.blocks
        if small or (any(b in blocks for b in PAIRS) and "joint" not in blocks):
            return Dense(self.curvature(p))
        shared, link, own = self.arrow(p)
        # Of few classes p_k p_l is not small: without it, with all that classes share, the arrow need not be positive.
        return Arrow(shared, link * ("joint" not in blocks), own)

    def curvature(self, p: Floats) -> Floats:
        """Minus the second derivatives: Σ_k V_k diag(w p_k) V_kᵀ − G diag(w) Gᵀ with G = Σ_k V_k diag(p_k), (D, D)."""
        size, n_shared, width = len(self.layout), self.layout.n_shared, len(self.places[0])
        out, own = np.zeros((size, size)), np.zeros((self.layout.n_classes, width, width))
        # The first sum has a block of (M, M) for each class, whose coefficients lie in different places of the whole
        # matrix: it is gathered class by class and put in place at the end. The second runs over rows, with the mean
        # features of each row (over its class probabilities) written out for all D coefficients.
        for rows, classes in self.chunks():
            w = self.weights[rows].astype(p.dtype)
            mass = w * p[rows].T
            mean = np.zeros((size, len(w)), dtype=p.dtype)
            apart = mean[n_shared:].reshape(self.layout.n_classes, self.layout.n_own, len(w))
            for k, features in enumerate(classes):
                weighted = mass[k] * features
                own[k] += weighted @ features.T
                mean[:n_shared] += weighted[:n_shared]
                apart[k] = weighted[n_shared:]
            mean /= np.sqrt(w)  # it holds w times the mean: its square divided by w is w times the mean's square
            out -= mean @ mean.T
        for places, block in zip(self.places, own, strict=True):
            out[places[:, None], places] += block
        return out

    def arrow(self, p: Floats) -> tuple[Floats, Floats, Floats]:
        """The same without what links classes: shared (S, S), shared with class (K, S, C), class (K, C, C)."""
        layout = self.layout
        s, c, n_classes = layout.n_shared, layout.n_own, layout.n_classes
        shared, link, own = np.zeros((s, s)), np.zeros((n_classes, s, c)), np.zeros((n_classes, c, c))
        for rows, classes in self.chunks():
            q, w, lines = p[rows].T, self.weights[rows].astype(p.dtype), list(classes)
            mean = np.zeros((s, len(w)), dtype=p.dtype)
            for k, features in enumerate(lines):
                mean += q[k] * features[:s]
            shared -= mean @ (w * mean).T
            for k, features in enumerate(lines):
                # Σ p (v − mean)(v − mean)' for what classes share; for a class's own features, which are 0 for all
                # other classes, the mean is p times them, hence p (1 − p).
                first, last, weight = features[:s], features[s:], w * q[k]
                shared += first @ (weight * first).T
                link[k] += (first - mean) @ (weight * last).T
                own[k] += last @ (weight * (1.0 - q[k]) * last).T
        return shared, link, own
