import json
from pathlib import Path

import numpy as np
import pytest

from calibrant.decisions import cost_threshold, decision_curve
from calibrant.errors import InvalidInputError

RECORDED = json.loads((Path(__file__).parent / "peers.json").read_text(encoding="utf-8"))


def test_acting_and_not_acting_cost_the_same_at_the_threshold():
    costs = {"cost_fp": 7.0, "cost_fn": 40.0, "cost_tp": 5.0, "cost_tn": -1.0}
    t = cost_threshold(**costs)
    assert t * 5.0 + (1 - t) * 7.0 == pytest.approx(t * 40.0 + (1 - t) * -1.0)
    assert cost_threshold(1, 9) == pytest.approx(0.1)


@pytest.mark.parametrize("costs", [(0, 1), (1, 0), (-1, 2), (np.nan, 1), (1, np.inf)])
def test_refuses_mistakes_that_cost_nothing(costs):
    with pytest.raises(InvalidInputError):
        cost_threshold(*costs)


def economic_value(event, p, ratios):
    """As docs/howto/forecasting.md has it."""
    curve = decision_curve(event, p, thresholds=ratios, n_resamples=0)
    rate = curve.base_rate
    return (1 - ratios) * curve.advantage / (np.minimum(ratios, rate) - ratios * rate)


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["labels"])))
def test_the_economic_value_of_a_decision_curve_agrees_with_scores(case):
    y, p = case["data"]["labels"], case["data"]["probabilities"]
    value = economic_value(y, p, np.array(case["cost_loss_ratios"]))
    assert value == pytest.approx(case["relative_economic_value"])


def test_the_economic_value_agrees_with_the_expenses_of_each_day():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    for ratio in (0.1, 0.4, 0.8):
        forecast = np.mean(np.where(p >= ratio, ratio, y))
        climate, perfect = min(ratio, y.mean()), ratio * y.mean()
        value = economic_value(y, p, np.array([ratio]))
        assert value[0] == pytest.approx((climate - forecast) / (climate - perfect))


def test_a_perfect_forecast_is_worth_one_and_the_base_rate_nothing():
    y = np.array([0, 0, 1, 0, 1])
    assert economic_value(y, y, np.array([0.2, 0.7])) == pytest.approx([1, 1])
    assert economic_value(y, np.full(5, 0.4), np.array([0.2, 0.7])) == pytest.approx([0, 0])
