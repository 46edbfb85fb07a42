import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from calibrant import Tally, metrics, simulate
from calibrant.decisions import net_benefit
from calibrant.errors import InvalidInputError
from calibrant.metrics import observed_expected_ratio, validation_summary


def test_gathers_the_measures():
    data = simulate.from_truth("underconfident", 1000)
    summary = validation_summary(data.labels, data.scores, thresholds=[0.2, 0.5], level=0.9)
    line = metrics.calibration_slope(data.tally, level=0.9)
    assert (summary["slope"], summary["intercept"]) == (line.slope, line.intercept)
    assert summary["observed_expected"] == observed_expected_ratio(data.tally, level=0.9)
    values = {
        "ici": metrics.integrated_calibration_index(data.tally),
        "e50": metrics.calibration_error_quantile(data.tally, quantile=0.5),
        "e90": metrics.calibration_error_quantile(data.tally, quantile=0.9),
        "emax": metrics.calibration_error_quantile(data.tally, quantile=1.0),
        "auc": metrics.roc_auc(data.tally),
        "brier_score": metrics.brier_score(data.tally),
        "scaled_brier": metrics.brier_skill_score(data.tally),
        "net_benefit_0.2": net_benefit(data.tally, thresholds=0.2)[0],
        "net_benefit_0.5": net_benefit(data.tally, thresholds=0.5)[0],
    }
    assert list(summary.measures) == ["observed_expected", "intercept", "slope", *values]
    for name, value in values.items():
        assert summary[name].value == pytest.approx(value)
        assert summary[name].low < value < summary[name].high <= 1.0
    assert {interval.level for interval in summary.measures.values()} == {0.9}
    with pytest.raises(InvalidInputError, match="`name` must be one of"):
        summary["net_benefit_0.3"]


def test_errors_of_a_calibrated_model_reach_zero():
    data = simulate.from_truth("D1", 800, rng=3)
    summary = validation_summary(data.labels, data.probabilities)
    assert summary["ici"].low == summary["emax"].low == 0.0 < summary["ici"].high < summary["emax"].high


def test_replicates_give_the_standard_error_of_a_mean():
    data = simulate.from_truth("underconfident", 2000)
    losses = (data.labels - data.scores) ** 2
    found = validation_summary(data.labels, data.scores, n_resamples=4000, level=0.95)["brier_score"]
    assert found.width == pytest.approx(2 * 1.96 * losses.std() / np.sqrt(2000), rel=0.05)


def test_groups_reach_every_interval():
    data = simulate.from_truth("underconfident", 150)
    rows = [np.repeat(column, 8) for column in (data.labels, data.scores, np.arange(150))]
    plain, grouped = validation_summary(*rows[:2]), validation_summary(*rows[:2], groups=rows[2])
    assert plain.remarks == ()
    assert grouped.remarks == ("Rows are in 150 groups, which are kept together.",)
    for name in plain.measures:
        assert grouped[name].value == plain[name].value
        assert grouped[name].width > 1.6 * plain[name].width


def test_few_groups_are_remarked():
    data = simulate.from_truth("underconfident", 240)
    summary = validation_summary(data.labels, data.scores, groups=np.arange(240) % 12)
    assert "fewer than 30 groups" in str(summary).splitlines()[-1]


def test_reads_as_a_table():
    data = simulate.from_truth("D1", 300)
    summary = validation_summary(data.tally, thresholds=0.1)
    lines = str(summary).splitlines()
    assert lines[0] == f"300 rows, {data.labels.sum()} positive; 90 % intervals in brackets"
    kinds = [line for line in lines[2:] if not line.startswith(" ")]
    assert kinds == [
        "Mean calibration (calibration-in-the-large)",
        "Weak calibration",
        "Moderate calibration",
        "Discrimination",
        "Overall performance",
        "Clinical utility",
    ]
    slope = summary["slope"]
    text = f"{slope.value:.2f} ({slope.low:.2f} to {slope.high:.2f})"
    assert f"| Slope | {text} |" in summary.to_markdown().splitlines()
    assert rf"Slope & {text} \\" in summary.to_latex().splitlines()
    assert text in summary.to_html()
    captions = [line.split()[0] for line in summary.caption().splitlines()]
    assert captions == ["Rows", "O/E", "Intercept", "Slope", "ICI", "AUC", "Brier", "Intervals"]
    frame = summary.to_frame().set_index("measure")
    assert frame.loc["slope", ["value", "low", "high"]].tolist() == [slope.value, slope.low, slope.high]


RECORDED = json.loads((Path(__file__).parents[1] / "decisions" / "peers.json").read_text(encoding="utf-8"))


def test_by_hand():
    # 20 of 100 where 16 are expected: ln 1.25 ± 1.96 √(.8 / 20).
    found = observed_expected_ratio([0] * 80 + [1] * 20, [0.16] * 100, level=0.95)
    assert found.value == pytest.approx(1.25)
    assert np.log(found.high / found.value) == pytest.approx(1.959964 * np.sqrt(0.04), rel=1e-6)
    assert found.low * found.high == pytest.approx(found.value**2)


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: str(len(case["data"]["labels"])))
def test_the_exact_interval_agrees_with_statsmodels(case):
    y, p = case["data"]["labels"], case["data"]["probabilities"]
    found = observed_expected_ratio(y, p, method="exact", level=0.95)
    low, high = (end / np.mean(p) for end in case["exact_proportion"])
    assert (found.low, found.high) == pytest.approx((low, high))


def test_covers_one_for_calibrated_probabilities():
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        p = rng.beta(1, 4, 400)
        found = observed_expected_ratio(rng.random(400) < p, p, level=0.9)
        covered += found.low <= 1 <= found.high
    assert covered >= 172  # p varies between rows, so the binomial is a little too wide


def test_no_positive_has_an_exact_interval_only():
    found = observed_expected_ratio([0] * 20, [0.1] * 20, method="exact", level=0.9)
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx((1 - 0.05 ** (1 / 20)) / 0.1)
    with pytest.raises(InvalidInputError, match="exact"):
        observed_expected_ratio([0] * 20, [0.1] * 20)
    assert observed_expected_ratio([1] * 5, [0.5] * 5, method="exact").high == pytest.approx(2.0)


def test_groups_of_equal_rows_have_the_error_of_one_row_each():
    rng = np.random.default_rng(0)
    p = rng.beta(2, 5, 200)
    y = rng.random(200) < p
    alone = observed_expected_ratio(y, p, groups=np.arange(200))
    tenfold = observed_expected_ratio(*(np.repeat(c, 10) for c in (y, p)), groups=np.repeat(np.arange(200), 10))
    assert tenfold.high == pytest.approx(alone.high)
    residuals = y - alone.value * p
    error = np.sqrt(200 / 199 * (residuals**2).sum()) / y.sum()
    assert np.log(alone.high / alone.value) == pytest.approx(stats.t.ppf(0.95, 199) * error)
    with pytest.raises(InvalidInputError, match="independent"):
        observed_expected_ratio(y, p, groups=np.arange(200), method="exact")


def test_refuses_what_has_no_ratio():
    with pytest.raises(InvalidInputError, match="no positive is expected"):
        observed_expected_ratio([0, 1], [0.0, 0.0])
    with pytest.raises(InvalidInputError, match="`method`"):
        observed_expected_ratio(Tally.from_arrays([0.1, 0.9], [0, 1]), method="score")
