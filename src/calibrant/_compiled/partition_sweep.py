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
of the sum. No ratio exceeds 1, so the sweep adds up −ln(growth of the sum); before that reaches 600 it computes all T
anew from the stored logarithms. So what underflow can hide is below 1e-300 · e^600 = 1e-39 of the sum. The fresh
computation happens every _REFRESH cells anyway, so rounding errors do not add up either.

**Starts that no longer matter are dropped.** For v > u: M(l, v) ≤ M̂(l, u) · M(u+1, v), where M̂ = max over θ of
the likelihood of cells l … u, because the likelihood of l … v is that of l … u, at most M̂, times that of u+1 … v.
So start l adds to F_v at most ρ_l times what start u+1 adds, ρ_l = F_l exp(−λ (x_u − x_l)) M̂(l, u) / F_{u+1}.
Starts with ρ_l < NEGLIGIBLE / m² (for every λ) are dropped: each F_v then lacks less than NEGLIGIBLE / m of itself,
a binning has at most m bins, so every sum is right to NEGLIGIBLE = 1e-16, as if nothing had been dropped. For
maxima the same inequality with ρ_l < 1 would do.
"""

import math

import numpy as np

from calibrant._compiled import fast_math
from calibrant._typing import Floats, Ints

NEGLIGIBLE = 1e-16

_REFRESH = 32
_FEW_ROWS = 4.0  # up to here a product of ratios is cheaper than a beta function
_LOST = 600.0
_LOWEST = -1e300  # below every logarithm that occurs


class Sweep:
    """What a sweep keeps for each start that still matters; the first `count` entries are in use.

    It fills `log_f`, (n_lambda, m + 1). Where it is `due`, all terms are exact and starts can be dropped.
    """

    def __init__(
        self, x: Floats, k: Floats, n: Floats, lam: Floats, alpha: float, beta: float, best: bool, holds: bool
    ) -> None:
        m, n_lam, n_held = len(x), len(lam), len(lam) if holds else 0
        self.x, self.k, self.n, self.lam = x, k, n, lam
        self.alpha, self.beta, self.log_prior = alpha, beta, fast_math.log_beta(alpha, beta)
        self.best = best  # maxima in place of sums
        self.count = 0
        self.current = False  # whether `log_m` is that of the present cell
        self.due = False
        self.lost = 0.0  # see the module's text
        self.start: Ints = np.empty(m, dtype=np.intp)
        self.a: Floats = np.empty(m)  # K + α and N − K + β of the bin from this start to the present cell
        self.b: Floats = np.empty(m)
        self.log_m: Floats = np.empty(m)  # ln B(a, b)
        self.ratio: Floats = np.empty(m)  # M(l, u) / M(l, u−1), up to a factor for all
        self.terms: Floats = np.empty((n_lam, m))  # T times exp(−scale)
        self.scale: Floats = np.zeros(n_lam)
        self.total: Floats = np.zeros(n_lam)  # ΣT (or max T)
        self.held: Floats = np.zeros((n_held, m))  # sums kept for each start, if they are wanted
        self.done: Floats = np.zeros((n_held, m))  # the same, by cell, of the starts that were dropped
        self.log_f: Floats = np.zeros((n_lam, m + 1))

    def advance(self, u: int) -> None:
        """Let a bin start at cell u, then add cell u to all bins, and all of them up. O(number of starts)."""
        self._start_bin(u)
        shift = self._add_cell(self.k[u], self.n[u])
        # Two factors for each term: the prior's, over the gap before cell u, which the bin that starts at u, the last,
        # does not have; and the likelihood's, which all have.
        worst = 0.0
        for g in range(len(self.lam)):
            decay = math.exp(-self.lam[g] * (self.x[u] - self.x[u - 1])) if u > 0 else 1.0
            own, others = self.terms[g, self.count - 1], decay * self.total[g]
            before = max(own, others) if self.best else own + others
            after = _multiply(self.terms, g, self.ratio, self.count, decay, self.best)
            self.total[g] = after
            self.scale[g] += shift
            # How much the sum shrank: a term that kept its size has grown by as much relative to the sum.
            worst = max(worst, math.log(before / after) if after > 0.0 else _LOST)
        self.lost += worst
        self.due = u % _REFRESH == _REFRESH - 1
        if self.due or self.lost >= _LOST:
            self.refresh(u)
        # Long before doubles end, the terms are brought back to a sum of 1, which goes into their scale.
        for g in range(len(self.lam)):
            if not 1e-100 < self.total[g] < 1e100:
                for i in range(self.count):
                    self.terms[g, i] /= self.total[g]
                self.scale[g] += math.log(self.total[g])
                self.total[g] = 1.0
            # Prior(u) of eq. 2.5, which is 1 after the last cell. A gap too small for doubles gives -inf.
            last = u == len(self.x) - 1
            log_prior = 0.0 if last else math.log(-math.expm1(-self.lam[g] * (self.x[u + 1] - self.x[u])))
            self.log_f[g, u + 1] = log_prior + self.scale[g] + math.log(self.total[g])

    def refresh(self, u: int) -> None:
        """All T of cell u anew."""
        _log_betas(self.log_m, self.a, self.b, self.count)
        self.current = True
        for g in range(len(self.lam)):
            self.scale[g] = _log_terms(self, g, u)
            total = _exponentiate(self.terms, g, self.count, self.scale[g])
            self.total[g] = 1.0 if self.best else total
        self.lost = 0.0

    def prune(self, u: int, limit: float) -> None:
        """Drop the starts with ln ρ < limit for every λ; for use where the sweep is `due`."""
        _bin_over_best(self)  # ρ < e^limit  ⇔  T < (M / M̂) · F_{u+1} · e^limit
        # Starts that matter move to the front, in order; one does if it matters for any λ, since all λ share the
        # bins' counts and ratios.
        kept = 0
        for i in range(self.count):
            matters = False
            for g in range(len(self.lam)):
                floor = math.exp(min(max(self.log_f[g, u + 1] - self.scale[g] + limit, -745.0), 700.0))
                # A term that underflowed counts as the largest that it can have been.
                matters = matters or max(self.terms[g, i], 1e-300) >= self.ratio[i] * floor
            if matters:
                if kept < i:
                    self._move(i, kept)
                kept += 1
            else:
                self.let_go(i)
        self.count = kept

    def let_go(self, i: int) -> None:
        """Store what was held for the i-th start."""
        for g in range(len(self.held)):
            self.done[g, self.start[i]] = self.held[g, i]

    def _start_bin(self, u: int) -> None:
        """Let a bin start at cell u, as yet without rows."""
        i = self.count
        self.start[i] = u
        self.a[i], self.b[i], self.log_m[i] = self.alpha, self.beta, self.log_prior
        for g in range(len(self.lam)):
            self.terms[g, i] = math.exp(max(self.log_f[g, u] - self.scale[g], -745.0))
        for g in range(len(self.held)):
            self.held[g, i] = 0.0
        self.count = i + 1

    def _add_cell(self, k: float, n: float) -> float:
        """Add a cell with k of n rows positive to all bins; the logarithm of what all ratios were divided by."""
        if n > _FEW_ROWS or k != math.floor(k) or n != math.floor(n):
            if not self.current:
                _log_betas(self.log_m, self.a, self.b, self.count)
                self.current = True
            return _many_row_ratios(self.ratio, self.log_m, self.a, self.b, self.count, k, n)
        self.current = False
        if n > 1.0:
            _few_row_ratios(self.ratio, self.a, self.b, self.count, int(k), int(n))
        elif k == 1.0:
            _row_ratios(self.ratio, self.a, self.b, self.count)
        else:
            _row_ratios(self.ratio, self.b, self.a, self.count)
        return 0.0

    def _move(self, source: int, target: int) -> None:
        self.start[target] = self.start[source]
        self.a[target], self.b[target] = self.a[source], self.b[source]
        self.log_m[target] = self.log_m[source]
        for g in range(len(self.lam)):
            self.terms[g, target] = self.terms[g, source]
        for g in range(len(self.held)):
            self.held[g, target] = self.held[g, source]


# Loops without calls and branches, for the compiler to do many cells at a time.


def _log_betas(out: Floats, a: Floats, b: Floats, count: int) -> None:
    for i in range(count):
        out[i] = fast_math.log_beta(a[i], b[i])


def _row_ratios(ratio: Floats, grows: Floats, other: Floats, count: int) -> None:
    """Add one row to the count `grows`: M(l, u) / M(l, u−1) = grows / (grows + other)."""
    for i in range(count):
        ratio[i] = grows[i] / (grows[i] + other[i])
        grows[i] += 1.0


def _few_row_ratios(ratio: Floats, a: Floats, b: Floats, count: int, k: int, n: int) -> None:
    """M(l, u) / M(l, u−1) as a product over the rows of cell u."""
    for i in range(count):
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


def _many_row_ratios(ratio: Floats, log_m: Floats, a: Floats, b: Floats, count: int, k: float, n: float) -> float:
    """The same from `log_m` of cell u−1, which becomes that of cell u; returns the logarithm that was divided out."""
    for i in range(count):
        a[i] += k
        b[i] += n - k
        ratio[i] = fast_math.log_beta(a[i], b[i])
    largest = _LOWEST
    for i in range(count):
        fresh = ratio[i]
        ratio[i] = fresh - log_m[i]
        log_m[i] = fresh
        largest = max(largest, ratio[i])
    for i in range(count):
        ratio[i] = fast_math.exp(ratio[i] - largest)
    return largest


def _multiply(terms: Floats, g: int, ratio: Floats, count: int, decay: float, best: bool) -> float:
    """Multiply the terms of one λ by the ratios, all but the last by `decay`, too; their sum, or the largest."""
    terms[g, count - 1] *= ratio[count - 1]
    total = terms[g, count - 1]
    if best:
        for i in range(count - 1):
            terms[g, i] *= decay * ratio[i]
            total = max(total, terms[g, i])
        return total
    for i in range(count - 1):
        terms[g, i] *= decay * ratio[i]
        total += terms[g, i]
    return total


def _log_terms(sweep: Sweep, g: int, u: int) -> float:
    """Logarithms of T of one λ, from the stored logarithms; returns the largest."""
    largest = _LOWEST
    for i in range(sweep.count):
        start = sweep.start[i]
        term = sweep.log_f[g, start] + (sweep.log_m[i] - sweep.log_prior) - sweep.lam[g] * (sweep.x[u] - sweep.x[start])
        sweep.terms[g, i] = term
        largest = max(largest, term)
    return largest


def _exponentiate(terms: Floats, g: int, count: int, largest: float) -> float:
    """T from ln T, so that the largest becomes 1; their sum."""
    total = 0.0
    for i in range(count):
        value = fast_math.exp(terms[g, i] - largest)
        terms[g, i] = value if terms[g, i] > largest - 690.0 else 0.0
        total += terms[g, i]
    return total


def _bin_over_best(sweep: Sweep) -> None:
    """M / M̂ of each bin, into `ratio`: how likely its cells are on average over θ, against the best θ."""
    for i in range(sweep.count):
        positives = sweep.a[i] - sweep.alpha
        negatives = sweep.b[i] - sweep.beta
        per_row = 1.0 / (positives + negatives)
        # 0 · ln 0 = 0: a tiny positive argument in place of 0 gives it without a branch.
        best = positives * fast_math.log(max(positives * per_row, 1e-300))
        best += negatives * fast_math.log(max(negatives * per_row, 1e-300))
        sweep.ratio[i] = fast_math.exp(min(sweep.log_m[i] - sweep.log_prior - best, 0.0))
