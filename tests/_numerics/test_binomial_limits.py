"""Exact limits of proportions, against scipy and by their definition."""

import numpy as np
import pytest
from scipy.stats import binomtest

from calibrant._numerics.beta import clopper_pearson


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_clopper_pearson_is_scipys(level):
    k, n = (a.ravel() for a in np.meshgrid([0, 1, 2, 7, 10], [10, 11, 40]))
    low, high = clopper_pearson(k.astype(float), n.astype(float), level)
    for i in range(len(k)):
        exact = binomtest(int(k[i]), int(n[i])).proportion_ci(level, "exact")
        assert low[i] == pytest.approx(exact.low, abs=1e-12)
        assert high[i] == pytest.approx(exact.high, abs=1e-12)


def test_the_interval_covers_at_least_as_often_as_it_says():
    # Every count of a binomial, so no simulation: the coverage at p is the probability of the counts that cover it.
    n, level = 25, 0.9
    k = np.arange(n + 1.0)
    low, high = clopper_pearson(k, np.full(n + 1, float(n)), level)
    for p in np.linspace(0.01, 0.99, 33):
        covered = sum(binomial(int(c), n, p) for c in k[(low <= p) & (p <= high)])
        assert covered >= level - 1e-12


def binomial(k, n, p):
    from math import comb

    return comb(n, k) * p**k * (1 - p) ** (n - k)
