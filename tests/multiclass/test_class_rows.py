import numpy as np
import pytest
from scipy.special import log_softmax

from calibrant.multiclass.features import Features
from calibrant.multiclass.laplace import ScalePrior, fit
from calibrant.multiclass.rows import ClassRows, Rows


@pytest.fixture
def pair():
    """The same rows as doubles with all features, and in single precision."""
    rng = np.random.default_rng(4)
    ell = log_softmax(rng.normal(size=(500, 6)) * 2.0, axis=1)
    y, weights = rng.integers(6, size=500), rng.uniform(0.5, 2.0, 500)
    features = Features.from_rows(ell, weights)
    single = ell.astype(np.float32)
    return Rows(features, ell, y, weights, ("bias", "vector")), ClassRows(features, single, single, y, weights)


def test_agrees_with_the_general_rows(pair, monkeypatch):
    monkeypatch.setattr("calibrant.multiclass.rows.CHUNK_ENTRIES", 600)
    rows, single = pair
    theta = 0.3 * np.random.default_rng(0).normal(size=12)
    log_p = rows.log_probabilities(theta)
    np.testing.assert_allclose(single.log_probabilities(theta), log_p, atol=1e-5)
    assert single.log_likelihood(log_p) == pytest.approx(rows.log_likelihood(log_p))
    p = np.exp(log_p)
    np.testing.assert_allclose(single.gradient(p.astype(np.float32)), rows.gradient(p), atol=1e-3)
    np.testing.assert_allclose(single.blocks(p.astype(np.float32)), rows.arrow(p)[2], rtol=1e-4)


def test_learning_ends_at_the_same_probabilities(pair):
    rows, single = pair
    prior = ScalePrior({"bias": 0.3, "vector": 0.3}, strength=np.inf)
    exact = fit(rows, prior)
    found = fit(single, prior)
    p, q = (np.exp(rows.log_probabilities(posterior.mean)) for posterior in (exact, found))
    np.testing.assert_allclose(q, p, atol=0.01)
