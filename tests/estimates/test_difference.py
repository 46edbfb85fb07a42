import numpy as np
import pytest

from calibrant import ABB, simulate
from calibrant.errors import InvalidInputError
from calibrant.estimates import estimate, estimate_difference


@pytest.fixture
def judge():
    data = simulate.bayes_iso(150, rng=0)
    return ABB().fit(data.scores, data.labels)


def test_the_value_is_the_difference_of_the_values(judge):
    a, b = np.linspace(0.3, 0.9, 50), np.linspace(0.1, 0.8, 70)
    answer = estimate_difference(judge, a, b, "accuracy")
    assert answer.value == pytest.approx(judge.estimate(a, "accuracy").value - judge.estimate(b, "accuracy").value)
    assert answer.low <= answer.value <= answer.high


def test_the_same_rows_do_not_differ(judge):
    a = np.linspace(0.1, 0.9, 50)
    answer = judge.estimate_difference(a, a, finite=False)
    assert (answer.value, answer.low, answer.high, answer.first_higher) == (0.0, 0.0, 0.0, 0.5)


def test_what_is_uncertain_about_both_alike_cancels(judge):
    a, b = np.linspace(0.42, 0.62, 200), np.linspace(0.40, 0.60, 200)
    apart = estimate(judge, a, finite=False).width
    assert judge.estimate_difference(a, b, finite=False).width < 0.5 * apart


def test_draws_are_those_of_a_loop_over_maps(judge):
    a, b = np.linspace(0.3, 0.9, 5), np.linspace(0.1, 0.8, 7)
    maps = judge.sample_maps(np.concatenate((a, b)), 25, np.random.default_rng(1))
    expected = [truth[:5].mean() - truth[5:].mean() for truth in maps]
    drawn = estimate_difference(judge, a, b, finite=False, of="scores", n_draws=25, random_state=1).draws
    np.testing.assert_allclose(drawn, expected, atol=1e-12)


def test_it_says_which_is_higher_and_warns(judge):
    answer = judge.estimate_difference(np.linspace(0.6, 2.0, 500), np.linspace(0.1, 0.3, 500))
    assert answer.first_higher > 0.95
    assert "the first is higher with probability" in str(answer)
    assert answer.warning.startswith("First: ")
    assert answer.to_dict()["outside"][1] <= 0.1


def test_bad_questions_are_refused(judge):
    with pytest.raises(InvalidInputError, match="`what`"):
        judge.estimate_difference([0.1], [0.2], "median")
