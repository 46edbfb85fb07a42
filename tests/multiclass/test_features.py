import numpy as np
import pytest
from scipy.special import log_softmax as scipy_log_softmax

from calibrant._numerics.links import log_odds, log_softmax
from calibrant.multiclass.features import Features, floor_for_zeros


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    logits = rng.normal(size=(300, 4)) * 2.0
    y = np.array([rng.choice(4, p=np.exp(z)) for z in log_softmax(logits)])
    return logits, y


def test_log_softmax_agrees_with_scipy_and_survives_large_logits():
    z = np.array([[1.0, 2.0, 3.0], [1000.0, 0.0, -1000.0]])
    np.testing.assert_allclose(log_softmax(z), scipy_log_softmax(z, axis=1), atol=1e-12)


def test_log_odds_is_the_logit_and_bounded():
    p = np.array([1e-12, 0.3, 0.999])
    np.testing.assert_allclose(log_odds(np.log(p)), np.log(p / (1.0 - p)), rtol=1e-9)
    assert log_odds(np.array([0.0]))[0] < 35.0


def test_exact_zeros_are_half_the_smallest_positive_entry():
    assert floor_for_zeros(np.array([[0.0, 0.2, 0.8], [0.1, 0.1, 0.8]])) == 0.05
    assert floor_for_zeros(np.array([[0.5, 0.5]])) < 1e-299


def test_features_of_a_class_hold_every_block_in_order(rows):
    ell = log_softmax(rows[0])
    features = Features.from_rows(ell, np.ones(len(ell)))
    blocks = ("slope", "curve", "gate", "bias", "vector", "class_curve", "matrix", "confusion")
    lines = features.of_class(ell, 2, blocks, features.of_rows(ell, blocks))
    sizes = features.sizes(blocks)
    assert (sizes["matrix"], sizes["confusion"]) == (3, 3)
    assert lines.shape == (sum(sizes.values()), 300)
    np.testing.assert_allclose(lines[0], ell[:, 2] / features.slope_spread)
    place = 1 + sizes["curve"] + sizes["gate"]
    assert (lines[place] == 1.0).all()
    clipped = np.clip(ell, features.low, features.high)
    np.testing.assert_allclose(lines[place + 1], (clipped[:, 2] - features.center[2]) / features.spread)
    shares = (np.exp(ell) - np.exp(ell).mean(axis=0)) / features.deviation
    np.testing.assert_allclose(lines[-3:], shares[:, [0, 1, 3]].T)


def test_features_treat_weight_two_as_the_row_twice(rows):
    ell = log_softmax(rows[0])
    weights = np.ones(len(ell))
    weights[::3] = 2.0
    once = Features.from_rows(ell, weights)
    twice = Features.from_rows(np.repeat(ell, weights.astype(int), axis=0), np.ones(int(weights.sum())))
    np.testing.assert_allclose(once.curve.knots, twice.curve.knots)
    np.testing.assert_allclose(once.gate.knots, twice.gate.knots)
    np.testing.assert_allclose(once.center, twice.center)
    assert once.spread == pytest.approx(twice.spread)
    assert once.slope_spread == pytest.approx(twice.slope_spread)


def test_features_without_standardisation_are_the_logarithms(rows):
    ell = log_softmax(rows[0])
    features = Features.from_rows(ell, np.ones(len(ell)), adapted=False)
    np.testing.assert_allclose(features.of_rows(ell, ())["scaled"], ell.T)


def test_constant_scores_make_finite_features():
    ell = np.log(np.full((20, 3), 1.0 / 3.0))
    features = Features.from_rows(ell, np.ones(20))
    found = features.of_rows(ell, ("gate", "confusion", "joint"))
    assert set(found) == {"scaled", "gate", "shares", "joint"}
    assert all(np.isfinite(values).all() for values in found.values())
