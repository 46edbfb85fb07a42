"""Piecewise linear curves with a Gaussian prior on their bends, written as sums of a few functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from calibrant._typing import ArrayLike, Floats

LEAST_GAP = 1e-3  # knots that are closer than this become one


@dataclass(frozen=True)
class Curve:
    """Functions that are straight between knots and constant beyond them.

    With independent N(0, 1) coefficients their sum has Gaussian second differences, no constant and no line, and unit
    variance on average over the knots: a scale in front of it is the typical height of the curve.
    """

    knots: Floats
    values: Floats  # (knots, functions)

    @classmethod
    def over(cls, knots: ArrayLike) -> Self:
        """The curves over these knots. O(knots³)."""
        apart = separate(np.asarray(knots, dtype=np.float64))
        m = len(apart)
        if m < 3:
            return cls(apart, np.zeros((m, 0)))
        bend = _bends(apart)
        line = np.linalg.qr(np.column_stack((np.ones(m), apart - apart.mean())))[0]
        root = bend.T @ np.linalg.inv(bend @ bend.T)  # a square root of the penalty's pseudo-inverse
        root -= line @ (line.T @ root)
        root /= np.sqrt((root**2).sum(axis=1).mean())
        left, size, _ = np.linalg.svd(root, full_matrices=False)
        return cls(apart, left * size)

    def with_line(self, share: float = 0.5) -> Curve:
        """The same, `share` as high, with a standardised line in front."""
        if len(self.knots) < 2:
            return self
        line = (self.knots - self.knots.mean()) / self.knots.std()
        return Curve(self.knots, np.column_stack((line, share * self.values)))

    @property
    def size(self) -> int:
        """How many functions there are."""
        return int(self.values.shape[1])

    def __call__(self, x: Floats) -> Floats:
        """The functions at x, (functions, ...), in the precision of x."""
        if len(self.knots) < 2 or not self.size:
            return np.zeros((self.size, *x.shape), dtype=x.dtype)
        knots, values = self.knots.astype(x.dtype), self.values.T.astype(x.dtype)
        cell = np.clip(np.searchsorted(knots, x) - 1, 0, len(knots) - 2)
        share = np.clip((x - knots[cell]) / np.diff(knots)[cell], 0.0, 1.0)
        out: Floats = np.take(np.diff(values), cell, axis=1)
        out *= share
        out += np.take(values, cell, axis=1)
        return out


def _bends(knots: Floats) -> Floats:
    """Second divided differences, each weighted by the stretch that it stands for, (knots − 2, knots)."""
    gap = np.diff(knots)
    before, after = gap[:-1], gap[1:]
    weight = 1.0 / np.sqrt(0.5 * (before + after))
    out = np.zeros((len(knots) - 2, len(knots)))
    at = np.arange(len(knots) - 2)
    out[at, at] = weight / before
    out[at, at + 1] = -weight * (1.0 / before + 1.0 / after)
    out[at, at + 2] = weight / after
    return out


def separate(knots: Floats) -> Floats:
    """Rising knots without those that nearly repeat the one before."""
    kept = [knots[0]]
    for knot in knots[1:]:
        if knot - kept[-1] > LEAST_GAP:
            kept.append(knot)
    return np.array(kept)


def weighted_quantiles(x: Floats, weights: Floats, at: ArrayLike) -> Floats:
    """The smallest values with at least these shares of the weight at or below them. O(n log n).

    A value of weight 2 counts exactly like two values.
    """
    order = np.argsort(x)
    below = np.cumsum(weights[order])
    place = np.searchsorted(below, np.asarray(at) * below[-1])
    out: Floats = x[order][np.minimum(place, len(x) - 1)]
    return out
