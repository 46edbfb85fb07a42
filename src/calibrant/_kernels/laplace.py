"""Penalised logistic fits on binomial cells along a grid of prior scales, each with its Laplace evidence."""

from __future__ import annotations

import numpy as np
from numba import njit

from calibrant._typing import Floats, Ints

MOST_STEPS = 60
DECREMENT = 1e-3  # the step that promised to gain less than half of this, in nats, is the last; then errors square
NEGLIGIBLE = 20.0  # a path ends when its evidence falls and is this many nats under the best


@njit(cache=True, nogil=True)
def evidence_grid(
    values: Floats,
    first: Ints,
    offset: Floats,
    positives: Floats,
    totals: Floats,
    line: Floats,
    rough: Floats,
    line_scales: Floats,
    rough_scales: Floats,
    coupling: float,
    log_prior: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Fit logit p = offset + basis · c for every pair of prior scales (t1, t2).

    The prior precision of c is line / (t1² + (coupling · t2)²) + rough / t2², with `line` of rank 2 and `rough`
    of rank K - 2. Gives the log evidence plus `log_prior` up to a constant (A, B), the modes (A, B, K) and the
    lower Cholesky factors of the posterior precisions (A, B, K, K). `values` and `first` hold the four B-splines
    of each cell. Each fit starts at its neighbour's; a pair that is not worth fitting has evidence -inf.
    O(A B (m + K³)) times two to five Newton steps.
    """
    size = line.shape[0]
    shape = (len(line_scales), len(rough_scales))
    evidence = np.full(shape, -np.inf)
    modes = np.zeros((shape[0], shape[1], size))
    factors = np.zeros((shape[0], shape[1], size, size))
    eta = np.empty(len(offset))
    precision = np.empty((size, size))
    best = -np.inf
    for a in range(shape[0]):
        mode = modes[max(a - 1, 0), 0].copy()
        for b in range(shape[1]):
            line_variance = line_scales[a] ** 2 + (coupling * rough_scales[b]) ** 2
            precision[:] = line / line_variance + rough / rough_scales[b] ** 2
            loss = _newton(values, first, offset, positives, totals, precision, mode, factors[a, b], eta)
            modes[a, b] = mode
            half_log_det = 0.0
            for i in range(size):
                half_log_det += np.log(factors[a, b, i, i])
            # ½ ln |prior precision| = const - ln(line variance) - (K - 2) ln t2
            prior_part = np.log(line_variance) + (size - 2) * np.log(rough_scales[b])
            evidence[a, b] = log_prior[a, b] - loss - half_log_det - prior_part
            best = max(best, evidence[a, b])
            if b > 0 and evidence[a, b] < evidence[a, b - 1] and evidence[a, b] < best - NEGLIGIBLE:
                break
    return evidence, modes, factors


@njit(cache=True, nogil=True)
def _newton(
    values: Floats,
    first: Ints,
    offset: Floats,
    positives: Floats,
    totals: Floats,
    precision: Floats,
    mode: Floats,
    factor: Floats,
    eta: Floats,
) -> float:
    """Move `mode` to the minimum; leave the Hessian's Cholesky factor in `factor`; return the loss there."""
    loss = _loss(mode, values, first, offset, positives, totals, precision, eta)
    for _ in range(MOST_STEPS):
        gradient = precision @ mode
        factor[:] = precision
        _add_likelihood(values, first, positives, totals, eta, gradient, factor)
        _cholesky(factor)
        step = gradient.copy()
        _solve(factor, step)
        decrement = np.dot(step, gradient)
        length = 1.0
        trial = mode - step
        loss_there = _loss(trial, values, first, offset, positives, totals, precision, eta)
        while loss_there > loss and length > 1e-6:
            length *= 0.5
            trial = mode - length * step
            loss_there = _loss(trial, values, first, offset, positives, totals, precision, eta)
        mode[:] = trial
        loss = loss_there
        if decrement < DECREMENT:
            break
    return loss


@njit(cache=True, nogil=True)
def _loss(
    c: Floats,
    values: Floats,
    first: Ints,
    offset: Floats,
    positives: Floats,
    totals: Floats,
    precision: Floats,
    eta: Floats,
) -> float:
    total: float = 0.5 * np.dot(c, precision @ c)
    for i in range(len(offset)):
        j = first[i]
        h = (
            offset[i]
            + values[i, 0] * c[j]
            + values[i, 1] * c[j + 1]
            + values[i, 2] * c[j + 2]
            + values[i, 3] * c[j + 3]
        )
        eta[i] = h
        total += totals[i] * (max(h, 0.0) + np.log1p(np.exp(-abs(h)))) - positives[i] * h
    return total


@njit(cache=True, nogil=True)
def _add_likelihood(
    values: Floats, first: Ints, positives: Floats, totals: Floats, eta: Floats, gradient: Floats, hessian: Floats
) -> None:
    """Add the binomial likelihood's gradient and (lower triangle of the) Hessian, both banded."""
    for i in range(len(eta)):
        small = np.exp(-abs(eta[i]))
        p = (1.0 if eta[i] >= 0.0 else small) / (1.0 + small)
        weight = totals[i] * small / (1.0 + small) ** 2
        residual = totals[i] * p - positives[i]
        for a in range(4):
            row = first[i] + a
            gradient[row] += residual * values[i, a]
            scaled = weight * values[i, a]
            for b in range(a + 1):
                hessian[row, first[i] + b] += scaled * values[i, b]


@njit(cache=True, nogil=True)
def _cholesky(matrix: Floats) -> None:
    """Replace the lower triangle by its Cholesky factor; the upper one is not read."""
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = np.sqrt(total) if i == j else total / matrix[j, j]


@njit(cache=True, nogil=True)
def _solve(factor: Floats, b: Floats) -> None:
    """Replace b by the solution x of (L Lᵀ) x = b."""
    size = len(b)
    for i in range(size):
        for k in range(i):
            b[i] -= factor[i, k] * b[k]
        b[i] /= factor[i, i]
    for i in range(size - 1, -1, -1):
        b[i] /= factor[i, i]
        for k in range(i):
            b[k] -= factor[i, k] * b[i]


@njit(cache=True, nogil=True)
def inverses(factors: Floats) -> Floats:
    """The inverse R of each lower Cholesky factor, (C, K, K): the covariance is RᵀR. O(C K³)."""
    out = np.zeros_like(factors)
    size = factors.shape[1]
    for c in range(len(factors)):
        for j in range(size):
            out[c, j, j] = 1.0 / factors[c, j, j]
            for i in range(j + 1, size):
                total = 0.0
                for k in range(j, i):
                    total -= factors[c, i, k] * out[c, k, j]
                out[c, i, j] = total / factors[c, i, i]
    return out
