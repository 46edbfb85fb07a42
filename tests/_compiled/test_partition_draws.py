"""Draws of binnings against the enumeration of all of them."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import betaln, xlogy

from calibrant._compiled import partition_draws, partitions

X = np.array([0.0, 0.1, 0.4, 0.55, 1.0])
K = np.array([0.0, 2.0, 1.0, 4.0, 0.0])
N = np.array([3.0, 2.0, 2.0, 4.0, 1.0])
LAM = np.array([0.7, 6.0])


def log_weight(start, end, akaike):
    hits, total = K[start:end].sum(), N[start:end].sum()
    if akaike:
        return xlogy(hits, hits / total) + xlogy(total - hits, 1.0 - hits / total) - 1.0
    return betaln(hits + 0.8, total - hits + 1.5) - betaln(0.8, 1.5)


def enumeration(lam, akaike):
    """Starts of every binning, and its log score."""
    stay = -lam * np.diff(X)
    for cut in product((False, True), repeat=4):
        edges = [0, *(np.flatnonzero(cut) + 1).tolist(), 5]
        score = np.where(cut, np.log(-np.expm1(stay)), stay).sum()
        yield tuple(edges[:-1]), score + sum(log_weight(a, b, akaike) for a, b in pairwise(edges))


def forward(akaike):
    if akaike:
        return partition_draws.akaike_forward(X, K, N, LAM)
    return partitions.forward(X, K, N, LAM, 0.8, 1.5, False)[0]


@pytest.mark.parametrize("akaike", [False, True])
def test_the_forward_sum_is_the_sum_over_all_binnings(akaike):
    for g, lam in enumerate(LAM):
        total = np.logaddexp.reduce([score for _, score in enumeration(lam, akaike)])
        assert forward(akaike)[g, -1] == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("akaike", [False, True])
@pytest.mark.parametrize("g", [0, 1])
def test_binnings_are_drawn_as_often_as_they_are_probable(akaike, g):
    draws = 5000
    which = np.full(draws, g)
    rng = np.random.default_rng(4)
    starts, offsets = partition_draws.draw_binnings(X, K, N, LAM, 0.8, 1.5, forward(akaike), which, rng, akaike)
    found = {}
    for first, end in pairwise(offsets):
        key = tuple(starts[first:end].tolist())
        found[key] = found.get(key, 0) + 1
    scores = dict(enumeration(LAM[g], akaike))
    total = np.logaddexp.reduce(list(scores.values()))
    for key, score in scores.items():
        p = np.exp(score - total)
        assert abs(found.get(key, 0) / draws - p) < 4.5 * np.sqrt(p * (1 - p) / draws) + 1e-4
