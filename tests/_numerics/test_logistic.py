import numpy as np
import pytest
from scipy import optimize, special
from sklearn.linear_model import LogisticRegression

from calibrant._numerics import logistic


def objective(w, features, positives, totals, ridge=0.0, mean=0.0, offsets=0.0):
    eta = features @ w + offsets
    return totals @ np.logaddexp(0.0, eta) - positives @ eta + 0.5 * np.sum(ridge * (w - mean) ** 2)


def problem(m=50, c=3, seed=0):
    rng = np.random.default_rng(seed)
    features = np.column_stack((np.sort(rng.standard_normal(m)), rng.standard_normal((m, c - 2)), np.ones(m)))
    totals = rng.uniform(0.5, 4.0, m)
    return features, totals * rng.uniform(0.0, 1.0, m), totals


def test_an_intercept_alone_is_the_logit_of_the_base_rate():
    fit = logistic.fit_logistic(np.ones((2, 1)), np.array([1.0, 2.0]), np.array([4.0, 8.0]))
    np.testing.assert_allclose(fit.coefficients, [np.log(3.0 / 9.0)], rtol=1e-10)
    np.testing.assert_allclose(fit.precision, [[12.0 * 0.25 * 0.75]], rtol=1e-8)


def test_one_group_on_each_side_is_solved_by_hand():
    # logit(1/4) at 0 and logit(3/4) at 1: intercept −ln 3, slope 2 ln 3.
    features = np.array([[0.0, 1.0], [1.0, 1.0]])
    fit = logistic.fit_logistic(features, np.array([1.0, 3.0]), np.array([4.0, 4.0]))
    np.testing.assert_allclose(fit.coefficients, [2.0 * np.log(3.0), -np.log(3.0)], rtol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scikit_learn(seed):
    features, positives, totals = problem(seed=seed)
    peer = LogisticRegression(C=1e11, tol=1e-12, max_iter=10_000, solver="newton-cholesky", fit_intercept=False)
    rows, labels = np.vstack((features, features)), np.repeat([1, 0], len(totals))
    peer.fit(rows, labels, np.concatenate((positives, totals - positives)))
    fit = logistic.fit_logistic(features, positives, totals)
    np.testing.assert_allclose(fit.coefficients, peer.coef_[0], rtol=0, atol=1e-8)


def test_priors_and_offsets_enter_the_objective():
    features, positives, totals = problem()
    ridge, mean, offsets = np.array([2.0, 0.5, 0.1]), np.array([1.0, -1.0, 0.0]), np.sin(np.arange(50.0))
    fit = logistic.fit_logistic(features, positives, totals, ridge=ridge, prior_mean=mean, offsets=offsets)
    args = (features, positives, totals, ridge, mean, offsets)
    peer = optimize.minimize(objective, np.zeros(3), args, method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(fit.coefficients, peer.x, rtol=0, atol=1e-6)
    p = special.expit(features @ fit.coefficients + offsets)
    hessian = features.T @ (features * (totals * p * (1.0 - p))[:, None]) + np.diag(ridge)
    np.testing.assert_allclose(fit.precision, hessian, rtol=1e-6)


def test_a_strong_prior_wins():
    features, positives, totals = problem()
    fit = logistic.fit_logistic(features, positives, totals, ridge=1e12, prior_mean=0.7)
    np.testing.assert_allclose(fit.coefficients, 0.7, atol=1e-9)


def test_the_start_does_not_matter():
    features, positives, totals = problem()
    cold = logistic.fit_logistic(features, positives, totals).coefficients
    far = logistic.fit_logistic(features, positives, totals, start=np.array([40.0, -40.0, 40.0])).coefficients
    np.testing.assert_allclose(far, cold, rtol=0, atol=1e-9)


def test_many_cells_start_from_joined_cells_and_end_at_the_same_place():
    rng = np.random.default_rng(0)
    x = np.sort(rng.standard_normal(20_000))
    features = np.column_stack((x, np.ones(len(x))))
    hits = (rng.random(len(x)) < special.expit(1.5 * x - 2.0)).astype(float)
    ones = np.ones(len(x))
    joined = logistic.fit_logistic(features, hits, ones).coefficients
    np.testing.assert_allclose(
        joined, logistic.fit_logistic(features, hits, ones, start=np.zeros(2)).coefficients, atol=1e-10
    )
    np.testing.assert_allclose(joined, [1.5, -2.0], atol=0.15)


@pytest.mark.parametrize("gap", [1.0, 1e-3])
def test_separable_data_stay_finite(gap):
    features = np.array([[-gap, 1.0], [gap, 1.0]])
    w = logistic.fit_logistic(features, np.array([0.0, 5.0]), np.array([5.0, 5.0])).coefficients
    assert np.isfinite(w).all()
    assert special.expit(features @ w)[1] > 0.999


@pytest.mark.parametrize("positives", [0.0, 7.0])
def test_one_class_stays_finite(positives):
    w = logistic.fit_logistic(np.ones((1, 1)), np.array([positives]), np.array([7.0])).coefficients
    assert np.isfinite(w).all()
    assert abs(special.expit(w[0]) - positives / 7.0) < 1e-9


def test_a_direction_without_data_keeps_its_start():
    # Both columns are the same: only their sum is known, and the shortest answer shares it equally.
    column = np.linspace(-1.0, 1.0, 30)
    hits = (np.arange(30) % 3 == 0) | (column > 0.5)
    w = logistic.fit_logistic(np.column_stack((column, column, np.ones(30))), hits.astype(float), np.ones(30))
    np.testing.assert_allclose(w.coefficients[0], w.coefficients[1], atol=1e-6)


def test_standardise_gives_weighted_mean_and_deviation():
    column, totals = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 1.0])
    centre, scale = logistic.standardise(column, totals)
    assert centre == pytest.approx(2.25)
    assert scale == pytest.approx(np.sqrt(np.average((column - 2.25) ** 2, weights=totals)))


@pytest.mark.parametrize("column", [[3.0], [2.0, 2.0]])
def test_standardise_leaves_a_constant_column(column):
    assert logistic.standardise(np.array(column), np.ones(len(column))) == (column[0], 1.0)


@pytest.mark.parametrize("column", [[-1.7e308, 1.7e308], [0.0, 5e-324], [1e16, 1e16 + 2.0]])
def test_standardise_survives_extreme_columns(column):
    centre, scale = logistic.standardise(np.array(column), np.ones(2))
    assert np.isfinite([centre, scale]).all()
    assert scale > 0.0
    assert column[0] <= centre <= column[1]
