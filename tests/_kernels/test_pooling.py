import numpy as np
import pytest
from scipy.optimize import minimize

from calibrant._kernels.pooling import pool_weights


def test_one_member_takes_all():
    assert pool_weights(np.array([[0.3], [0.9]]), np.array([2.0, 1.0]), np.array([0.5])).tolist() == [1.0]


def test_without_evidence_the_prior_remains():
    same = np.full((4, 3), 0.6)
    assert pool_weights(same, np.ones(4), np.array([1.0, 2.0, 1.0])) == pytest.approx([0.25, 0.5, 0.25], abs=1e-5)


def test_agrees_with_a_general_optimiser():
    rng = np.random.default_rng(0)
    likelihoods, counts, prior = rng.random((50, 3)), rng.integers(1, 9, 50).astype(float), np.array([0.5, 1.0, 0.2])

    def loss(free):
        w = np.exp(np.append(free, 0.0))
        w /= w.sum()
        return -(counts @ np.log(likelihoods @ w) + prior @ np.log(w))

    free = np.append(minimize(loss, np.zeros(2), tol=1e-12).x, 0.0)
    expected = np.exp(free) / np.exp(free).sum()
    assert pool_weights(likelihoods, counts, prior) == pytest.approx(expected, abs=1e-4)
