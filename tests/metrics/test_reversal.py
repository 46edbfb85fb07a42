"""Scores that rank the classes the wrong way round."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm

from calibrant import Tally
from calibrant.metrics.scores import CERTAIN, _chance_error, describe_doubts, describe_reversal, warn_of_reversal


@pytest.mark.parametrize("digits", [1, 3])
def test_the_error_by_chance_is_that_of_the_mann_whitney_test(digits):
    rng = np.random.default_rng(digits)
    scores, labels = rng.random(80).round(digits), rng.random(80) < 0.3
    tally = Tally.from_arrays(scores, labels)
    test = mannwhitneyu(scores[labels], scores[~labels], use_continuity=False, method="asymptotic", alternative="less")
    area = test.statistic / (labels.sum() * (~labels).sum())
    assert norm.cdf((area - 0.5) / _chance_error(tally)) == pytest.approx(test.pvalue)


def test_scores_that_say_nothing_are_seldom_called_reversed():
    rng = np.random.default_rng(0)
    called = [describe_reversal(Tally.from_arrays(rng.random(50), rng.random(50) < 0.5)) for _ in range(2000)]
    assert sum(text is not None for text in called) <= 10  # about 2000 · P(Z < −3) = 2.7
    assert CERTAIN == 3.0


@pytest.mark.parametrize("labels", [[0, 0, 0], [1, 1, 1], [0, 1, 0]])
def test_one_class_and_equal_scores_are_not_reversed(labels):
    assert describe_reversal(Tally.from_arrays([0.5, 0.5, 0.5], labels)) is None


def test_a_warning_names_the_area():
    scores = np.linspace(0.0, 1.0, 40)
    with pytest.warns(UserWarning, match=r"ROC AUC 0\.00"):
        warn_of_reversal(Tally.from_arrays(scores, scores < 0.5))


def test_the_largest_doubles_are_ranked_too():
    scores = 1.7e308 * np.linspace(-1.0, 1.0, 40)
    assert describe_reversal(Tally.from_arrays(scores, scores > 0.0)) is None
    assert "swapped" in describe_reversal(Tally.from_arrays(scores, scores < 0.0))


def test_few_rows_and_rows_of_one_class_are_doubtful():
    scores, labels = [0.1, 0.4, 0.4, 0.9], [0, 1, 0, 1]
    (few,) = describe_doubts(Tally.from_arrays(scores, labels))
    assert few.startswith("4 rows, 2 of the rarer class, are very few")
    assert describe_doubts(Tally.from_arrays(scores * 20, labels * 20)) == []
    (reversed_,) = describe_doubts(Tally.from_arrays(scores * 20, [1, 0, 1, 0] * 20))
    assert reversed_.startswith("High scores go with the negative class")
