import warnings
from functools import partial

import betacal.beta_calibration
import numpy as np
import pytest
from betacal import BetaCalibration as PeerBeta
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from sklearn.linear_model import LogisticRegression

from calibrant import BetaCalibration

SCORES = st.just(0.0) | st.floats(1e-200, 1.0)  # closer ones are refused

GRID = np.linspace(0.0, 1.0, 101)


def data(n=500, seed=0, a=1.8, b=0.7, c=-0.4):
    rng = np.random.default_rng(seed)
    s = rng.beta(0.8, 1.2, n)
    return s, (rng.random(n) < special.expit(a * np.log(s) - b * np.log1p(-s) + c)).astype(int)


@pytest.fixture
def converged(monkeypatch):
    """The objective of betacal, followed to its minimum instead of to scikit-learn's default tolerance."""
    exact = partial(LogisticRegression, tol=1e-11, max_iter=10_000, solver="newton-cholesky")
    monkeypatch.setattr(betacal.beta_calibration, "LogisticRegression", exact)


def peer(parameters, s, y, weights=None, grid=GRID):
    with warnings.catch_warnings():  # betacal changes the filters
        return PeerBeta(parameters).fit(s, y, weights).predict(grid)


@pytest.mark.usefixtures("converged")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("parameters", ["abm", "ab", "am"])
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_betacal(parameters, seed, weighted):
    s, y = data(seed=seed, c=1.1 * np.log(2.0))  # the truth goes through (½, ½), so all three can fit it
    weights = np.random.default_rng(seed).uniform(0.2, 3.0, len(y)) if weighted else None
    ours = BetaCalibration(parameters=parameters).fit(s, y, weights).predict(GRID)
    np.testing.assert_allclose(ours, peer(parameters, s, y, weights), rtol=0, atol=1e-6)


@pytest.mark.usefixtures("converged")
@pytest.mark.parametrize(("a", "b", "zero"), [(-0.5, 1.5, "a_"), (1.5, -0.5, "b_")])
def test_a_negative_slope_is_dropped_as_in_betacal(a, b, zero):
    s, y = data(2000, a=a, b=b, c=0.0)
    calibrator = BetaCalibration().fit(s, y)
    assert getattr(calibrator, zero) == 0.0
    np.testing.assert_allclose(calibrator.predict(GRID), peer("abm", s, y), rtol=0, atol=1e-6)


def test_the_likelihood_is_at_least_that_of_betacal_itself():
    s, y = data()

    def log_likelihood(p):
        return np.where(y == 1, np.log(p), np.log1p(-p)).sum()

    ours = BetaCalibration().fit(s, y).predict(s)
    theirs = peer("abm", s, y, grid=s)
    np.testing.assert_allclose(ours, theirs, atol=1e-3)
    assert log_likelihood(ours) >= log_likelihood(theirs) - 1e-9


def test_the_curve_through_three_points_by_hand():
    # Three groups and three parameters: the shares 1/5, 2/5 and 4/5 are met exactly.
    s = np.repeat([0.2, 0.5, 0.8], 5)
    y = np.concatenate(([1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 0]))
    calibrator = BetaCalibration().fit(s, y)
    np.testing.assert_allclose(calibrator.predict([0.2, 0.5, 0.8]), [0.2, 0.4, 0.8], atol=1e-9)
    equations = np.column_stack((np.log([0.2, 0.5, 0.8]), -np.log([0.8, 0.5, 0.2]), np.ones(3)))
    expected = np.linalg.solve(equations, special.logit([0.2, 0.4, 0.8]))
    np.testing.assert_allclose([calibrator.a_, calibrator.b_, calibrator.c_], expected, atol=1e-8)


def test_recovers_the_truth():
    calibrator = BetaCalibration().fit(*data(200_000))
    np.testing.assert_allclose([calibrator.a_, calibrator.b_, calibrator.c_], [1.8, 0.7, -0.4], atol=0.1)


def test_ab_keeps_one_half_and_am_has_one_slope():
    s, y = data()
    assert BetaCalibration(parameters="ab").fit(s, y).predict([0.5])[0] == pytest.approx(0.5)
    calibrator = BetaCalibration(parameters="am").fit(s, y)
    assert calibrator.a_ == calibrator.b_


@pytest.mark.filterwarnings("ignore:High scores go with the negative class")
@pytest.mark.parametrize("parameters", ["abm", "am", "ab"])
def test_scores_the_wrong_way_round_give_a_constant(parameters):
    s, y = data(300, a=1.0, b=1.0, c=0.0)
    calibrator = BetaCalibration(parameters=parameters).fit(1.0 - s, y)
    expected = 0.5 if parameters == "ab" else y.mean()
    np.testing.assert_allclose(calibrator.predict(GRID), expected, atol=1e-9)


def test_constant_scores_give_the_base_rate():
    np.testing.assert_allclose(BetaCalibration().fit(np.full(4, 0.3), [0, 1, 0, 0]).predict(GRID), 0.25, atol=1e-9)


def test_target_correction_keeps_separable_data_off_the_ends():
    s, y = np.linspace(0.1, 0.9, 8), np.arange(8) >= 4
    assert BetaCalibration().fit(s, y).predict([0.1])[0] < 1e-6
    corrected = BetaCalibration(target_correction=True).fit(s, y).predict(s)
    assert 0.05 < corrected.min() < corrected.max() < 0.95


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(SCORES, st.booleans()), min_size=1), st.sampled_from(["abm", "ab", "am"]))
def test_always_a_rising_curve(data, parameters):
    scores, y = map(np.array, zip(*data, strict=True))
    calibrator = BetaCalibration(parameters=parameters).fit(scores, y)
    assert min(calibrator.a_, calibrator.b_) >= 0.0
    assert np.isfinite(calibrator.predict(GRID)).all()
