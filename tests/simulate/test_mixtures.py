import numpy as np
import pytest
from scipy import stats

from calibrant import simulate


def test_the_recipe_is_the_recorded_one():
    rng = np.random.default_rng(5)
    n, n1 = 1001, 500
    negatives = rng.beta(1, 3, n - n1)
    mask = rng.random(n1) < 0.5
    positives = np.where(mask, rng.beta(1.5, 3, n1), rng.beta(30, 3, n1))
    order = rng.permutation(n)
    data = simulate.bayes_iso(n, rng=5)
    assert np.array_equal(data.scores, np.concatenate((negatives, positives))[order])
    assert np.array_equal(data.labels, np.repeat((0, 1), (n - n1, n1))[order])


def test_the_truth_is_the_ratio_of_the_densities():
    data = simulate.bayes_iso(1000, rng=0)
    positive = 0.5 * stats.beta.pdf(data.scores, 1.5, 3) + 0.5 * stats.beta.pdf(data.scores, 30, 3)
    negative = stats.beta.pdf(data.scores, 1, 3)
    assert data.probabilities == pytest.approx(positive / (positive + negative), abs=1e-12)


def test_the_ideal_losses_are_the_published_ones():
    data = simulate.bayes_iso(100_000, rng=999_999)
    p, y = data.probabilities, data.labels
    assert np.mean((p - y) ** 2) == pytest.approx(0.162, abs=0.002)
    assert -np.mean(np.log(np.where(y, p, 1 - p))) == pytest.approx(0.473, abs=0.004)
