"""Penalised logistic fits on binomial cells along a grid of prior scales, each with its Laplace evidence."""

from __future__ import annotations

import numpy as np

from calibrant._kernels.compiling import njit
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
    mode = np.empty(size)
    work = np.empty((3, size))
    best = -np.inf
    for a in range(shape[0]):
        for i in range(size):
            mode[i] = modes[max(a - 1, 0), 0, i]
        for b in range(shape[1]):
            line_variance = line_scales[a] ** 2 + (coupling * rough_scales[b]) ** 2
            rough_variance = rough_scales[b] ** 2
            for i in range(size):
                for j in range(size):
                    precision[i, j] = line[i, j] / line_variance + rough[i, j] / rough_variance
            loss = _newton(values, first, offset, positives, totals, precision, mode, factors[a, b], eta, work)
            for i in range(size):
                modes[a, b, i] = mode[i]
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
    work: Floats,
) -> float:
    """Move `mode` to the minimum; leave the Hessian's Cholesky factor in `factor`; return the loss there."""
    gradient, step, trial = work[0], work[1], work[2]
    size = len(mode)
    loss = _loss(mode, values, first, offset, positives, totals, precision, eta)
    for _ in range(MOST_STEPS):
        for i in range(size):
            gradient[i] = 0.0
            for j in range(size):
                factor[i, j] = precision[i, j]
                gradient[i] += precision[i, j] * mode[j]
        _add_likelihood(values, first, positives, totals, eta, gradient, factor)
        _cholesky(factor)
        for i in range(size):
            step[i] = gradient[i]
        _solve(factor, step)
        decrement = 0.0
        for i in range(size):
            decrement += step[i] * gradient[i]
        length = 2.0
        loss_there = np.inf
        while loss_there > loss and length > 1e-6:
            length *= 0.5
            for i in range(size):
                trial[i] = mode[i] - length * step[i]
            loss_there = _loss(trial, values, first, offset, positives, totals, precision, eta)
        for i in range(size):
            mode[i] = trial[i]
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
    total = 0.0
    for i in range(len(c)):
        for j in range(len(c)):
            total += 0.5 * c[i] * precision[i, j] * c[j]
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
