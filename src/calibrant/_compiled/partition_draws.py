"""Draws of whole binnings from their posterior: forward filtering, then backward sampling.

Besides the marginal likelihood M of a bin (eq. 2.4) the bins can have Akaike's weight, e^-1 times their greatest
likelihood. The marginal likelihood charges about half the logarithm of its rows for every bin and so, where the truth
is smooth, keeps bins so wide that their bias is as large as their posterior spread; Akaike's charge of 1 does not grow.
"""

import math

import numpy as np

from calibrant._compiled import fast_math
from calibrant._typing import Floats, Ints

_INFINITE = math.inf
_BLOCK = 32


def _akaike(positives: float, negatives: float) -> float:
    """The logarithm of Akaike's weight of a bin."""
    total = positives + negatives
    # 0 · ln 0 = 0: a tiny positive argument in place of 0 gives it without a branch.
    hits = positives * fast_math.log(max(positives / total, 1e-300))
    return hits + negatives * fast_math.log(max(negatives / total, 1e-300)) - 1.0


class Past:
    """What draws of binnings need to know: the cells, their running counts, the λ, the prior of a bin and log F."""

    def __init__(
        self, x: Floats, k: Floats, n: Floats, lam: Floats, alpha: float, beta: float, log_f: Floats, akaike: bool
    ) -> None:
        self.x, self.lam, self.alpha, self.beta, self.log_f, self.akaike = x, lam, alpha, beta, log_f, akaike
        # Positives and negatives before each cell.
        self.hits: Floats = np.concatenate(([0.0], np.cumsum(k)))
        self.misses: Floats = np.concatenate(([0.0], np.cumsum(np.asarray(n) - k)))
        self.terms: Floats = np.empty(_BLOCK)


def akaike_forward(x: Floats, k: Floats, n: Floats, lam: Floats) -> Floats:
    """What `partitions.forward` gives, with Akaike's weights. O(m²), for a few hundred cells."""
    m = len(x)
    log_f = np.zeros((len(lam), m + 1))
    weight = np.empty(m)
    for u in range(m):
        positives, negatives = 0.0, 0.0
        for start in range(u, -1, -1):
            positives += k[start]
            negatives += n[start] - k[start]
            weight[start] = _akaike(positives, negatives)
        for g in range(len(lam)):
            largest = -_INFINITE
            for start in range(u + 1):
                largest = max(largest, log_f[g, start] + weight[start] - lam[g] * (x[u] - x[start]))
            total = 0.0
            for start in range(u + 1):
                total += fast_math.exp(log_f[g, start] + weight[start] - lam[g] * (x[u] - x[start]) - largest)
            gap = 0.0 if u == m - 1 else math.log(-math.expm1(-lam[g] * (x[u + 1] - x[u])))
            log_f[g, u + 1] = gap + largest + math.log(total)
    return np.asarray(log_f)


def draw_binnings(
    x: Floats,
    k: Floats,
    n: Floats,
    lam: Floats,
    alpha: float,
    beta: float,
    log_f: Floats,
    which: Ints,
    rng: np.random.Generator,
    akaike: bool,
) -> tuple[Ints, Ints]:
    """First cells of the bins of one binning for each entry of `which`, the index of its λ.

    Given that a bin ends at cell u, it starts at l with probability F_l · exp(−λ (x_u − x_l)) · M(l, u) / (F_{u+1} /
    Prior(u)), the terms of the forward sum. They are searched from l = u down, so a draw costs O(m) in all, each
    cell being looked at about once. Returns the starts of all binnings, one after another, each from its first bin,
    and where each binning begins in that list.
    """
    m = len(x)
    log_prior = 0.0 if akaike else fast_math.log_beta(alpha, beta)  # of every bin, so that it goes with the total
    past = Past(x, k, n, lam, alpha, beta, log_f, akaike)
    is_start = np.zeros((len(which), m), dtype=np.uint8)
    for d in range(len(which)):
        g = which[d]
        u = m - 1
        while u >= 0:
            gap = 0.0 if u == m - 1 else math.log(-math.expm1(-lam[g] * (x[u + 1] - x[u])))
            start = _draw_start(past, g, log_f[g, u + 1] - gap + log_prior, u, rng.random())
            is_start[d, start] = 1
            u = start - 1
    numbers, starts = np.divmod(np.flatnonzero(is_start), m)
    return starts, np.searchsorted(numbers, np.arange(len(which) + 1))


def _draw_start(past: Past, g: int, log_total: float, u: int, left: float) -> int:
    """The start of the bin that ends at cell u; `left`, uniform on [0, 1), is used up by the starts passed."""
    last, end = u, u + 1
    while end > 0:
        begin = max(end - _BLOCK, 0)
        # A block of terms at a time, which the compiler can do together, of which a few may be for nothing.
        _fill_terms(past, g, log_total, u, begin, end)
        for i in range(end - begin):
            start = end - 1 - i
            if past.terms[start - begin] > 1e-300:
                last = start
                left -= past.terms[start - begin]
                if left < 0.0:
                    return last
        end = begin
    return last  # where rounding left a crumb of the total over, the last start that was possible


def _fill_terms(past: Past, g: int, log_total: float, u: int, begin: int, end: int) -> None:
    """Probabilities that the bin which ends at cell u starts at each of the cells from `begin` on."""
    # What belongs to cell u is read before the loop: the compiler cannot know that `terms` lies elsewhere.
    x, log_f, terms, lam = past.x, past.log_f, past.terms, past.lam[g]
    hits, misses = past.hits, past.misses
    positives, negatives, here = hits[u + 1], misses[u + 1], x[u]
    if past.akaike:  # two loops, lest the choice keeps one from being done many cells at a time
        for start in range(begin, end):
            score = _akaike(positives - hits[start], negatives - misses[start])
            terms[start - begin] = fast_math.exp(log_f[g, start] + score - lam * (here - x[start]) - log_total)
    else:
        a, b = positives + past.alpha, negatives + past.beta
        for start in range(begin, end):
            score = fast_math.log_beta(a - hits[start], b - misses[start])
            terms[start - begin] = fast_math.exp(log_f[g, start] + score - lam * (here - x[start]) - log_total)
