import json
from pathlib import Path

import numpy as np
import pytest

from calibrant import Tally, simulate
from calibrant.decisions import cost_curve, cost_threshold, relative_economic_value
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


def costs_at(y, p, share, threshold):
    missed = np.mean(p[y == 1] < threshold)
    alarms = np.mean(p[y == 0] >= threshold)
    return share * missed + (1 - share) * alarms


@pytest.mark.parametrize("decimals", [1, 6])
def test_agrees_with_a_search_over_all_thresholds(decimals):
    rng = np.random.default_rng(0)
    p = np.round(rng.random(150), decimals)
    y = (rng.random(150) < p**2).astype(int)
    curve = cost_curve(y, p)
    every = np.append(np.unique(p), 2.0)
    for i, share in enumerate(curve.cost_shares):
        assert curve.best[i] == pytest.approx(min(costs_at(y, p, share, t) for t in every))
        assert curve.costs[i] == pytest.approx(costs_at(y, p, share, curve.thresholds[i]))
    assert (curve.best <= curve.trivial + 1e-12).all()
    assert (curve.best <= curve.costs + 1e-12).all()
    assert repr(curve).startswith("CostCurve(cost shares 0.01 … 0.99, mean cost 0.")


def test_the_threshold_is_that_of_the_costs():
    y, p = np.array([0, 0, 0, 1]), np.array([0.1, 0.2, 0.4, 0.8])
    share = 0.25 * 9 / (0.25 * 9 + 0.75 * 1)  # a miss costs nine times a false alarm
    assert cost_curve(y, p, cost_shares=[share]).thresholds == pytest.approx([0.1])


def test_calibrated_probabilities_come_near_the_best():
    data = simulate.from_truth("D1", 20_000)
    raw, true = (cost_curve(data.labels, p) for p in (data.scores, data.probabilities))
    assert np.max(true.costs - true.best) < 0.02
    assert np.max(raw.costs - raw.best) > 0.1


def test_weights_are_repeated_rows():
    weights, y, p = np.array([1, 3, 2, 2]), np.array([0, 1, 0, 1]), np.array([0.2, 0.3, 0.6, 0.9])
    plain = cost_curve(np.repeat(y, weights), np.repeat(p, weights))
    np.testing.assert_allclose(cost_curve(Tally.from_arrays(p, y, weights)).costs, plain.costs)


def test_cost_curves_refuse_shares_outside_and_one_class():
    with pytest.raises(InvalidInputError, match="`cost_shares`"):
        cost_curve([0, 1], [0.2, 0.7], cost_shares=[1.0])
    with pytest.raises(InvalidInputError, match="both classes"):
        cost_curve([1, 1], [0.2, 0.7])


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["labels"])))
def test_agrees_with_scores(case):
    y, p = case["data"]["labels"], case["data"]["probabilities"]
    value = relative_economic_value(y, p, cost_loss_ratios=case["cost_loss_ratios"])
    assert value == pytest.approx(case["relative_economic_value"])


def test_agrees_with_the_expenses_of_each_day():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    for ratio in (0.1, 0.4, 0.8):
        forecast = np.mean(np.where(p >= ratio, ratio, y))
        climate, perfect = min(ratio, y.mean()), ratio * y.mean()
        value = relative_economic_value(y, p, cost_loss_ratios=ratio)
        assert value[0] == pytest.approx((climate - forecast) / (climate - perfect))


def test_a_perfect_forecast_is_worth_one_and_the_base_rate_nothing():
    y = np.array([0, 0, 1, 0, 1])
    assert relative_economic_value(y, y, cost_loss_ratios=[0.2, 0.7]) == pytest.approx([1, 1])
    assert relative_economic_value(y, np.full(5, 0.4), cost_loss_ratios=[0.2, 0.7]) == pytest.approx([0, 0])


def test_economic_value_refuses_ratios_outside_and_one_class():
    with pytest.raises(InvalidInputError, match="`cost_loss_ratios`"):
        relative_economic_value([0, 1], [0.2, 0.7], cost_loss_ratios=[0.0])
    with pytest.raises(InvalidInputError, match="both classes"):
        relative_economic_value([1, 1], [0.2, 0.7], cost_loss_ratios=[0.5])
