import numpy as np
import pytest

from calibrant.decisions import cost_threshold
from calibrant.errors import InvalidInputError


def test_acting_and_not_acting_cost_the_same_at_the_threshold():
    costs = {"cost_fp": 7.0, "cost_fn": 40.0, "cost_tp": 5.0, "cost_tn": -1.0}
    t = cost_threshold(**costs)
    assert t * 5.0 + (1 - t) * 7.0 == pytest.approx(t * 40.0 + (1 - t) * -1.0)
    assert cost_threshold(1, 9) == pytest.approx(0.1)


@pytest.mark.parametrize("costs", [(0, 1), (1, 0), (-1, 2), (np.nan, 1), (1, np.inf)])
def test_refuses_mistakes_that_cost_nothing(costs):
    with pytest.raises(InvalidInputError):
        cost_threshold(*costs)
