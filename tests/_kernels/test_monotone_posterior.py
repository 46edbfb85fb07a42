import numpy as np

from calibrant._kernels.monotone_posterior import N_CHAINS, WARM_UP, sample


def cells(m=40, n=30, seed=0):
    truth = np.linspace(0.05, 0.9, m)
    totals = np.full(m, float(n))
    return np.random.default_rng(seed).binomial(n, truth).astype(float), totals, truth


def test_chains_that_agree_stop():
    positives, totals, truth = cells()
    found = sample(positives, totals, np.random.default_rng(0), 900, 1.2, 10.0, 10_000)
    assert found.converged
    assert found.draws.shape == (N_CHAINS, 900 // N_CHAINS, 40)
    assert 2 * WARM_UP + 900 // N_CHAINS <= found.n_sweeps <= 1.2 * 900 // N_CHAINS
    assert np.abs(found.draws.mean(axis=(0, 1)) - truth).mean() < 0.05


def test_chains_that_do_not_agree_go_on_and_then_say_so():
    positives, totals, _ = cells()
    found = sample(positives, totals, np.random.default_rng(0), 90, 1.0, 1e9, 1000)
    assert not found.converged
    assert found.draws.shape[1] > 90 // N_CHAINS
    assert 500 < found.n_sweeps <= 1000


def test_the_same_generator_gives_the_same_draws():
    positives, totals, _ = cells()
    first, second = (sample(positives, totals, np.random.default_rng(3), 90, 2.0, 1.0, 200) for _ in range(2))
    np.testing.assert_array_equal(first.draws, second.draws)


def test_doubling_the_sweeps_does_not_move_the_mean():
    positives, totals, _ = cells()
    short = sample(positives, totals, np.random.default_rng(0), 1500, 2.0, 1.0, 9000).draws.mean(axis=(0, 1))
    long = sample(positives, totals, np.random.default_rng(1), 6000, 2.0, 1.0, 9000).draws.mean(axis=(0, 1))
    np.testing.assert_allclose(short, long, atol=0.02)
