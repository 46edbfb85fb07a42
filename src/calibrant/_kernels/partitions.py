"""What the binning methods ask of the sweep: evidences, posterior means of bins, and the best binning.

Cells are numbered from 0. `x` are scores scaled to a range of one, `k` of `n` rows of each cell are positive, and
`lam` is a grid of λ, whose values share all that does not depend on λ. See `partition_sweep` for the recursion.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from calibrant._kernels.compiling import njit
from calibrant._kernels.partition_sweep import NEGLIGIBLE, REFRESH, advance, new_sweep, prune, refresh
from calibrant._typing import Floats


@njit(cache=True, nogil=True)
def _log_priors(x: Floats, lam: Floats) -> Floats:
    """Log Prior(k) of eq. 2.5 for each cell; Prior = 1 after the last. A gap too small for doubles gives -inf."""
    out = np.zeros((len(lam), len(x)))
    for g in range(len(lam)):
        for k in range(len(x) - 1):
            out[g, k] = np.log(-np.expm1(-lam[g] * (x[k + 1] - x[k])))
    return out


@njit(cache=True, nogil=True)
def forward(
    x: Floats, k: Floats, n: Floats, lam: Floats, alpha: float, beta: float, best: bool
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Log F, (n_lambda, m + 1), the summed scores of all binnings of the first u cells; the last is the evidence.

    With `best`, log V^f of section 2.3, the score of the best binning, and where its last bin starts, (n_lambda, m).
    """
    m = len(x)
    log_q = _log_priors(x, lam)
    log_f = np.zeros((len(lam), m + 1))
    backpointers = np.zeros((len(lam), m if best else 0), np.int64)
    sweep = new_sweep(m, len(lam), 0)
    # For maxima, a start with ρ < 1 is never again the best; the margin keeps ties and rounding out of it.
    limit = -1e-6 if best else math.log(NEGLIGIBLE) - 2.0 * math.log(m)
    for u in range(m):
        advance(sweep, x, k, n, u, lam, log_f, alpha, beta, best)
        due = u % REFRESH == REFRESH - 1
        if due:
            refresh(sweep, x, u, lam, log_f, alpha, beta, best)
        for g in range(len(lam)):
            log_f[g, u + 1] = log_q[g, u] + sweep.scale[g] + math.log(sweep.total[g])
            if best:
                backpointers[g, u] = sweep.start[_position(sweep.terms[g], sweep.total[g])]
        if due:
            prune(sweep, log_f, u, limit, alpha, beta)
    return log_f, backpointers


@njit(cache=True, nogil=True)
def _position(terms: Floats, value: float) -> int:
    found = 0
    while terms[found] != value:
        found += 1
    return found


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _posterior_means(mean: Floats, a: Floats, b: Floats) -> None:
    for i in range(len(mean)):
        mean[i] = a[i] / (a[i] + b[i])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _hold(held: Floats, terms: Floats, mean: Floats, weight: float) -> float:
    total = 0.0
    for i in range(len(mean)):
        value = weight * terms[i] * mean[i]
        held[i] += value
        total += value
    return total


@njit(cache=True, nogil=True)
def backward(
    x: Floats,
    k: Floats,
    n: Floats,
    lam: Floats,
    alpha: float,
    beta: float,
    log_f: Floats,
    best: bool,
    count_only: bool,
) -> tuple[Floats, Floats, Floats]:
    """Log R, S and E, from a sweep over the cells from right to left.

    R, (n_lambda, m + 1): R_l is Prior(l - 1) times the summed scores of all binnings of the cells l … m - 1, so that
    F_l · R_l / (Prior(l - 1) · evidence) is the posterior probability of a boundary before cell l.
    S_l is Σ_u w(l, u) p(l, u) over the bins that start at l, E_u the same over the bins that end at u, with
    w(l, u) = F_l Score(l, u) B_{u+1} / F_m the posterior probability of the bin (eq. 2.9 with sums), p its mean.
    With `best`, and V^f in place of F, the sums of eq. 2.9 as printed; with `count_only`, p = 1.
    """
    m = len(x)
    x_back, k_back, n_back = -x[::-1].copy(), k[::-1].copy(), n[::-1].copy()
    log_q = _log_priors(x_back, lam)
    log_r = np.zeros((len(lam), m + 1))
    sweep = new_sweep(m, len(lam), len(lam))
    mean = np.ones(m)
    starts = np.empty((len(lam), m))
    limit = math.log(NEGLIGIBLE) - 2.0 * math.log(m)
    for v in range(m):
        advance(sweep, x_back, k_back, n_back, v, lam, log_r, alpha, beta, best)
        due = v % REFRESH == REFRESH - 1
        if due:
            refresh(sweep, x_back, v, lam, log_r, alpha, beta, best)
        first = m - 1 - v
        count = sweep.count[0]
        if not count_only:
            _posterior_means(mean[:count], sweep.a, sweep.b)
        for g in range(len(lam)):
            log_r[g, v + 1] = log_q[g, v] + sweep.scale[g] + math.log(sweep.total[g])
            weight = math.exp(log_f[g, first] + sweep.scale[g] - log_f[g, m])
            starts[g, first] = _hold(sweep.held[g], sweep.terms[g], mean[:count], weight)
        if due:
            prune(sweep, log_r, v, limit, alpha, beta)
    for i in range(sweep.count[0]):
        for g in range(len(lam)):
            sweep.done[g, sweep.start[i]] = sweep.held[g, i]
    return log_r[:, ::-1].copy(), starts, sweep.done[:, ::-1].copy()


@njit(cache=True, nogil=True)
def trace(backpointers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The first cells of the bins of the best binning, from the last bin back."""
    starts = np.empty(len(backpointers), np.int64)
    count = 0
    u = len(backpointers)
    while u > 0:
        u = backpointers[u - 1]
        starts[count] = u
        count += 1
    return starts[:count][::-1].copy()
