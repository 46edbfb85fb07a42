import numpy as np
import pytest
from scipy.optimize import minimize

from calibrant._numerics.linear_pool import pool_weights


def test_one_member_takes_all():
    assert pool_weights(np.array([[0.3], [0.9]]), np.array([2.0, 1.0]), np.array([0.5])).tolist() == [1.0]


def test_without_evidence_the_prior_remains():
    same = np.full((4, 3), 0.6)
    assert pool_weights(same, np.ones(4), np.array([1.0, 2.0, 1.0])) == pytest.approx([0.25, 0.5, 0.25], abs=1e-9)


def test_agrees_with_a_general_optimiser():
    rng = np.random.default_rng(0)
    likelihoods, counts, prior = rng.random((50, 3)), rng.integers(1, 9, 50).astype(float), np.array([0.5, 1.0, 0.2])

    def loss(free):
        w = np.exp(np.append(free, 0.0))
        w /= w.sum()
        return -(counts @ np.log(likelihoods @ w) + prior @ np.log(w))

    free = np.append(minimize(loss, np.zeros(2), tol=1e-12).x, 0.0)
    expected = np.exp(free) / np.exp(free).sum()
    assert pool_weights(likelihoods, counts, prior) == pytest.approx(expected, abs=1e-6)


def test_a_member_without_merit_keeps_only_its_share_of_the_prior():
    rng = np.random.default_rng(1)
    good = rng.random(200)
    weights = pool_weights(np.column_stack((good, 1e-9 * good)), np.full(200, 5.0), np.array([0.5, 0.5]))
    # At the maximum w = prior / (mass − gradient), and the gradient of the second is 1e-9 of that of the first.
    assert weights[1] == pytest.approx(0.5 / 1001.0, rel=1e-6)
