import numpy as np
import pytest

from calibrant.errors import InvalidInputError
from calibrant.estimates.estimation import Estimate


def test_an_answer_reads_as_a_line():
    common = {"level": 0.9, "draws": np.array([0.4, 0.6]), "rows": 1000.0, "outside": 0.0}
    answer = Estimate(value=0.5, low=0.4, high=0.6, quantity="mean", warning="", **common)
    assert str(answer) == "mean outcome 0.5000 [0.4000, 0.6000], level 0.9, 1000 rows"
    assert answer.width == pytest.approx(0.2)
    assert "draws" not in answer.to_dict()
    assert "draws" not in repr(answer)
    rows = Estimate(value=512.4, low=400.0, high=600.0, quantity="positives", warning="Mind this.", **common)
    assert str(rows) == "positive rows 512 [400, 600], level 0.9, 1000 rows\nMind this."


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
