import numpy as np
import pytest

from calibrant import IsotonicCalibration, PlattScaling, Tally, simulate
from calibrant.decisions import value_of_calibration
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Sigmoid
from calibrant.maps.score import CalibrationMap

SHIFT = CalibrationMap(Sigmoid(1.0, -1.0, "logit"), "probability", True, "shift")


def test_a_map_by_hand():
    # Acting from .5 on; the shift takes .6 to .36 and leaves .3 and .9 on their sides.
    y, p = np.array([0, 1, 0, 0, 1]), np.array([0.3, 0.6, 0.6, 0.6, 0.9])
    worth = value_of_calibration(SHIFT, y, p, cost_fp=2.0, cost_fn=2.0, cv=2)
    assert (worth.cost_before, worth.cost_after) == pytest.approx((4 / 5, 2 / 5))
    assert worth.gain.value == pytest.approx(2 / 5)
    assert (worth.changed, worth.threshold) == pytest.approx((0.6, 0.5))
    assert worth.gain.low < worth.gain.value < worth.gain.high


def test_the_interval_is_that_of_a_mean():
    data = simulate.from_truth("D1", 4000)
    before = np.where(data.scores >= 0.25, (1 - data.labels) * 1.0, data.labels * 3.0)
    after = np.where(SHIFT(data.scores) >= 0.25, (1 - data.labels) * 1.0, data.labels * 3.0)
    worth = value_of_calibration(SHIFT, data.labels, data.scores, cost_fp=1.0, cost_fn=3.0)
    reach = 1.645 * np.std(before - after) / np.sqrt(4000)
    assert worth.gain.value == pytest.approx(np.mean(before - after))
    assert (worth.gain.low, worth.gain.high) == pytest.approx(
        (worth.gain.value - reach, worth.gain.value + reach), abs=0.1 * reach
    )


@pytest.mark.parametrize("method", [PlattScaling(), IsotonicCalibration()], ids=lambda m: type(m).__name__)
def test_finds_the_gain_of_the_truth(method):
    data = simulate.from_truth("underconfident", 20_000)
    costs = {"cost_fp": 1.0, "cost_fn": 4.0}
    worth = value_of_calibration(method, data.labels, data.scores, level=0.99, **costs)
    raw, true = ((p >= 0.2) for p in (data.scores, data.probabilities))
    cost = [np.where(acts, 1 - data.probabilities, 4 * data.probabilities).mean() for acts in (raw, true)]
    assert worth.gain.low <= cost[0] - cost[1] <= worth.gain.high
    assert worth.gain.low > 0


def test_is_judged_on_rows_that_were_not_fitted():
    # Labels are coins: whatever the fit finds in them is worth nothing on other rows.
    rng = np.random.default_rng(0)
    p, y = rng.random(400), rng.random(400) < 0.5
    worth = value_of_calibration(IsotonicCalibration(), y, np.full(400, 0.5) + 1e-3 * p, cost_fp=1, cost_fn=1)
    assert worth.gain.low <= 0.0


def test_groups_stay_together():
    data = simulate.from_truth("underconfident", 300)
    y, p, groups = (np.repeat(column, 8) for column in (data.labels, data.scores, np.arange(300)))
    costs = {"cost_fp": 1.0, "cost_fn": 4.0}
    plain, grouped = (value_of_calibration(SHIFT, y, p, groups=g, **costs).gain for g in (None, groups))
    assert grouped.value == pytest.approx(plain.value)
    assert grouped.high - grouped.low > 2 * (plain.high - plain.low)
    fitted = value_of_calibration(PlattScaling(), y, p, groups=groups, **costs)
    assert fitted.gain.low < fitted.gain.value < fitted.gain.high


def test_the_same_seed_gives_the_same_value():
    data = simulate.from_truth("D1", 500).tally
    first, second = (value_of_calibration(PlattScaling(), data, cost_fp=1, cost_fn=3, rng=5) for _ in range(2))
    assert first == second
    assert str(first).startswith("calibrating first saves ")


def test_refuses_what_cannot_be_judged():
    tally = Tally.from_arrays([0.2, 0.7], [0, 1])
    with pytest.raises(InvalidInputError, match="cost"):
        value_of_calibration(SHIFT, tally, cost_fp=0, cost_fn=1)
    with pytest.raises(InvalidInputError, match="`calibrator`"):
        value_of_calibration("platt", tally, cost_fp=1, cost_fn=1)
    with pytest.raises(InvalidInputError, match="no longer knows"):
        value_of_calibration(SHIFT, tally, cost_fp=1, cost_fn=1, groups=[0, 1])
    with pytest.raises(InvalidInputError, match=r"\[0, 1\]"):
        value_of_calibration(SHIFT, [0, 1, 0, 1], [2.0, 3.0, 1.0, 4.0], cost_fp=1, cost_fn=1, groups=[0, 1, 2, 3])


@pytest.mark.parametrize("n", [50, 200])
def test_few_changed_rows_have_an_interval_that_holds_the_gain(n):
    map_ = CalibrationMap(Sigmoid(1.0, -0.4, "logit"), "probability", True)

    def draw(rng, size):
        p = rng.beta(1.2, 3, size)
        return p, map_(p)

    p, truth = draw(np.random.default_rng(1), 400_000)
    acts_less = (p >= 0.2) & (truth < 0.2)
    gain = np.mean(acts_less * ((1 - truth) - 4 * truth))
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        p, truth = draw(rng, n)
        found = value_of_calibration(map_, rng.random(n) < truth, p, cost_fp=1, cost_fn=4).gain
        held += found.low <= gain <= found.high
    assert 0.86 <= held / 200 <= 0.97
