import numpy as np
import pytest

from calibrant import ABB
from calibrant.errors import InvalidInputError
from calibrant.estimates.estimation import Estimate
from calibrant.intervals import Interval


def test_an_answer_reads_as_a_line():
    common = {"level": 0.9, "draws": np.array([0.4, 0.6]), "rows": 1000.0, "outside": 0.0}
    answer = Estimate(value=0.5, low=0.4, high=0.6, quantity="mean", warning="", **common)
    assert str(answer) == "mean outcome 0.5000 [0.4000, 0.6000], level 0.9, 1000 rows"
    assert answer.width == pytest.approx(0.2)
    assert "draws" not in answer.to_dict()
    assert "draws" not in repr(answer)
    rows = Estimate(value=512.4, low=400.0, high=600.0, quantity="positives", warning="Mind this.", **common)
    assert str(rows) == "positive rows 512 [400, 600], level 0.9, 1000 rows\nMind this."


@pytest.mark.parametrize(("high", "does", "times"), [(0.6, "narrow", "1.50"), (1.1, "do not narrow", "0.43")])
def test_a_mean_says_whether_it_beats_counting(high, does, times):
    facts = {"quantity": "mean", "warning": "Mind this.", "draws": np.ones(2), "rows": 1000.0, "outside": 0.0}
    answer = Estimate(0.5, 0.4, high, 0.9, counted=Interval(0.55, 0.4, 0.7, 0.9), **facts)
    _, against, warning = str(answer).splitlines()
    assert against.startswith(f"The scores {does} the interval: counting the labels alone, if they are of rows like ")
    assert against.endswith(f"would give 0.5500 [0.4000, 0.7000], {times} times as wide.")
    assert warning == "Mind this."
    assert answer.to_dict()["counted"] == {"value": 0.55, "low": 0.4, "high": 0.7}


def test_counting_is_that_of_the_labelled_rows():
    scores, labels = np.linspace(0.1, 0.9, 100), np.arange(100) % 4 == 0
    model = ABB().fit(scores, labels)
    answer = model.estimate(scores, sampling_noise=False)
    assert answer.counted.value == 0.25
    assert answer.counted.width == pytest.approx(2 * 1.645 * np.sqrt(0.25 * 0.75 / 100), rel=0.01)
    these = model.estimate(scores)  # as many rows again, whose own outcomes are chance
    assert these.counted.width == pytest.approx(np.sqrt(2.0) * answer.counted.width)
    assert model.estimate(scores, "auc").counted is None
    assert model.estimate(scores, "auc").against_counting == ""


def ends(value, draws, quantity="mean"):
    answer = Estimate.from_draws(quantity, value, draws, 0.9, rows=9.0, outside=None, warning="")
    return answer.low, answer.high


def test_ends_are_quantiles_that_contain_the_value():
    draws = np.linspace(0.0, 1.0, 101)
    assert ends(0.5, draws) == pytest.approx((0.05, 0.95))
    assert ends(0.99, draws) == pytest.approx((0.05, 0.99))
    assert ends(0.5, np.append(draws, np.nan)) == pytest.approx((0.05, 0.95))


def test_a_number_without_a_value_is_refused():
    with pytest.raises(InvalidInputError, match="nothing is called positive"):
        ends(np.nan, np.array([0.1]), "precision")
