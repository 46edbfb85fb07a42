"""Sums and maxima over all binnings of m cells, in one O(m²) sweep with O(m) memory.

Notation of Naeini, Cooper and Hauskrecht (SDM 2015). Cells l … u form one bin with the score

    Score(l, u) = Prior(u) · Π_{l ≤ k < u} (1 − Prior(k)) · M(l, u),        eq. 2.6 and 2.7
    Prior(k) = 1 − exp(−λ d(k, k+1) / d(1, m)),                             eq. 2.5
    M(l, u) = B(K + α, N − K + β) / B(α, β), K of N rows positive,          eq. 2.4 for any α, β

so that the product of the (1 − Prior) is exp(−λ (x_u − x_l)) for scores scaled to a range of one. With
F_u the sum (or the maximum, V^f of section 2.3) of the scores of all binnings of the first u cells,

    F_{u+1} = Prior(u) · Σ_{l ≤ u} T_l,     T_l = F_l · exp(−λ (x_u − x_l)) · M(l, u)     (cells from 0).

**No logarithm for each pair.** Adding cell u multiplies T_l by exp(−λ d) and by M(l, u) / M(l, u−1). For a cell
of few rows that is a product of (K+α)/(N+α+β) or (N−K+β)/(N+α+β), one for each row; only cells of many rows
need the ratio of two beta functions. It does not depend on λ, so a grid of λ shares it. T is kept linear,
with one logarithmic scale for each λ.

**Nothing is lost to underflow.** An entry below 1e-300 of the sum can come back only if its ratios exceed those
of the sum. The sweep adds up ln(largest ratio / growth of the sum); before that reaches 600 it computes all T
anew from the stored logarithms. So what underflow can hide is below 1e-300 · e^600 = 1e-39 of the sum. The fresh
computation happens every REFRESH cells anyway, so rounding errors do not add up either.

**Starts that no longer matter are dropped.** For v > u: M(l, v) ≤ M̂(l, u) · M(u+1, v), where M̂ = max over θ of
the likelihood of cells l … u, because the likelihood of l … v is that of l … u, at most M̂, times that of u+1 … v.
So start l adds to F_v at most ρ_l times what start u+1 adds, ρ_l = F_l exp(−λ (x_u − x_l)) M̂(l, u) / F_{u+1}.
Starts with ρ_l < NEGLIGIBLE / m² (for every λ) are dropped: each F_v then lacks less than NEGLIGIBLE / m of itself,
a binning has at most m bins, so every sum is right to NEGLIGIBLE = 1e-16, as if nothing had been dropped. For
maxima the same inequality with ρ_l < 1 would do.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibrant._kernels.compiling import njit
from calibrant._kernels.fast_math import exp, log, log_beta
from calibrant._typing import Floats

REFRESH = 32
NEGLIGIBLE = 1e-16
FEW_ROWS = 4.0  # up to here a product of ratios is cheaper than a beta function
_LOST = 600.0


class Sweep(NamedTuple):
    """What a sweep keeps for each start that still matters; the first `count[0]` entries are in use."""

    count: npt.NDArray[np.int64]  # type: ignore[assignment]  # a name that tuples use too; how many starts, and whether `log_m` is that of the present cell
    start: npt.NDArray[np.int64]
    a: Floats  # K + α and N − K + β of the bin from this start to the present cell
    b: Floats
    log_m: Floats  # ln B(a, b)
    ratio: Floats  # M(l, u) / M(l, u−1), up to a factor for all
    terms: Floats  # T, (n_lambda, m), times exp(−scale)
    scale: Floats  # one for each λ
    total: Floats  # ΣT (or max T) for each λ
    lost: Floats  # see the module's text
    held: Floats  # sums kept for each start, (n_lambda, m), or (0, m) where they are not wanted
    done: Floats  # the same, by cell, of the starts that were dropped


@njit(cache=True, nogil=True)
def new_sweep(m: int, n_lam: int, n_held: int) -> Sweep:
    """An empty sweep."""
    return Sweep(
        np.zeros(2, np.int64),
        np.empty(m, np.int64),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        np.empty((n_lam, m)),
        np.zeros(n_lam),
        np.zeros(n_lam),
        np.zeros(1),
        np.zeros((n_held, m)),
        np.zeros((n_held, m)),
    )


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _log_betas(out: Floats, a: Floats, b: Floats) -> None:
    for i in range(len(out)):
        out[i] = log_beta(a[i], b[i])


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "nnan"})
def _row_ratios(ratio: Floats, grows: Floats, other: Floats) -> float:
    """Add one row to the count `grows`: M(l, u) / M(l, u−1) = grows / (grows + other). Returns the largest."""
    largest = 0.0
    for i in range(len(ratio)):
        ratio[i] = grows[i] / (grows[i] + other[i])
        grows[i] += 1.0
        largest = max(largest, ratio[i])
    return largest


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "nnan"})
def _few_row_ratios(ratio: Floats, a: Floats, b: Floats, k: int, n: int) -> float:
    """M(l, u) / M(l, u−1) as a product over the rows of cell u; returns the largest."""
    largest = 0.0
    for i in range(len(ratio)):
        above = 1.0
        below = 1.0
        for j in range(k):
            above *= a[i] + j
        for j in range(n - k):
            above *= b[i] + j
        for j in range(n):
            below *= a[i] + b[i] + j
        ratio[i] = above / below
        a[i] += k
        b[i] += n - k
        largest = max(largest, ratio[i])
    return largest


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "nnan"})
def _many_row_ratios(ratio: Floats, log_m: Floats, a: Floats, b: Floats, k: float, n: float) -> float:
    """The same from `log_m` of cell u−1, which becomes that of cell u; returns the logarithm that was divided out."""
    for i in range(len(ratio)):
        a[i] += k
        b[i] += n - k
        fresh = log_beta(a[i], b[i])
        ratio[i] = fresh - log_m[i]
        log_m[i] = fresh
    largest = -np.inf
    for i in range(len(ratio)):
        largest = max(largest, ratio[i])
    for i in range(len(ratio)):
        ratio[i] = exp(ratio[i] - largest)
    return largest


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "nnan"})
def _multiply_sum(terms: Floats, ratio: Floats, decay: float) -> tuple[float, float]:
    """Multiply terms by ratio, all but the last also times `decay`; the sums before the ratios and after."""
    last = len(ratio) - 1
    before = 0.0
    after = 0.0
    for i in range(last):
        value = terms[i] * decay
        before += value
        value *= ratio[i]
        terms[i] = value
        after += value
    before += terms[last]
    terms[last] *= ratio[last]
    return before, after + terms[last]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "nnan"})
def _multiply_max(terms: Floats, ratio: Floats, decay: float) -> tuple[float, float]:
    """The same with maxima in place of sums."""
    last = len(ratio) - 1
    before = terms[last]
    terms[last] *= ratio[last]
    after = terms[last]
    for i in range(last):
        value = terms[i] * decay
        before = max(before, value)
        value *= ratio[i]
        terms[i] = value
        after = max(after, value)
    return before, after


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "nnan"})
def _fresh_terms(
    terms: Floats, sweep: Sweep, x: Floats, u: int, lam: float, log_f: Floats, log_prior: float
) -> tuple[float, float]:
    """T of one λ from the stored logarithms; returns the new scale and the new sum. The largest T becomes 1."""
    count = sweep.count[0]
    largest = -np.inf
    for i in range(count):
        start = sweep.start[i]
        terms[i] = log_f[start] + (sweep.log_m[i] - log_prior) - lam * (x[u] - x[start])
        largest = max(largest, terms[i])
    total = 0.0
    for i in range(count):
        terms[i] = exp(terms[i] - largest) if terms[i] > largest - 690.0 else 0.0
        total += terms[i]
    return largest, total


@njit(cache=True, nogil=True, error_model="numpy")
def refresh(sweep: Sweep, x: Floats, u: int, lam: Floats, log_f: Floats, alpha: float, beta: float, best: bool) -> None:
    """All T of cell u anew."""
    count = sweep.count[0]
    _log_betas(sweep.log_m[:count], sweep.a, sweep.b)
    sweep.count[1] = 1
    log_prior = log_beta(alpha, beta)
    for g in range(len(lam)):
        sweep.scale[g], total = _fresh_terms(sweep.terms[g], sweep, x, u, lam[g], log_f[g], log_prior)
        sweep.total[g] = 1.0 if best else total
    sweep.lost[0] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _start_bin(sweep: Sweep, u: int, log_f: Floats, alpha: float, beta: float) -> None:
    """Let a bin start at cell u, as yet without rows."""
    count = sweep.count[0]
    sweep.start[count] = u
    sweep.a[count] = alpha
    sweep.b[count] = beta
    sweep.log_m[count] = log_beta(alpha, beta)
    for g in range(len(sweep.scale)):
        sweep.terms[g, count] = math.exp(max(log_f[g, u] - sweep.scale[g], -745.0))
    for g in range(len(sweep.held)):
        sweep.held[g, count] = 0.0
    sweep.count[0] = count + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _ratios(sweep: Sweep, k: float, n: float) -> tuple[float, float]:
    """Add a cell with k of n rows positive to all bins; ln of the largest ratio, and ln of what all were divided by."""
    count = sweep.count[0]
    a, b, log_m, ratio = sweep.a, sweep.b, sweep.log_m[:count], sweep.ratio[:count]
    if n <= FEW_ROWS and k == np.floor(k) and n == np.floor(n):
        sweep.count[1] = 0
        if n > 1.0:
            return math.log(_few_row_ratios(ratio, a, b, int(k), int(n))), 0.0
        return math.log(_row_ratios(ratio, a, b) if k == 1.0 else _row_ratios(ratio, b, a)), 0.0
    if sweep.count[1] == 0:
        _log_betas(log_m, a, b)
        sweep.count[1] = 1
    return 0.0, _many_row_ratios(ratio, log_m, a, b, k, n)


@njit(cache=True, nogil=True, error_model="numpy")
def advance(
    sweep: Sweep,
    x: Floats,
    k: Floats,
    n: Floats,
    u: int,
    lam: Floats,
    log_f: Floats,
    alpha: float,
    beta: float,
    best: bool,
) -> None:
    """Let a bin start at cell u, then add cell u to all bins. O(number of starts)."""
    _start_bin(sweep, u, log_f, alpha, beta)
    log_largest, shift = _ratios(sweep, k[u], n[u])
    count = sweep.count[0]
    worst = 0.0
    for g in range(len(lam)):
        decay = math.exp(-lam[g] * (x[u] - x[u - 1])) if u > 0 else 1.0
        if best:
            before, after = _multiply_max(sweep.terms[g], sweep.ratio[:count], decay)
        else:
            before, after = _multiply_sum(sweep.terms[g], sweep.ratio[:count], decay)
        sweep.total[g] = after
        sweep.scale[g] += shift
        worst = max(worst, log_largest - math.log(after / before) if after > 0.0 else np.inf)
    sweep.lost[0] += worst
    if sweep.lost[0] > _LOST:
        refresh(sweep, x, u, lam, log_f, alpha, beta, best)
    for g in range(len(lam)):
        if not 1e-100 < sweep.total[g] < 1e100:
            for i in range(count):
                sweep.terms[g, i] /= sweep.total[g]
            sweep.scale[g] += math.log(sweep.total[g])
            sweep.total[g] = 1.0


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _bin_over_best(out: Floats, sweep: Sweep, alpha: float, beta: float) -> None:
    """M / M̂ of each bin: how likely its cells are on average over θ, against the best θ."""
    log_prior = log_beta(alpha, beta)
    for i in range(len(out)):
        positives = sweep.a[i] - alpha
        negatives = sweep.b[i] - beta
        per_row = 1.0 / (positives + negatives)
        # 0 · ln 0 = 0: a tiny positive argument in place of 0 gives it without a branch.
        best = positives * log(max(positives * per_row, 1e-300)) + negatives * log(max(negatives * per_row, 1e-300))
        out[i] = exp(min(sweep.log_m[i] - log_prior - best, 0.0))


@njit(cache=True, nogil=True, error_model="numpy")
def prune(sweep: Sweep, log_f: Floats, u: int, limit: float, alpha: float, beta: float) -> None:
    """Drop the starts with ln ρ < limit for every λ; for use right after `refresh`, when F_{u+1} is known."""
    count = sweep.count[0]
    needed = sweep.ratio[:count]  # ρ < e^limit  ⇔  T < (M / M̂) · F_{u+1} · e^limit
    _bin_over_best(needed, sweep, alpha, beta)
    floor = np.empty(len(sweep.scale))
    for g in range(len(floor)):
        floor[g] = math.exp(min(max(log_f[g, u + 1] - sweep.scale[g] + limit, -745.0), 700.0))
    kept = 0
    for i in range(count):
        matters = False
        for g in range(len(floor)):
            # A term that underflowed counts as the largest that it can have been.
            matters = matters or max(sweep.terms[g, i], 1e-300) >= needed[i] * floor[g]
        if matters:
            if kept < i:
                _move(sweep, i, kept)
            kept += 1
        else:
            for g in range(len(sweep.held)):
                sweep.done[g, sweep.start[i]] = sweep.held[g, i]
    sweep.count[0] = kept


@njit(cache=True, nogil=True)
def _move(sweep: Sweep, source: int, target: int) -> None:
    sweep.start[target] = sweep.start[source]
    sweep.a[target] = sweep.a[source]
    sweep.b[target] = sweep.b[source]
    sweep.log_m[target] = sweep.log_m[source]
    for g in range(len(sweep.terms)):
        sweep.terms[g, target] = sweep.terms[g, source]
    for g in range(len(sweep.held)):
        sweep.held[g, target] = sweep.held[g, source]
