import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from calibrant import metrics
from calibrant._numerics import links
from calibrant.errors import InvalidInputError
from calibrant.metrics.sample_size import (
    _expected_auc,
    _rows_for_auc,
    _rows_for_ratio,
    required_development_rows,
    required_rows,
)

RECORDED = json.loads((Path(__file__).parents[1] / "decisions" / "peers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", RECORDED["sample_sizes"], ids=lambda case: str(case["prevalence"]))
def test_agrees_with_pmvalsampsize(case):
    ratio, slope, auc = case["widths"]
    quantile = stats.norm.ppf(0.975)
    # That package searches for the standard error in steps of a ten-thousandth, and for AUC row by row.
    ours = np.ceil(_rows_for_ratio(case["prevalence"], ratio, quantile))
    assert ours == pytest.approx(case["rows"]["observed_expected"], rel=0.005)
    ours = np.ceil(_rows_for_auc(case["auc"], case["prevalence"], auc / (2 * quantile)))
    assert ours == pytest.approx(case["rows"]["auc"], abs=1)
    # It draws a million linear predictors; the quantiles of the same normal stand for them here.
    p = links.expit(stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000, -1.0, 1.2))
    found = required_rows(p, observed_expected_width=None, auc_width=None, slope_width=slope, level=0.95)
    assert found.slope == pytest.approx(case["rows"]["slope"], rel=0.005)
    assert found.rows == found.slope


def test_the_intervals_come_out_as_wide_as_wanted():
    rng = np.random.default_rng(0)
    p = rng.beta(1.3, 3.0, 50_000)
    wanted = required_rows(p, slope_width=0.3, level=0.9)
    widths = []
    for _ in range(20):
        sample = rng.choice(p, wanted.slope)
        slope = metrics.calibration_slope(rng.random(len(sample)) < sample, sample, level=0.9).slope
        widths.append(slope.high - slope.low)
    assert np.mean(widths) == pytest.approx(0.3, rel=0.05)


def test_the_auc_of_calibrated_probabilities():
    p = np.array([0.2, 0.5, 0.5, 0.9])
    wins = (p[:, None] > p) + 0.5 * (p[:, None] == p)
    weights = p[:, None] * (1 - p)  # that the first of two rows is positive and the second negative
    assert _expected_auc(p, np.full(4, 0.25)) == pytest.approx((weights * wins).sum() / weights.sum())


def test_weights_are_repeated_rows():
    p, weights = np.array([0.1, 0.3, 0.8]), np.array([3, 2, 1])
    assert required_rows(p, sample_weight=weights) == required_rows(np.repeat(p, weights))


@pytest.mark.parametrize(
    ("p", "options", "message"),
    [
        ([0.2, 0.2], {}, "different"),
        ([0.2, 0.4], {"slope_width": 0.0}, "`slope_width`"),
        ([0.2, 0.4], {"slope_width": None, "auc_width": None, "observed_expected_width": None}, "At least one"),
    ],
)
def test_refuses_what_has_no_answer(p, options, message):
    with pytest.raises(InvalidInputError, match=message):
        required_rows(p, **options)


def test_development_as_published():
    # Riley and others 2019; the figures are those of the authors' program pmsampsize.
    found = required_development_rows(24, 0.174, r_squared=0.288)
    assert found == {"shrinkage": 623, "r_squared": 662, "rate": 221, "rows": 662}
    # That from the C statistic is by a million simulated rows there, and by an integral here.
    found = required_development_rows(24, 0.174, auc=0.89)
    assert found == {"shrinkage": 615, "r_squared": 660, "rate": 221, "rows": 660}


def test_development_needs_one_measure():
    with pytest.raises(InvalidInputError, match="One of `r_squared` and `auc`"):
        required_development_rows(10, 0.2)
