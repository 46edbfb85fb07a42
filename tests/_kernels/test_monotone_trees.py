"""The chain draws from the right distribution: the prior without data, the exact posterior with a few rows."""

import itertools

import numpy as np
import pytest

from calibrant._kernels import monotone_trees as trees


def chain(positives, negatives, n_sweeps, seed=0):
    m = len(positives)
    rng = np.random.default_rng(seed)
    diagonal = np.arange(1, m + 1) / (m + 1)
    values = np.concatenate(([0.0], diagonal, [1.0]))
    totals = np.asarray(positives, float) + negatives
    curve = trees.curvature(diagonal, totals)
    tree = trees.grow(rng.random(m))
    uniforms = rng.random((n_sweeps, trees.UNIFORMS, m))
    counts = (np.pad(np.asarray(part, float), 1) for part in (positives, negatives))
    draws, controls, acceptance = trees.run(values, tree, *counts, curve, uniforms, np.eye(m + 1))
    return draws, acceptance, tree, controls


def check_tree(tree):
    """Every node covers its own range, its children the two parts, and exactly one node has no parent."""
    left, right, parent, first, last = tree
    m = tree.shape[1] - 1
    assert (parent[1:] == 0).sum() == 1
    for node in range(1, m + 1):
        assert first[node] <= node <= last[node]
        for child, a, b in ((left[node], first[node], node - 1), (right[node], node + 1, last[node])):
            assert (child > 0) == (a <= b)
            if child:
                assert (parent[child], first[child], last[child]) == (node, a, b)


@pytest.mark.parametrize("m", [1, 2, 3, 17])
def test_a_grown_tree_is_a_search_tree(m):
    for seed in range(5):
        check_tree(trees.grow(np.random.default_rng(seed).random(m)))


def test_every_cell_is_equally_often_the_root():
    rng = np.random.default_rng(0)
    roots = [int(np.flatnonzero(trees.grow(rng.random(4))[2, 1:] == 0)[0]) for _ in range(4000)]
    np.testing.assert_allclose(np.bincount(roots, minlength=4) / 4000, 0.25, atol=0.03)


def test_moves_keep_the_tree_and_the_order():
    draws, acceptance, tree, _ = chain([0, 1, 0, 3, 5, 9], [4, 0, 2, 1, 0, 0], 500)
    check_tree(tree)
    assert np.diff(np.pad(draws, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))), axis=1).min() > 0.0
    assert 0.2 < acceptance < 0.8


def test_the_same_random_numbers_give_the_same_chain():
    np.testing.assert_array_equal(chain([1, 0, 2], [0, 3, 1], 50)[0], chain([1, 0, 2], [0, 3, 1], 50)[0])


def prior_draws(m, n, seed=0):
    """Section 4.2 of the paper, word by word."""
    rng = np.random.default_rng(seed)
    out = np.empty((n, m))

    def fill(row, first, last, low, high):
        if first <= last:
            x = int(rng.integers(first, last + 1))
            row[x] = rng.uniform(low, high)
            fill(row, first, x - 1, low, row[x])
            fill(row, x + 1, last, row[x], high)

    for row in out:
        fill(row, 0, m - 1, 0.0, 1.0)
    return out


@pytest.mark.compiled
def test_without_data_the_chain_draws_from_the_prior():
    m = 5
    draws, _, _, _ = chain(np.zeros(m), np.zeros(m), 40_000)
    expected = prior_draws(m, 40_000)
    np.testing.assert_allclose(draws.mean(axis=0), expected.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(draws.std(axis=0), expected.std(axis=0), atol=0.01)
    np.testing.assert_allclose(np.corrcoef(draws.T), np.corrcoef(expected.T), atol=0.03)


def shapes(first, last):
    """All search trees over first … last, as (probability, function from the u to the values)."""
    if first > last:
        yield 1.0, lambda *_: None
        return
    for x in range(first, last + 1):
        for (p, left), (q, right) in itertools.product(list(shapes(first, x - 1)), list(shapes(x + 1, last))):

            def place(u, low, high, out, x=x, left=left, right=right):
                out[x] = low + u[x] * (high - low)
                left(u, low, out[x], out)
                right(u, out[x], high, out)

            yield p * q / (last - first + 1), place


def exact_means(positives, negatives):
    """Posterior mean by Gauss-Legendre over the u of every tree: exact, because the likelihood is a polynomial in u."""
    m = len(positives)
    nodes, weights = np.polynomial.legendre.leggauss(1 + m * (sum(positives) + sum(negatives) + 2) // 2)
    nodes, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    u = np.stack(np.meshgrid(*[nodes] * m, indexing="ij")).reshape(m, -1)
    w = np.prod(np.stack(np.meshgrid(*[weights] * m, indexing="ij")).reshape(m, -1), axis=0)
    top, bottom = np.zeros(m), 0.0
    for probability, place in shapes(0, m - 1):
        c = np.empty_like(u)
        place(u, 0.0, 1.0, c)
        likelihood = np.prod([c[k] ** positives[k] * (1 - c[k]) ** negatives[k] for k in range(m)], axis=0)
        weighted = probability * w * likelihood
        top, bottom = top + c @ weighted, bottom + weighted.sum()
    return top / bottom


def test_the_exact_oracle_on_a_case_by_hand():
    # One cell: uniform prior, k of n positive, so the mean is (k + 1) / (n + 2).
    assert exact_means([2], [1]) == pytest.approx([3 / 5])
    # Two cells without data: the root is uniform, the other uniform beyond it: means ½(½ + ¼), ½(½ + ¾).
    assert exact_means([0, 0], [0, 0]) == pytest.approx([3 / 8, 5 / 8])


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("positives", "negatives"),
    [([0, 1], [1, 0]), ([1, 0], [0, 1]), ([0, 1, 1], [1, 0, 0]), ([2, 0, 1], [0, 2, 0]), ([0, 1, 0, 1], [1, 0, 1, 0])],
)
def test_few_rows_equal_the_exact_posterior_mean(positives, negatives):
    draws, _, _, controls = chain(positives, negatives, 40_000)
    np.testing.assert_allclose(draws.mean(axis=0), exact_means(positives, negatives), atol=0.008)
    assert np.abs(controls.mean(axis=0)).max() < 0.02
    assert controls.std(axis=0).min() > 0.3


def log_density(gaps, tree, positives, negatives):
    """The logarithm of the joint density of a tree and of its values, with the gaps as a softmax."""
    values = np.concatenate(([0.0], np.cumsum(gaps)))
    inner = values[1:-1]
    ranges = values[tree[4, 1:] + 1] - values[tree[3, 1:] - 1]
    fit = np.sum(positives * np.log(inner) + negatives * np.log(1.0 - inner))
    return fit - np.log(ranges).sum() + np.log(gaps).sum()


def test_control_variates_are_slopes_of_the_posterior():
    positives, negatives = np.array([0.0, 1.0, 2.0, 0.0]), np.array([1.0, 0.0, 3.0, 0.0])
    draws, _, tree, controls = chain(positives, negatives, 30)
    logs = np.log(np.diff(np.concatenate(([0.0], draws[-1], [1.0]))))

    def at(shifted):
        gaps = np.exp(shifted) / np.exp(shifted).sum()
        return log_density(gaps, tree, positives, negatives)

    numeric = [(at(logs + 1e-5 * unit) - at(logs - 1e-5 * unit)) / 2e-5 for unit in np.eye(5)]
    np.testing.assert_allclose(controls[-1], numeric, atol=1e-6)
