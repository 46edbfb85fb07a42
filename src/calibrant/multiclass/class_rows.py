"""Bias and slope of each class for very many scores: the rest of the logits is held as an offset, all in float32.

It stands in for `Rows` where features of all blocks would take too much memory: the curvature is one 2 × 2 block for
each class. A pass is O(n K).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from calibrant._typing import Floats, Ints
from calibrant.multiclass.curvature import Arrow
from calibrant.multiclass.features import Features
from calibrant.multiclass.rows import Layout

CHUNK_ENTRIES = 2_000_000  # stays near the cache, and the temporary arrays small
BLOCKS = ("bias", "vector")


class ClassRows:
    """Rows whose logits are offset + bias_k + vector_k · scaled, as far as `laplace.fit` asks of `Rows`."""

    def __init__(
        self, features: Features, ell: np.ndarray[Any, Any], offset: np.ndarray[Any, Any], y: Ints, weights: Floats
    ) -> None:
        self.ell, self.offset, self.y, self.weights = ell, offset, y, weights
        self.layout = Layout.of(features, BLOCKS, ell.shape[1])
        self._low, self._high = np.float32(features.low), np.float32(features.high)
        self._center, self._spread = features.center.astype(np.float32), np.float32(features.spread)

    def _chunks(self) -> Iterator[tuple[slice, np.ndarray[Any, Any]]]:
        step = max(1, CHUNK_ENTRIES // self.ell.shape[1])
        for start in range(0, len(self.ell), step):
            rows = slice(start, start + step)
            scaled = np.clip(self.ell[rows], self._low, self._high)
            scaled -= self._center
            scaled /= self._spread
            yield rows, scaled

    def log_probabilities(self, theta: Floats) -> np.ndarray[Any, Any]:
        """Logarithms of the class probabilities at θ, (n, K) in float32."""
        bias, vector = theta.reshape(-1, 2).T.astype(np.float32)
        out = np.empty_like(self.offset)
        for rows, scaled in self._chunks():
            z = out[rows]
            np.multiply(scaled, vector, out=z)
            z += bias
            z += self.offset[rows]
            z -= z.max(axis=1, keepdims=True)
            z -= np.log(np.exp(z).sum(axis=1, dtype=np.float64, keepdims=True)).astype(np.float32)
        return out

    def log_likelihood(self, log_p: np.ndarray[Any, Any]) -> float:
        """Σ weights log p of the labels."""
        return float(self.weights @ log_p[np.arange(len(self.y)), self.y].astype(np.float64))

    def gradient(self, p: np.ndarray[Any, Any]) -> Floats:
        """Of the log-likelihood where the class probabilities are p."""
        out = np.zeros((self.ell.shape[1], 2))
        for rows, scaled in self._chunks():
            w, y = self.weights[rows].astype(np.float32), self.y[rows]
            out[:, 0] -= w @ p[rows]
            out[:, 1] -= np.einsum("i,ik,ik->k", w, p[rows], scaled)
            np.add.at(out[:, 0], y, w)
            np.add.at(out[:, 1], y, w * scaled[np.arange(len(y)), y])
        return out.ravel()

    def second_derivatives(self, p: np.ndarray[Any, Any]) -> Arrow:
        """An arrow that has nothing shared."""
        own = self.blocks(p)
        return Arrow(np.zeros((0, 0)), np.zeros((len(own), 0, 2)), own)

    def blocks(self, p: np.ndarray[Any, Any]) -> Floats:
        """The curvature (K, 2, 2) of each class by itself."""
        own = np.zeros((self.ell.shape[1], 2, 2))
        for rows, scaled in self._chunks():
            mass = p[rows] * (1.0 - p[rows])
            mass *= self.weights[rows, None].astype(np.float32)
            own[:, 0, 0] += mass.sum(axis=0)
            mass *= scaled
            own[:, 0, 1] += mass.sum(axis=0)
            mass *= scaled
            own[:, 1, 1] += mass.sum(axis=0)
        own[:, 1, 0] = own[:, 0, 1]
        return own
