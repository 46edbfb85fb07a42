import numpy as np
import pytest
from scipy.special import log_softmax

from calibrant.multiclass.curvature import Arrow
from calibrant.multiclass.features import Features
from calibrant.multiclass.laplace import ScalePrior, fit
from calibrant.multiclass.rows import Rows


@pytest.fixture
def pair(monkeypatch):
    """The same rows as doubles, and in single precision with an offset and a few rows at a time."""
    rng = np.random.default_rng(4)
    ell = log_softmax(rng.normal(size=(500, 6)) * 2.0, axis=1)
    y, weights = rng.integers(6, size=500), rng.uniform(0.5, 2.0, 500)
    features = Features.from_rows(ell, weights)
    single = ell.astype(np.float32)
    blocks = ("bias", "vector")
    rows = Rows(features, ell, y, weights, blocks)
    for limit in ("DOUBLE_UP_TO", "KEPT_VALUES", "PASS_VALUES"):
        monkeypatch.setattr(f"calibrant.multiclass.rows.{limit}", 70)
    return rows, Rows(features, single, y, weights, blocks, single.copy())


def test_agrees_with_rows_without_an_offset(pair):
    rows, single = pair
    theta = 0.3 * np.random.default_rng(0).normal(size=12)
    log_p = rows.log_probabilities(theta)
    np.testing.assert_allclose(single.log_probabilities(theta), log_p, atol=1e-5)
    assert single.log_likelihood(log_p) == pytest.approx(rows.log_likelihood(log_p))
    p = np.exp(log_p)
    np.testing.assert_allclose(single.gradient(p.astype(np.float32)), rows.gradient(p), atol=1e-3)
    np.testing.assert_allclose(single.arrow(p.astype(np.float32))[2], rows.arrow(p)[2], rtol=1e-4)


def test_learning_ends_at_the_same_probabilities(pair):
    rows, single = pair
    prior = ScalePrior({"bias": 0.3, "vector": 0.3}, strength=np.inf)
    exact = fit(rows, prior)
    found = fit(single, prior)
    p, q = (np.exp(rows.log_probabilities(posterior.mean)) for posterior in (exact, found))
    np.testing.assert_allclose(q, p, atol=0.01)


def test_an_offset_moves_the_logits_and_leaves_the_features(pair):
    _, single = pair
    offset = single.ell + np.arange(6, dtype=np.float32)
    moved = Rows(single.features, single.ell, single.y, single.weights, single.layout.blocks, offset)
    theta = np.tile([0.0, 0.4], 6)
    scaled = single.features.of_rows(single.ell, ("vector",))["scaled"].T
    np.testing.assert_allclose(moved.log_probabilities(theta), log_softmax(offset + 0.4 * scaled, axis=1), atol=1e-5)
    assert isinstance(moved.second_derivatives(np.exp(moved.log_probabilities(theta))), Arrow)
