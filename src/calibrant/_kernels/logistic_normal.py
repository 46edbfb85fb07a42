"""Mixtures of Gaussian curves on the logit scale: their moments, and the mean of expit of them."""

from __future__ import annotations

import numpy as np

from calibrant._kernels.compiling import njit
from calibrant._typing import Floats, Ints

SMALLEST = 1e-300  # logits beyond ±690 are as good as infinite


@njit(cache=True, nogil=True)
def curve_moments(
    values: Floats, first: Ints, beyond: Floats, slope: Floats, modes: Floats, roots: Floats
) -> tuple[Floats, Floats]:
    """Mean and standard deviation, (C, n) each, of basis · c for c ~ N(modes[k], roots[k]ᵀ roots[k]).

    The roots are lower triangles. A point's basis is its four B-splines, `values` from number `first` on, plus
    `beyond` times the row `slope`. Four B-splines need one 4 × 4 block of the covariance. O(C (n + K³)).
    """
    shape = (len(modes), len(first))
    size = len(slope)
    means, spreads = np.empty(shape), np.empty(shape)
    covariance, along = np.empty((size, size)), np.empty(size)
    for c in range(shape[0]):
        along_mean, along_variance = 0.0, 0.0
        for i in range(size):
            along[i] = 0.0
            for j in range(size):
                total = 0.0
                for k in range(max(i, j), size):  # roots are lower triangles
                    total += roots[c, k, i] * roots[c, k, j]
                covariance[i, j] = total
                along[i] += total * slope[j]
            along_mean += modes[c, i] * slope[i]
            along_variance += along[i] * slope[i]
        for i in range(shape[1]):
            mean, variance = beyond[i] * along_mean, beyond[i] ** 2 * along_variance
            for a in range(values.shape[1]):
                row = first[i] + a
                mean += values[i, a] * modes[c, row]
                inner = 2.0 * beyond[i] * along[row]
                for b in range(values.shape[1]):
                    inner += values[i, b] * covariance[row, first[i] + b]
                variance += values[i, a] * inner
            means[c, i], spreads[c, i] = mean, np.sqrt(max(variance, 0.0))
    return means, spreads


def mean_logit(weights: Floats, means: Floats, spreads: Floats) -> Floats:
    """The logit of E[expit(η)] at each of n points, η ~ Σ weights[c] N(means[c, i], spreads[c, i]²).

    Gauss-Hermite quadrature, with more nodes where a component is wide. O(C n).
    """
    return _mean_logit(weights, means, spreads, *_RULES)


def _rules() -> tuple[Floats, Floats]:
    nodes, shares = np.zeros((3, 15)), np.zeros((3, 15))
    for row, count in enumerate((3, 7, 15)):
        x, w = np.polynomial.hermite_e.hermegauss(count)
        nodes[row, :count], shares[row, :count] = x, w / w.sum()
    return nodes, shares


_RULES = _rules()


@njit(cache=True, nogil=True)
def _mean_logit(weights: Floats, means: Floats, spreads: Floats, nodes: Floats, shares: Floats) -> Floats:
    out = np.empty(means.shape[1])
    for i in range(means.shape[1]):
        p, q = 0.0, 0.0  # both, because 1 - p loses its digits near p = 1
        for c in range(len(weights)):
            row = 0 if spreads[c, i] < 0.1 else (1 if spreads[c, i] < 0.7 else 2)
            for k in range((3, 7, 15)[row]):
                eta = means[c, i] + nodes[row, k] * spreads[c, i]
                small = np.exp(-abs(eta))
                larger = weights[c] * shares[row, k] / (1.0 + small)
                p += larger if eta >= 0.0 else larger * small
                q += larger * small if eta >= 0.0 else larger
        out[i] = np.log(max(p, SMALLEST)) - np.log(max(q, SMALLEST))
    return out
