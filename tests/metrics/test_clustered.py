"""Standard errors for groups, against statsmodels and against brute force."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse, stats

from calibrant._numerics import links
from calibrant.metrics import calibration_slope, kuiper_test
from calibrant.metrics.clustered import draw_flipped_ranges, mean_with_error, sum_by_group
from calibrant.metrics.grouped_rows import check_grouped_rows
from calibrant.metrics.groups import number_groups

RECORDED = json.loads((Path(__file__).parents[1] / "decisions" / "peers.json").read_text(encoding="utf-8"))


def clustered(n_groups, size, spread, seed):
    """Rows of a group share an effect on the log-odds that the model does not know."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    p = links.expit(rng.normal(0, 1, n_groups * size))
    y = rng.random(len(p)) < links.expit(links.logit(p) + rng.normal(0, spread, n_groups)[groups])
    return y, p, groups


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["labels"])))
def test_errors_for_groups_agree_with_statsmodels(case):
    y, p = np.array(case["data"]["labels"]), np.array(case["data"]["probabilities"])
    groups, peer = np.arange(len(y)) // 10, case["groups_of_ten"]
    number = groups.max() + 1
    factor = np.sqrt(number / (number - 1))  # statsmodels was asked for none
    line, t = calibration_slope(y, p, groups=groups), stats.t.ppf(0.95, number - 1)
    assert line.slope.high - line.slope.value == pytest.approx(peer["slope_error"] * factor * t, rel=1e-4)
    assert line.intercept.high - line.intercept.value == pytest.approx(peer["intercept_error"] * factor * t, rel=1e-4)
    assert line.p_value == pytest.approx(stats.f.sf(peer["wald"] / factor**2 / 2, 2, number - 1), rel=1e-3)
    members = sparse.coo_array((np.ones(len(y)), (groups, np.arange(len(y))))).tocsr()
    mean, error = mean_with_error((y - p) ** 2, np.ones(len(y)), members)
    assert mean == pytest.approx(case["brier"])
    assert error == pytest.approx(peer["brier_error"] * factor)


def test_sums_of_groups():
    groups = number_groups(["a", "b", "a", "c"], 4)
    assert sum_by_group(np.array([1.0, 2.0, 3.0, 4.0]), groups).tolist() == [4.0, 2.0, 4.0]


def test_the_range_of_flipped_gaps_by_brute_force():
    y, p, groups = clustered(6, 5, 1.0, 0)
    rows = check_grouped_rows(y, p, groups)
    observed, draws = draw_flipped_ranges(rows, 3000, 0)
    order = np.argsort(p)

    def span(signs):
        walk = np.concatenate(([0.0], np.cumsum(((y - p) * signs[groups])[order])))
        return walk.max() - walk.min()

    possible = [span(np.array([1 - 2 * (number >> bit & 1) for bit in range(6)])) for number in range(64)]
    assert observed == pytest.approx(possible[0])
    assert {round(value, 9) for value in draws} == {round(value, 9) for value in possible}
    assert draws.mean() == pytest.approx(np.mean(possible), rel=0.02)


def test_the_test_of_groups_keeps_its_level_where_the_plain_one_does_not():
    grouped, plain, runs = 0, 0, 200
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        p, groups = np.repeat(rng.beta(2, 2, 40), 10), np.repeat(np.arange(40), 10)
        y = np.repeat(rng.random(40), 10) < p  # ten copies of one outcome
        grouped += kuiper_test(y, p, groups=groups).p_value < 0.1
        plain += kuiper_test(y, p).p_value < 0.1
    assert grouped <= 0.1 * runs + 4 * np.sqrt(0.09 * runs)  # four standard deviations
    assert plain > 0.5 * runs


def test_an_error_is_found_in_spite_of_groups():
    y, p, groups = clustered(60, 10, 0.5, 1)
    assert kuiper_test(y, np.sqrt(p), groups=groups).p_value < 0.01
