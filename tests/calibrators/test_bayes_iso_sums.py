import numpy as np
import pytest

from calibrant.calibrators.bayes_iso_posterior import build_model, find_windows, spread_levels, sum_inside, sum_outside

SIZE = 8


def model_of(positives, totals, size=SIZE):
    positives, totals = np.asarray(positives, dtype=float), np.asarray(totals, dtype=float)
    return build_model(positives, totals, spread_levels(*find_windows(positives, totals), size), size)


def slow_inside(model):
    """The recursion of the prior, pair by pair and level by level."""
    size, n = model.size, model.n_cells + 2
    table = np.zeros((n, size, n, size))
    for gap in range(1, n):
        for first in range(n - gap):
            last = first + gap
            if gap == 1:
                table[first, :, last] = model.neighbours[first]
                continue
            for low in range(size):
                for high in range(size):
                    cells = range(first + 1, last)
                    terms = [table[first, low, c, x] * table[c, x, last, high] for c in cells for x in range(size)]
                    share = model.shares[first * size + low, last * size + high]
                    table[first, low, last, high] = share * sum(terms)
    return table.reshape(n * size, n * size)


@pytest.mark.parametrize("positives", [[1.0], [0.0, 1.0], [2.0, 0.0, 1.0, 2.0]])
def test_sums_are_those_of_the_obvious_recursion(positives):
    model = model_of(positives, np.full(len(positives), 2.0))
    np.testing.assert_allclose(sum_inside(model), slow_inside(model), rtol=1e-12)


def test_outside_sums_are_derivatives():
    # The whole likelihood times the share of each two levels of neighbours: how it changes with their entry.
    model = model_of([1.0, 0.0, 2.0], [2.0, 1.0, 2.0])
    table = sum_inside(model)
    found = sum_outside(model, table)
    np.testing.assert_allclose(found.sum(axis=(1, 2)), 1.0, rtol=1e-12)
    rng = np.random.default_rng(0)
    for pair, low, high in zip(rng.integers(0, 4, 12), rng.integers(0, 8, 12), rng.integers(0, 8, 12), strict=True):
        neighbours = model.neighbours.copy()
        neighbours[pair, low, high] *= 1.001
        more = sum_inside(model._replace(neighbours=neighbours))[0, -1] / table[0, -1]
        assert (more - 1.0) / 0.001 == pytest.approx(found[pair, low, high], abs=1e-8)


def test_neighbours_agree_about_the_cell_between_them():
    model = model_of(np.arange(12) % 3, np.full(12, 3.0))
    found = sum_outside(model, sum_inside(model))
    np.testing.assert_allclose(found.sum(axis=1)[:-1], found.sum(axis=2)[1:], atol=1e-14)
    places = model.places
    falling = places[:-1, :, None] > places[1:, None, :]
    assert found[falling].max() == 0.0


def test_without_likelihood_the_sums_are_the_prior():
    # Tiny weights: the whole likelihood is one, and one cell is uniform.
    model = model_of([0.5e-9], [1e-9], size=32)
    masses = sum_outside(model, sum_inside(model)).sum(axis=1)[0]
    p = np.linspace(0.0, 1.0, 1001)
    levels = spread_levels(*find_windows(np.array([0.5e-9]), np.array([1e-9])), 32).p
    middles = 0.5 * (levels[1:] + levels[:-1])
    np.testing.assert_allclose(np.interp(p, middles, np.cumsum(masses)[:-1]), p, atol=0.02)
