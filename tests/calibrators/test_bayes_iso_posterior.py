import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from calibrant.calibrators.bayes_iso_posterior import integrate


def cells(m=40, n=30, seed=0):
    truth = np.linspace(0.05, 0.9, m)
    return np.random.default_rng(seed).binomial(n, truth).astype(float), np.full(m, float(n)), truth


def deviation(found):
    return np.sqrt((found.masses * found.values**2).sum(axis=1) - found.mean**2)


def draw_prior(m, n_draws, rng):
    """Maps from the prior: ranks in a random order, each with a value that is uniform between those around it."""
    order, uniforms, row = np.argsort(rng.random((n_draws, m)), axis=1), rng.random((n_draws, m)), np.arange(n_draws)
    values = np.full((n_draws, m + 2), np.nan)
    values[:, 0], values[:, -1] = 0.0, 1.0
    for cell, uniform in zip(order.T + 1, uniforms.T, strict=True):
        low = np.fmax.accumulate(values, axis=1)[row, cell]
        high = np.fmin.accumulate(values[:, ::-1], axis=1)[:, ::-1][row, cell]
        values[row, cell] = low + uniform * (high - low)
    return values[:, 1:-1]


def weigh_draws(positives, totals, n_draws):
    """The posterior mean by draws from the prior, weighted with their likelihoods, and its standard error."""
    maps = draw_prior(len(totals), n_draws, np.random.default_rng(0))
    fits = np.log(maps) @ positives + np.log1p(-maps) @ (totals - positives)
    weights = np.exp(fits - fits.max())
    mean = weights @ maps / weights.sum()
    return mean, np.sqrt(weights**2 @ (maps - mean) ** 2) / weights.sum()


@pytest.mark.parametrize(("k", "n"), [(0, 1), (3, 4), (10, 30), (0, 500), (700, 1000)])
def test_one_cell_is_a_beta_distribution(k, n):
    found = integrate(np.array([float(k)]), np.array([float(n)]))
    exact = beta(k + 1, n - k + 1)
    assert found.mean == pytest.approx([exact.mean()], abs=0.02 * exact.std())
    assert deviation(found) == pytest.approx([exact.std()], rel=0.03)
    for share in (0.05, 0.5, 0.95):
        assert found.quantiles(share) == pytest.approx([exact.ppf(share)], abs=0.04 * exact.std())
    if 0 < k < n:
        positive, negative = found.mean_inverses()
        assert positive == pytest.approx([(n + 1) / k], rel=0.02)
        assert negative == pytest.approx([(n + 1) / (n - k)], rel=0.02)


@pytest.mark.parametrize(("m", "n"), [(3, 5), (5, 1), (6, 4), (10, 2)])
def test_few_cells_agree_with_weighted_draws_from_the_prior(m, n):
    positives, totals, _ = cells(m, n, seed=m)
    mean, error = weigh_draws(positives, totals, 200_000)
    assert error.max() < 0.001
    assert (np.abs(integrate(positives, totals).mean - mean) < 4.0 * error + 0.001).all()


@pytest.mark.parametrize(("m", "n"), [(8, 1), (15, 3), (25, 20), (33, 30)])
def test_more_levels_do_not_move_the_mean(m, n):
    positives, totals, _ = cells(m, n)
    coarse, fine, finest = (integrate(positives, totals, size) for size in (None, 24, 32))
    np.testing.assert_allclose(coarse.mean, finest.mean, atol=0.004)
    np.testing.assert_allclose(fine.mean, finest.mean, atol=0.001)
    np.testing.assert_allclose(deviation(coarse), deviation(finest), rtol=0.1)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(any), min_size=1, max_size=20),
    st.sampled_from([1e-3, 0.3, 1.0, 1e3, 1e6]),
)
def test_exchanging_the_labels_mirrors_the_mean(counts, weight):
    positives, negatives = weight * np.array(counts, dtype=float).T
    first = integrate(positives, positives + negatives)
    second = integrate(negatives[::-1], (positives + negatives)[::-1])
    np.testing.assert_allclose(first.mean, 1.0 - second.mean[::-1], atol=1e-6)
    np.testing.assert_allclose(first.quantiles(0.1), 1.0 - second.quantiles(0.9)[::-1], atol=1e-6)
    assert (np.diff(first.mean) >= 0.0).all()
    assert ((first.mean > 0.0) & (first.mean < 1.0)).all()
    np.testing.assert_allclose(first.masses.sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.parametrize("rows", [1e4, 1e6, 1e8, 1e12])
def test_very_many_rows_leave_their_shares(rows):
    truth = np.linspace(0.02, 0.95, 45)
    found = integrate(rows * truth, np.full(45, rows))
    assert np.abs(found.mean - truth).max() < 3.0 / np.sqrt(min(rows, 1e8))
    np.testing.assert_allclose(deviation(found), np.sqrt(truth * (1 - truth) / min(rows, 1e8)), rtol=0.1)


@pytest.mark.parametrize("rows", [30.0, 1e4, 1e8])
def test_labels_against_the_order_are_pooled(rows):
    shares = np.linspace(0.9, 0.1, 30)
    found = integrate(rows * shares, np.full(30, rows))
    assert np.abs(found.mean - 0.5).max() < 3.0 * np.sqrt(0.25 / (30 * rows))


def test_a_step_is_no_less_a_step_for_many_rows():
    found = integrate(np.repeat([0.0, 1e5], 20), np.full(40, 1e5))
    assert found.mean[19] < 1e-4
    assert found.mean[20] > 1.0 - 1e-4


def test_draws_have_the_posteriors_mean_and_spread():
    positives, totals, _ = cells(21, 10)
    found = integrate(positives, totals)
    draws = found.draw(3000, np.random.default_rng(0))
    assert (np.diff(draws, axis=1) > 0).all()
    assert ((draws > 0) & (draws < 1)).all()
    assert (np.abs(draws.mean(axis=0) - found.mean) < 4.5 * deviation(found) / np.sqrt(3000)).all()
    np.testing.assert_allclose(draws.std(axis=0), deviation(found), rtol=0.1)
    for share in (0.05, 0.95):
        np.testing.assert_allclose(np.quantile(draws, share, axis=0), found.quantiles(share), atol=0.02)
