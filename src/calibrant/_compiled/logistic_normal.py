"""Mixtures of Gaussian curves on the logit scale: their moments, and the mean of expit of them."""

import math

import numpy as np

from calibrant._compiled import fast_math
from calibrant._typing import Floats, Ints

try:
    import cython
except ImportError:
    from calibrant._compiled import fallback as cython

_SMALLEST = 1e-300  # logits beyond ±690 are as good as infinite


def curve_moments(
    values: Floats, first: Ints, beyond: Floats, slope: Floats, modes: Floats, roots: Floats
) -> tuple[Floats, Floats]:
    """Mean and standard deviation, (C, n) each, of basis · c for c ~ N(modes[k], roots[k]ᵀ roots[k]).

    The roots are lower triangles. A point's basis is its four B-splines, `values` from number `first` on, plus
    `beyond` times the row `slope`. Four B-splines need one 4 × 4 block of the covariance. O(C (n + K³)).
    """
    size, n = len(slope), len(first)
    means, spreads = np.empty((len(modes), n)), np.empty((len(modes), n))
    covariance, along = np.empty((size, size)), np.empty(size)
    with cython.nogil:
        for c in range(len(modes)):
            _covariance(roots, c, covariance)
            along_mean, along_variance = 0.0, 0.0
            for i in range(size):
                along[i] = 0.0
                for j in range(size):
                    along[i] += covariance[i, j] * slope[j]
                along_mean += modes[c, i] * slope[i]
                along_variance += along[i] * slope[i]
            for i in range(n):
                mean, variance = beyond[i] * along_mean, beyond[i] * beyond[i] * along_variance
                for a in range(4):
                    row = first[i] + a
                    mean += values[i, a] * modes[c, row]
                    inner = 2.0 * beyond[i] * along[row]
                    for b in range(4):
                        inner += values[i, b] * covariance[row, first[i] + b]
                    variance += values[i, a] * inner
                means[c, i], spreads[c, i] = mean, math.sqrt(max(variance, 0.0))
    return np.asarray(means), np.asarray(spreads)


def _covariance(roots: Floats, c: int, out: Floats) -> None:
    """RᵀR of the lower triangle R = roots[c]."""
    size = len(out)
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, size):
                total += roots[c, k, i] * roots[c, k, j]
            out[i, j] = total
            out[j, i] = total


def _rules() -> tuple[Floats, Floats]:
    nodes, shares = np.zeros((3, 15)), np.zeros((3, 15))
    for row, count in enumerate((3, 7, 15)):
        x, w = np.polynomial.hermite_e.hermegauss(count)
        nodes[row, :count], shares[row, :count] = x, w / w.sum()
    return nodes, shares


_RULES = _rules()


def mean_logit(weights: Floats, means: Floats, spreads: Floats) -> Floats:
    """The logit of E[expit(η)] at each of n points, η ~ Σ weights[c] N(means[c, i], spreads[c, i]²).

    Gauss-Hermite quadrature, with more nodes where a component is wide. O(C n).
    """
    nodes, shares = _RULES
    out = np.empty(means.shape[1])
    with cython.nogil:
        for i in range(means.shape[1]):
            p, q = 0.0, 0.0  # both, because 1 - p loses its digits near p = 1
            for c in range(len(weights)):
                row, count = 2, 15
                if spreads[c, i] < 0.7:
                    row, count = (0, 3) if spreads[c, i] < 0.1 else (1, 7)
                for k in range(count):
                    eta = means[c, i] + nodes[row, k] * spreads[c, i]
                    small = fast_math.exp(-abs(eta))
                    larger = weights[c] * shares[row, k] / (1.0 + small)
                    p += larger if eta >= 0.0 else larger * small
                    q += larger * small if eta >= 0.0 else larger
            out[i] = math.log(max(p, _SMALLEST)) - math.log(max(q, _SMALLEST))
    return np.asarray(out)
