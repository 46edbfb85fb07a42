import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from calibrant import Tally, metrics, simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics.folds import mean_with_error

RECORDED = json.loads((Path(__file__).parents[1] / "decisions" / "peers.json").read_text(encoding="utf-8"))


def test_recovers_a_line_in_the_logit():
    line = metrics.calibration_slope(simulate.from_truth("underconfident", 50_000, rng=0).tally)
    assert line.slope.value == pytest.approx(1.8, abs=0.08)
    assert line.slope.low < 1.8 < line.slope.high
    assert line.p_value < 1e-9


def test_intervals_cover_the_truth_as_often_as_they_say():
    inside, p_values = 0, []
    for seed in range(150):
        line = metrics.calibration_slope(simulate.binomial_process(500, lambda s: s, (2.0, 3.0), rng=seed).tally)
        inside += (line.slope.low < 1.0 < line.slope.high) + (line.intercept.low < 0.0 < line.intercept.high)
        p_values.append(line.p_value)
    assert 0.85 < inside / 300 < 0.95
    assert 0.0 < min(p_values) < 0.1
    assert max(p_values) <= 1.0


def test_refuses_data_without_a_finite_slope():
    with pytest.raises(InvalidInputError, match="overlap"):
        metrics.calibration_slope([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    with pytest.raises(InvalidInputError, match="overlap"):
        metrics.calibration_slope([1, 1, 0, 0], [0.1, 0.2, 0.2, 0.9])
    with pytest.raises(InvalidInputError, match="two different"):
        metrics.calibration_slope([0, 1], [0.5, 0.5])
    with pytest.raises(InvalidInputError, match="`level`"):
        metrics.calibration_slope([0, 1], [0.5, 0.5], level=1.0)


def test_by_hand():
    p = np.linspace(0.0, 1.0, 80)
    y = np.zeros(80, dtype=int)
    y[[0, 40, 78]] = 1  # one of the lowest two, one of the highest two
    found = metrics.confidence_diagnosis(y, p)
    assert found.low_predicted == pytest.approx(p[:2].mean())
    assert found.low_observed == pytest.approx(0.5)
    assert found.high_predicted == pytest.approx(p[78:].mean())
    assert found.high_observed == pytest.approx(0.5)
    assert (found.overconfident_low, found.overconfident_high, found.verdict) == (True, True, "over-over")


def test_known_truths():
    under = simulate.from_truth("underconfident", 40_000)
    assert metrics.confidence_diagnosis(under.labels, under.scores).verdict == "under-under"
    over = under.probabilities**3 / (under.probabilities**3 + (1.0 - under.probabilities) ** 3)
    assert metrics.confidence_diagnosis(under.labels, over).verdict == "over-over"


def test_mixed_ends():
    found = metrics.confidence_diagnosis([1, 0, 1, 1], [0.1, 0.4, 0.6, 0.9], share=0.25)
    assert (found.overconfident_low, found.overconfident_high, found.verdict) == (True, False, "over-under")


def test_a_tie_at_the_border_counts_in_part():
    tally = Tally.from_arrays([0.1, 0.5, 0.5, 0.5, 0.5, 0.9], [0, 1, 0, 0, 0, 1])
    found = metrics.confidence_diagnosis(tally, share=1.0 / 3.0)
    assert found.low_predicted == pytest.approx(0.3)  # one row of 0.1 and one of 0.5
    assert found.low_observed == pytest.approx(0.125)


def test_weights_are_rows():
    y, p, w = [0, 1, 1, 0, 1], [0.1, 0.2, 0.4, 0.7, 0.8], [2, 1, 3, 1, 2]
    assert metrics.confidence_diagnosis(y, p, share=0.2, sample_weight=w) == metrics.confidence_diagnosis(
        np.repeat(y, w), np.repeat(p, w), share=0.2
    )


@pytest.mark.parametrize("share", [0.0, 0.6, -1.0])
def test_bad_share(share):
    with pytest.raises(InvalidInputError, match="`share`"):
        metrics.confidence_diagnosis([0, 1], [0.2, 0.8], share=share)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans()), min_size=1, max_size=30), st.floats(0.001, 0.5))
def test_turning_everything_round_swaps_the_ends(rows, share):
    p, y = (np.array(column) for column in zip(*rows, strict=True))
    p = np.round(p, 3)
    there = metrics.confidence_diagnosis(y, p, share=share)
    back = metrics.confidence_diagnosis(~y, 1.0 - p, share=share)
    assert back.low_predicted == pytest.approx(1.0 - there.high_predicted)
    assert back.high_observed == pytest.approx(1.0 - there.low_observed)


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["labels"])))
def test_errors_for_groups_agree_with_statsmodels(case):
    y, p = np.array(case["data"]["labels"]), np.array(case["data"]["probabilities"])
    groups, peer = np.arange(len(y)) // 10, case["groups_of_ten"]
    number = groups.max() + 1
    factor = np.sqrt(number / (number - 1))  # statsmodels was asked for none
    line, t = metrics.calibration_slope(y, p, groups=groups), stats.t.ppf(0.95, number - 1)
    assert line.slope.high - line.slope.value == pytest.approx(peer["slope_error"] * factor * t, rel=1e-4)
    assert line.intercept.high - line.intercept.value == pytest.approx(peer["intercept_error"] * factor * t, rel=1e-4)
    assert line.p_value == pytest.approx(stats.f.sf(peer["wald"] / factor**2 / 2, 2, number - 1), rel=1e-3)
    members = sparse.coo_array((np.ones(len(y)), (groups, np.arange(len(y))))).tocsr()
    mean, error = mean_with_error((y - p) ** 2, np.ones(len(y)), members)
    assert mean == pytest.approx(case["brier"])
    assert error == pytest.approx(peer["brier_error"] * factor)
