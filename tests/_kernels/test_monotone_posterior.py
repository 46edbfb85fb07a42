import numpy as np
import pytest

from calibrant._kernels.monotone_posterior import MOST_FURTHER, N_CHAINS, WARM_UP, Limits, sample


def cells(m=40, n=30, seed=0):
    truth = np.linspace(0.05, 0.9, m)
    totals = np.full(m, float(n))
    return np.random.default_rng(seed).binomial(n, truth).astype(float), totals, truth


def test_chains_that_agree_stop():
    positives, totals, truth = cells()
    found = sample(positives, totals, np.random.default_rng(0), 900, Limits(1.2, 10.0), 10_000)
    assert found.converged
    assert found.draws.shape == (N_CHAINS, 900 // N_CHAINS, 40)
    assert 2 * WARM_UP + 900 // N_CHAINS <= found.n_sweeps <= 1.2 * 900 // N_CHAINS
    assert np.abs(found.mean - truth).mean() < 0.05


def test_chains_that_do_not_agree_go_on_and_then_say_so():
    positives, totals, _ = cells()
    found = sample(positives, totals, np.random.default_rng(0), 90, Limits(1.0, 1e9), 1000)
    assert not found.converged
    assert found.draws.shape[1] > 90 // N_CHAINS
    assert 500 < found.n_sweeps <= 1000


def test_a_small_error_is_pursued_within_bounds():
    positives, totals, _ = cells(m=15, n=3)
    loose, strict, never = (
        sample(positives, totals, np.random.default_rng(0), 600, Limits(1.2, 10.0, error), 10_000)
        for error in (1.0, 0.006, 1e-9)
    )
    assert loose.error.max() > 0.006 >= strict.error.max()
    assert loose.n_sweeps < strict.n_sweeps < never.n_sweeps
    assert never.converged
    assert never.draws[:, :, 0].size <= MOST_FURTHER * 600 + N_CHAINS


@pytest.mark.compiled
def test_the_error_is_that_of_the_mean_over_seeds():
    positives, totals, _ = cells(m=15, n=3)
    found = [sample(positives, totals, np.random.default_rng(k), 600, Limits(1.2, 10.0), 10_000) for k in range(40)]
    seen = np.std([each.mean for each in found], axis=0, ddof=1)
    said = np.sqrt(np.mean([each.error**2 for each in found], axis=0))
    np.testing.assert_allclose(said / seen, 1.0, atol=0.45)
    assert np.mean(seen / said) == pytest.approx(1.0, abs=0.2)


@pytest.mark.compiled
def test_control_variates_make_the_error_smaller():
    positives, totals, _ = cells(m=15, n=3)
    found = [sample(positives, totals, np.random.default_rng(k), 600, Limits(1.2, 10.0), 10_000) for k in range(30)]
    plain = np.std([each.draws.mean(axis=(0, 1)) for each in found], axis=0, ddof=1)
    assert np.std([each.mean for each in found], axis=0, ddof=1).mean() < 0.9 * plain.mean()


@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_exchanging_the_labels_mirrors_the_mean(weight):
    positives, totals, _ = cells(m=15, n=3)
    positives[3] += 0.5  # no integers, and not its own mirror image
    limits = Limits(1.2, 10.0)
    first = sample(weight * positives, weight * totals, np.random.default_rng(0), 300, limits, 1000)
    negatives = (weight * totals - weight * positives)[::-1]
    second = sample(negatives, weight * totals[::-1], np.random.default_rng(0), 300, limits, 1000)
    np.testing.assert_allclose(first.mean, 1.0 - second.mean[::-1], atol=1e-12)
    np.testing.assert_allclose(first.draws, 1.0 - second.draws[:, :, ::-1], atol=1e-12)


def test_data_that_are_their_own_mirror_image_have_such_a_mean():
    positives, totals = np.array([0.0, 1.0, 1.0, 2.0]), np.full(4, 2.0)
    found = sample(positives, totals, np.random.default_rng(0), 300, Limits(1.2, 10.0), 1000)
    np.testing.assert_allclose(found.mean, 1.0 - found.mean[::-1], atol=1e-15)


def test_the_same_generator_gives_the_same_draws():
    positives, totals, _ = cells()
    first, second = (sample(positives, totals, np.random.default_rng(3), 90, Limits(2.0, 1.0), 200) for _ in range(2))
    np.testing.assert_array_equal(first.draws, second.draws)


def test_doubling_the_sweeps_does_not_move_the_mean():
    positives, totals, _ = cells()
    short = sample(positives, totals, np.random.default_rng(0), 1500, Limits(2.0, 1.0), 9000)
    long = sample(positives, totals, np.random.default_rng(1), 6000, Limits(2.0, 1.0), 9000)
    np.testing.assert_allclose(short.mean, long.mean, atol=0.01)
