import numpy as np
import pytest
from scipy.special import expit, log_softmax

from calibrant.multiclass import laplace
from calibrant.multiclass.features import Features
from calibrant.multiclass.laplace import ScalePrior, centre, spread_draws, tighten
from calibrant.multiclass.rows import Rows


def fit(n=40, blocks=("slope", "bias", "vector"), seed=1):
    rng = np.random.default_rng(seed)
    ell = log_softmax(rng.normal(size=(n, 3)) * 2.0, axis=1)
    y = np.array([rng.choice(3, p=p) for p in np.exp(ell)])
    rows = Rows(Features.from_rows(ell, np.ones(n)), ell, y, np.ones(n), blocks)
    return rows, laplace.fit(rows, ScalePrior({"slope": 0.5, "bias": 1.0, "vector": 1.0}, strength=np.inf))


def test_deviations_cancel_and_have_the_posterior_covariance():
    _, posterior = fit()
    draws = spread_draws(posterior, 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(draws.sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose((draws**2).mean(axis=0), posterior.curvature.variances(), rtol=0.05)


def test_at_the_centre_the_averaged_probabilities_balance_the_prior():
    rows, posterior = fit()
    draws = spread_draws(posterior, 64, np.random.default_rng(0))
    mean = centre(rows, posterior, draws)
    average = np.mean([np.exp(rows.log_probabilities(mean + s)) for s in draws], axis=0)
    np.testing.assert_allclose(rows.gradient(average), posterior.precision * mean, atol=0.2)
    at_mode = np.mean([np.exp(rows.log_probabilities(posterior.mean + s)) for s in draws], axis=0)
    before = np.abs(rows.gradient(at_mode) - posterior.precision * posterior.mean).max()
    assert np.abs(rows.gradient(average) - posterior.precision * mean).max() < 0.3 * before


def test_the_centred_average_is_nearer_to_the_exact_posterior_mean_than_the_average_around_the_mode():
    """Two classes and an intercept: five rows, all of one class. The exact answer comes from a grid."""
    ell = np.log(np.full((5, 2), 0.5))
    rows = Rows(Features.from_rows(ell, np.ones(5)), ell, np.zeros(5, dtype=int), np.ones(5), ("bias",))
    posterior = laplace.fit(rows, ScalePrior({"bias": 1.5}, strength=np.inf))
    draws = spread_draws(posterior, 4000, np.random.default_rng(0))
    mean = centre(rows, posterior, draws)
    centred, around_mode = (
        np.mean([np.exp(rows.log_probabilities(m + s))[0, 1] for s in draws]) for m in (mean, posterior.mean)
    )
    difference = np.linspace(-30.0, 30.0, 20_001)  # of the two intercepts, N(0, 2 · 1.5²) before the data
    density = expit(difference) ** 5 * np.exp(-0.25 * difference**2 / 1.5**2)
    exact = (expit(-difference) * density).sum() / density.sum()
    assert abs(centred - exact) < 0.5 * abs(around_mode - exact)


@pytest.mark.parametrize("count", [2, 8])
def test_draws_come_in_pairs(count):
    _, posterior = fit()
    draws = spread_draws(posterior, count, np.random.default_rng(0))
    np.testing.assert_allclose(draws[: count // 2], -draws[count // 2 :])


def test_the_tightened_posterior_is_the_curvature_at_the_averaged_probabilities():
    rows, posterior = fit()
    draws = spread_draws(posterior, 64, np.random.default_rng(0))
    average = np.mean([np.exp(rows.log_probabilities(posterior.mean + s)) for s in draws], axis=0)
    right = np.arange(len(posterior.mean), dtype=float)
    expected = np.linalg.solve(rows.curvature(average) + np.diag(posterior.precision), right)
    np.testing.assert_allclose(tighten(rows, posterior, draws).curvature.solve(right), expected)


def test_separated_classes_do_not_blow_the_average_up():
    """Scores that separate the classes hardly bend the likelihood at its mode, and a wide prior leaves it at that."""
    y = np.repeat([0, 1, 2], 30)
    ell = log_softmax(6.0 * np.eye(3)[y] + 0.1 * np.random.default_rng(0).normal(size=(90, 3)), axis=1)
    rows = Rows(Features.from_rows(ell, np.ones(90)), ell, y, np.ones(90), ("slope", "bias", "vector"))
    posterior = laplace.fit(rows, ScalePrior({"slope": 20.0, "bias": 20.0, "vector": 20.0}, strength=np.inf))
    tight = tighten(rows, posterior, spread_draws(posterior, 32, np.random.default_rng(0)))
    draws = spread_draws(tight, 32, np.random.default_rng(0))
    mean = centre(rows, tight, draws)
    average = np.mean([np.exp(rows.log_probabilities(mean + s)) for s in draws], axis=0)
    assert -np.log(average[np.arange(90), y]).mean() < 0.1
