import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant._kernels import links, simplex


def likelihood(w, table, positives, totals):
    p = np.clip(w @ table, 1e-12, 1.0 - 1e-12)
    return positives @ np.log(p) + (totals - positives) @ np.log1p(-p)


def test_expected_counts_give_the_weights_back():
    table = np.array([np.linspace(0.05, 0.95, 30), np.full(30, 0.5), np.linspace(0.3, 0.4, 30) ** 0.5])
    weights = np.array([0.5, 0.3, 0.2])
    totals = np.full(30, 7.0)
    np.testing.assert_allclose(simplex.mixture_weights(table, 7.0 * (weights @ table), totals), weights, atol=1e-3)


def test_a_part_that_only_hurts_gets_nothing():
    truth = np.linspace(0.1, 0.9, 20)
    weights = simplex.mixture_weights(np.array([truth, 1.0 - truth]), 50.0 * truth, np.full(20, 50.0))
    np.testing.assert_allclose(weights, [1.0, 0.0], atol=1e-6)


def test_labels_of_one_class_and_certain_parts():
    table = links.clip(np.array([np.ones(4), np.full(4, 0.5), np.zeros(4)]))
    weights = simplex.mixture_weights(table, np.ones(4), np.ones(4))
    np.testing.assert_allclose(weights, [1.0, 0.0, 0.0], atol=1e-6)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000))
def test_no_corner_or_middle_is_more_likely(seed):
    rng = np.random.default_rng(seed)
    table, totals = rng.uniform(0.01, 0.99, (3, 12)), rng.integers(1, 9, 12).astype(float)
    positives = rng.binomial(totals.astype(int), 0.5).astype(float)
    weights = simplex.mixture_weights(table, positives, totals)
    assert weights.sum() == pytest.approx(1.0)
    assert weights.min() >= 0.0
    found = likelihood(weights, table, positives, totals)
    for other in (*np.eye(3), np.full(3, 1.0 / 3.0), *rng.dirichlet(np.ones(3), 5)):
        assert found >= likelihood(other, table, positives, totals) - 1e-6
