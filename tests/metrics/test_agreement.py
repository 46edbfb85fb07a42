"""Cohen's kappa against scikit-learn's value, a simple variance and simulated coverage."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from calibrant.errors import InvalidInputError
from calibrant.metrics import cohen_kappa


def draw(n_rows, seed, agree=0.6):
    rng = np.random.default_rng(seed)
    people = rng.choice(3, n_rows, p=[0.5, 0.3, 0.2])
    return people, np.where(rng.random(n_rows) < agree, people, rng.choice(3, n_rows))


def test_the_value_is_that_of_scikit_learn_for_any_labels():
    people, judge = draw(300, 0)
    names = np.array(["bad", "good", "great"])
    assert cohen_kappa(people, judge).value == pytest.approx(cohen_kappa_score(people, judge))
    assert cohen_kappa(names[people], names[judge]) == cohen_kappa(people, judge)


def test_the_error_is_near_that_of_agreement_over_disagreement_by_chance():
    people, judge = np.repeat([1, 1, 0, 0], [40, 10, 15, 35]), np.repeat([1, 0, 1, 0], [40, 10, 15, 35])
    kappa = cohen_kappa(people, judge, level=0.95)
    half = (np.arctanh(kappa.high) - np.arctanh(kappa.low)) / 2
    assert kappa.value == pytest.approx(0.5)
    assert half * (1 - 0.25) / 1.959964 == pytest.approx(np.sqrt(0.75 * 0.25 / 100) / 0.5, abs=0.002)


def test_intervals_hold_the_kappa_of_the_population():
    truth = cohen_kappa(*draw(400_000, 99)).value
    held = [(found := cohen_kappa(*draw(150, seed))).low <= truth <= found.high for seed in range(300)]
    assert 0.85 <= np.mean(held) <= 0.95


def test_complete_agreement_leaves_doubt_with_few_rows():
    few, many = (cohen_kappa([0, 1] * n, [0, 1] * n) for n in (5, 500))
    assert few.value == many.value == 1.0
    assert few.low < many.low < 1.0
    assert cohen_kappa([0, 1] * 9, [1, 0] * 9).value == -1.0


@pytest.mark.parametrize(("first", "second"), [([1, 0], [1]), ([1], [1]), ([1, 1], [1, 1])])
def test_what_has_no_kappa_is_refused(first, second):
    with pytest.raises(InvalidInputError):
        cohen_kappa(first, second)
