import numpy as np
import pytest

from calibrant import Tally, simulate
from calibrant.decisions import cost_curve
from calibrant.errors import InvalidInputError


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


def test_refuses_shares_outside_and_one_class():
    with pytest.raises(InvalidInputError, match="`cost_shares`"):
        cost_curve([0, 1], [0.2, 0.7], cost_shares=[1.0])
    with pytest.raises(InvalidInputError, match="both classes"):
        cost_curve([1, 1], [0.2, 0.7])
