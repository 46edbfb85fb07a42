"""What the binning methods ask of the sweep: evidences, posterior means of bins, and the best binning.

Cells are numbered from 0. `x` are scores scaled to a range of one, `k` of `n` rows of each cell are positive, and
`lam` is a grid of λ, whose values share all that does not depend on λ. See `partition_sweep` for the recursion.
"""

import math

import numpy as np

from calibrant._compiled import partition_sweep
from calibrant._typing import Floats, Ints

try:
    import cython
except ImportError:
    from calibrant._compiled import fallback as cython

# What `backward` sums over bins.
MEAN, ONE, PER_POSITIVE, PER_NEGATIVE = range(4)
_ONE, _PER_POSITIVE = ONE, PER_POSITIVE


def forward(x: Floats, k: Floats, n: Floats, lam: Floats, alpha: float, beta: float, best: bool) -> tuple[Floats, Ints]:
    """Log F, (n_lambda, m + 1), the summed scores of all binnings of the first u cells; the last is the evidence.

    With `best`, log V^f of section 2.3, the score of the best binning, and where its last bin starts, (n_lambda, m).
    """
    sweep = partition_sweep.Sweep(x, k, n, lam, alpha, beta, best, False)
    # For maxima, a start with ρ < 1 is never again the best; the margin keeps ties and rounding out of it.
    limit = -1e-6 if best else _limit(len(x))
    backpointers = np.zeros((len(lam) if best else 0, len(x)), dtype=np.intp)
    _sweep_forward(sweep, limit, backpointers)
    return np.asarray(sweep.log_f), backpointers


def _limit(m: int) -> float:
    return math.log(partition_sweep.NEGLIGIBLE) - 2.0 * math.log(m)


def _sweep_forward(sweep: partition_sweep.Sweep, limit: float, backpointers: Ints) -> None:
    with cython.nogil:
        for u in range(len(sweep.x)):
            sweep.advance(u)
            for g in range(len(backpointers)):
                backpointers[g, u] = sweep.start[_position(sweep, g)]
            if sweep.due:
                sweep.prune(u, limit)


def _position(sweep: partition_sweep.Sweep, g: int) -> int:
    """Where the largest term is."""
    at = 0
    while sweep.terms[g, at] != sweep.total[g]:
        at += 1
    return at


def backward(
    x: Floats,
    k: Floats,
    n: Floats,
    lam: Floats,
    alpha: float,
    beta: float,
    log_f: Floats,
    best: bool,
    what: int = MEAN,
) -> tuple[Floats, Floats, Floats]:
    """Log R, S and E, from a sweep over the cells from right to left.

    R, (n_lambda, m + 1): R_l is Prior(l - 1) times the summed scores of all binnings of the cells l … m - 1, so that
    F_l · R_l / (Prior(l - 1) · evidence) is the posterior probability of a boundary before cell l.
    S_l is Σ_u w(l, u) p(l, u) over the bins that start at l, E_u the same over the bins that end at u, with
    w(l, u) = F_l Score(l, u) B_{u+1} / F_m the posterior probability of the bin (eq. 2.9 with sums), p its mean.
    With `best`, and V^f in place of F, the sums of eq. 2.9 as printed. In place of p, `what` may ask for 1 (`ONE`), or
    for the means of 1/p and 1/(1 − p), which leaving a row out needs (`PER_POSITIVE`, `PER_NEGATIVE`): a bin without
    positives holds no positive row, and what it would say of one counts as if it had one.
    """
    reverse = slice(None, None, -1)
    cells = (-x[reverse], k[reverse].copy(), n[reverse].copy())
    sweep = partition_sweep.Sweep(*cells, lam, alpha, beta, best, True)
    starts = np.empty((len(lam), len(x)))
    _sweep_backward(sweep, _limit(len(x)), log_f, starts, what)
    return np.asarray(sweep.log_f)[:, reverse].copy(), starts, np.asarray(sweep.done)[:, reverse].copy()


def _sweep_backward(sweep: partition_sweep.Sweep, limit: float, log_f: Floats, starts: Floats, what: int) -> None:
    m = len(sweep.x)
    with cython.nogil:
        # Cells come from right to left, so a "start" of this sweep is the last cell of a bin, and the cell that was
        # added last is the bin's first. The terms of step v therefore belong to all bins that begin at cell `first`:
        # with F of the cells before it they are those bins' posterior weights. Their sum goes to S of that cell, and
        # each of them to what is held for its end; when an end is dropped, what it holds is E.
        for v in range(m):
            sweep.advance(v)
            first = m - 1 - v
            for g in range(len(sweep.lam)):
                weight = math.exp(log_f[g, first] + sweep.scale[g] - log_f[g, m])
                starts[g, first] = _hold(sweep, g, weight, what)
            if sweep.due:
                sweep.prune(v, limit)
        # Ends that were never dropped still hold their sums.
        for i in range(sweep.count):
            sweep.let_go(i)


def _hold(sweep: partition_sweep.Sweep, g: int, weight: float, what: int) -> float:
    """Add the weights of the bins of one λ, times what is asked, to what is held for their starts; the sum of them."""
    total = 0.0
    held, terms = sweep.held, sweep.terms
    a, b = sweep.a, sweep.b
    if what >= _PER_POSITIVE:
        least = sweep.alpha if what == _PER_POSITIVE else sweep.beta
        own = a if what == _PER_POSITIVE else b
        for i in range(sweep.count):
            value = weight * terms[g, i] * ((a[i] + b[i] - 1.0) / max(own[i] - 1.0, least))
            held[g, i] += value
            total += value
        return total
    for i in range(sweep.count):
        value = weight * terms[g, i] * (1.0 if what == _ONE else a[i] / (a[i] + b[i]))
        held[g, i] += value
        total += value
    return total


def trace(backpointers: Ints) -> Ints:
    """The first cells of the bins of the best binning, from the first bin on."""
    starts = []
    u = len(backpointers)
    while u > 0:
        u = int(backpointers[u - 1])
        starts.append(u)
    starts.reverse()
    return np.array(starts, dtype=np.intp)
