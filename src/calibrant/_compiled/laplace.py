"""Penalised logistic fits on binomial cells along a grid of prior scales, each with its Laplace evidence."""

import math

import numpy as np

from calibrant._compiled import fast_math
from calibrant._typing import Floats, Ints

try:
    import cython
except ImportError:
    from calibrant._compiled import fallback as cython

_INFINITE = math.inf
MOST_STEPS = 60
DECREMENT = 1e-3  # the step that promised to gain less than half of this, in nats, is the last; then errors square
NEGLIGIBLE = 20.0  # a path ends when its evidence falls and is this many nats under the best


class Cells:
    """Binomial cells, the four B-splines of each and where they begin; of the last fit, eta and exp(−|eta|)."""

    def __init__(self, values: Floats, first: Ints, offset: Floats, positives: Floats, totals: Floats) -> None:
        self.values, self.first, self.offset = values, first, offset
        self.positives, self.totals = positives, totals
        self.eta: Floats = np.empty(len(offset))
        self.small: Floats = np.empty(len(offset))


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
    size, n_line, n_rough = len(line), len(line_scales), len(rough_scales)
    evidence = np.full((n_line, n_rough), -_INFINITE)
    modes, factors = np.zeros((n_line, n_rough, size)), np.zeros((n_line, n_rough, size, size))
    cells = Cells(values, first, offset, positives, totals)
    precision, mode, work = np.empty((size, size)), np.zeros(size), np.empty((3, size))
    with cython.nogil:
        best = -_INFINITE
        for a in range(n_line):
            if a > 0:
                mode[:] = modes[a - 1, 0]
            for b in range(n_rough):
                line_variance = line_scales[a] ** 2 + (coupling * rough_scales[b]) ** 2
                for i in range(size):
                    for j in range(size):
                        precision[i, j] = line[i, j] / line_variance + rough[i, j] / rough_scales[b] ** 2
                loss = _newton(cells, precision, mode, factors[a, b], work)
                modes[a, b] = mode
                # ½ ln |prior precision| = const - ln(line variance) - (K - 2) ln t2
                half_log_det = math.log(line_variance) + (size - 2) * math.log(rough_scales[b])
                for i in range(size):
                    half_log_det += math.log(factors[a, b, i, i])
                evidence[a, b] = log_prior[a, b] - loss - half_log_det
                best = max(best, evidence[a, b])
                if b > 0 and evidence[a, b] < evidence[a, b - 1] and evidence[a, b] < best - NEGLIGIBLE:
                    break
    return np.asarray(evidence), np.asarray(modes), np.asarray(factors)


def _newton(cells: Cells, precision: Floats, mode: Floats, factor: Floats, work: Floats) -> float:
    """Move `mode` to the minimum; leave the Hessian's Cholesky factor in `factor`; return the loss there."""
    gradient, step, trial = work[0], work[1], work[2]
    size = len(mode)
    loss = _loss(mode, cells, precision)
    for _ in range(MOST_STEPS):
        for i in range(size):
            gradient[i] = 0.0
            for j in range(size):
                factor[i, j] = precision[i, j]
                gradient[i] += precision[i, j] * mode[j]
        _add_likelihood(cells, gradient, factor)
        _cholesky(factor)
        step[:] = gradient
        _solve(factor, step)
        decrement = 0.0
        for i in range(size):
            decrement += step[i] * gradient[i]
        length = 2.0
        loss_there = _INFINITE
        while loss_there > loss and length > 1e-6:
            length *= 0.5
            for i in range(size):
                trial[i] = mode[i] - length * step[i]
            loss_there = _loss(trial, cells, precision)
        mode[:] = trial
        loss = loss_there
        if decrement < DECREMENT:
            break
    return loss


def _loss(c: Floats, cells: Cells, precision: Floats) -> float:
    """The penalised loss; also the logits and exp(−|eta|) of the cells."""
    values, first, eta, small = cells.values, cells.first, cells.eta, cells.small
    offset, positives, totals = cells.offset, cells.positives, cells.totals
    total = 0.0
    for i in range(len(c)):
        for j in range(len(c)):
            total += 0.5 * c[i] * precision[i, j] * c[j]
    for i in range(len(eta)):
        j = first[i]
        near = values[i, 0] * c[j] + values[i, 1] * c[j + 1] + values[i, 2] * c[j + 2] + values[i, 3] * c[j + 3]
        eta[i] = offset[i] + near
    # A loop of its own without branches, for the compiler to do many cells at a time.
    for i in range(len(eta)):
        small[i] = fast_math.exp(-abs(eta[i]))
        total += totals[i] * (max(eta[i], 0.0) + fast_math.log(1.0 + small[i])) - positives[i] * eta[i]
    return total


def _add_likelihood(cells: Cells, gradient: Floats, hessian: Floats) -> None:
    """Add the binomial likelihood's gradient and (lower triangle of the) Hessian, both banded."""
    values, first, eta, small = cells.values, cells.first, cells.eta, cells.small
    positives, totals = cells.positives, cells.totals
    for i in range(len(eta)):
        upper = 1.0 / (1.0 + small[i])
        residual = totals[i] * (upper if eta[i] >= 0.0 else small[i] * upper) - positives[i]
        weight = totals[i] * small[i] * upper * upper
        for a in range(4):
            row = first[i] + a
            gradient[row] += residual * values[i, a]
            scaled = weight * values[i, a]
            for b in range(a + 1):
                hessian[row, first[i] + b] += scaled * values[i, b]


def _cholesky(matrix: Floats) -> None:
    """Replace the lower triangle by its Cholesky factor; the upper one is not read."""
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = math.sqrt(total) if i == j else total / matrix[j, j]


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
