import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse, stats

from calibrant import metrics, simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics.folds import OutOfFold

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


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["labels"])))
def test_errors_for_groups_agree_with_statsmodels(case):
    y, p = np.array(case["data"]["labels"]), np.array(case["data"]["probabilities"])
    groups, peer = np.arange(len(y)) // 10, case["groups_of_ten"]
    number = groups.max() + 1
    factor = np.sqrt(number / (number - 1))  # statsmodels was asked for none
    line, t = metrics.calibration_slope(y, p, groups=groups), stats.t.ppf(0.95, number - 1)
    assert line.slope.high - line.slope.value == pytest.approx(peer["slope_error"] * factor * t, rel=1e-4)
    assert line.intercept.high - line.intercept.value == pytest.approx(peer["intercept_error"] * factor * t, rel=1e-4)
    hotelling = peer["wald"] / factor**2 / 2 * (number - 2) / (number - 1)
    assert line.p_value == pytest.approx(stats.f.sf(hotelling, 2, number - 2), rel=1e-3)
    members = sparse.coo_array((np.ones(len(y)), (groups, np.arange(len(y))))).tocsr()
    mean, error = OutOfFold(p, y, np.ones(len(y)), members=members).mean_with_error((y - p) ** 2)
    assert mean == pytest.approx(case["brier"])
    assert error == pytest.approx(peer["brier_error"] * factor)


def test_two_groups_have_intervals_and_no_test():
    data = simulate.from_truth("underconfident", 200)
    line = metrics.calibration_slope(data.labels, data.scores, groups=np.arange(200) % 2)
    assert np.isfinite([line.slope.low, line.slope.high]).all()
    assert np.isnan(line.p_value)
