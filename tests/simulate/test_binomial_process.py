import numpy as np
import pytest

from calibrant import simulate
from calibrant.errors import InvalidInputError


def test_follows_algorithm_three():
    data = simulate.binomial_process(1000, np.square, (2.0, 5.0), rng=7)
    rng = np.random.default_rng(7)
    scores = rng.beta(2.0, 5.0, 1000)
    assert np.array_equal(data.scores, scores)
    assert np.array_equal(data.probabilities, scores**2)
    assert np.array_equal(data.labels, rng.random(1000) < scores**2)


def test_takes_any_distribution_of_scores():
    data = simulate.binomial_process(100, np.ones_like, lambda rng, n: rng.normal(size=n), rng=0)
    assert data.scores.min() < 0
    assert data.labels.all()


@pytest.mark.parametrize("truth", [lambda s: 2 * s + 1, lambda s: s * np.nan, lambda s: s[:-1]])
def test_refuses_a_map_that_gives_no_probabilities(truth):
    with pytest.raises(InvalidInputError, match="probability"):
        simulate.binomial_process(20, truth, (1.0, 1.0))


def test_refuses_impossible_beta_parameters():
    with pytest.raises(InvalidInputError, match="Beta"):
        simulate.binomial_process(20, np.square, (0.0, 1.0))
