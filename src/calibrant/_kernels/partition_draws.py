"""Draws of whole binnings from their posterior: forward filtering, then backward sampling."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from calibrant._kernels.elementary import exp, log_beta
from calibrant._typing import Floats

Integers = npt.NDArray[np.int64]


@njit(cache=True, nogil=True, error_model="numpy")
def draw_binnings(
    x: Floats,
    k: Floats,
    n: Floats,
    lam: Floats,
    alpha: float,
    beta: float,
    log_f: Floats,
    which: Integers,
    rng: np.random.Generator,
) -> tuple[Integers, Integers]:
    """First cells of the bins of one binning for each entry of `which`, the index of its λ.

    Given that a bin ends at cell u, it starts at l with probability F_l · exp(−λ (x_u − x_l)) · M(l, u) / (F_{u+1} /
    Prior(u)), the terms of the forward sum. They are searched from l = u down, so a draw costs O(m) in all, each
    cell being looked at about once. Returns the starts of all binnings, one after another, each from its first bin,
    and where each binning begins in that list.
    """
    m = len(x)
    log_prior = log_beta(alpha, beta)
    offsets = np.zeros(len(which) + 1, np.int64)
    found = np.empty(max(64, 4 * m), np.int64)
    one = np.empty(m, np.int64)
    for d in range(len(which)):
        g = which[d]
        u = m - 1
        bins = 0
        while u >= 0:
            gap = 0.0 if u == m - 1 else math.log(-math.expm1(-lam[g] * (x[u + 1] - x[u])))
            start = _draw_start(x, k, n, lam[g], alpha, beta, log_prior, log_f[g], log_f[g, u + 1] - gap, u, rng)
            one[bins] = start
            bins += 1
            u = start - 1
        if offsets[d] + bins > len(found):
            larger = np.empty(2 * len(found) + bins, np.int64)
            larger[: offsets[d]] = found[: offsets[d]]
            found = larger
        for b in range(bins):
            found[offsets[d] + b] = one[bins - 1 - b]
        offsets[d + 1] = offsets[d] + bins
    return found[: offsets[-1]].copy(), offsets


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_start(
    x: Floats,
    k: Floats,
    n: Floats,
    lam: float,
    alpha: float,
    beta: float,
    log_prior: float,
    log_f: Floats,
    log_total: float,
    u: int,
    rng: np.random.Generator,
) -> int:
    """The start of the bin that ends at cell u."""
    left = rng.random()
    a, b = alpha, beta
    last = u
    for start in range(u, -1, -1):
        a += k[start]
        b += n[start] - k[start]
        term = log_f[start] + log_beta(a, b) - log_prior - lam * (x[u] - x[start]) - log_total
        if term > -700.0:
            last = start
            left -= exp(term)
            if left < 0.0:
                break
    return last  # where rounding left a crumb of the total over, the last start that was possible
