import numpy as np
import pytest
from scipy import optimize, special, stats

from calibrant import metrics, simulate
from calibrant.decisions import net_benefit
from calibrant.errors import InvalidInputError
from calibrant.metrics import observed_expected_ratio, validation_summary
from calibrant.metrics.validation import Odds, recalibrate


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


STAGES = ["early", "late", "none"]
TRUE_LINES = {"early": (0.4, 0.7), "late": (-0.3, 1.3)}  # intercept and slope against "none"
TRUE_INTERCEPTS = {"early": 0.331, "late": -0.300}  # with slopes held at 1, of 200,000 rows


def draw_stages(n, seed):
    """Stages whose log odds against "none" are lines over those of the probabilities."""
    rng = np.random.default_rng(seed)
    logits = rng.normal([0.3, -0.5], [1.2, 0.9], (n, 2))
    p = special.softmax(np.column_stack((logits, np.zeros(n))), axis=1)
    lines = np.array(list(TRUE_LINES.values()))
    truth = special.softmax(np.column_stack((lines[:, 0] + lines[:, 1] * logits, np.zeros(n))), axis=1)
    return np.array(STAGES)[(rng.random((n, 1)) > truth.cumsum(axis=1)[:, :-1]).sum(axis=1)], p


def multinomial_line(y, p, with_slopes):
    """A direct fit: coefficients outcome by outcome, and their covariance by differences of the likelihood."""
    logits = np.log(p[:, :2] / p[:, 2:])
    outcome = np.column_stack([y == stage for stage in STAGES])

    def loss(w):
        a, b = (w[::2], w[1::2]) if with_slopes else (w, np.ones(2))
        eta = np.column_stack((a + b * logits, np.zeros(len(y))))
        return (special.logsumexp(eta, axis=1) - eta[outcome]).sum()

    start = np.array([0.0, 1.0, 0.0, 1.0] if with_slopes else [0.0, 0.0])
    found = optimize.minimize(loss, start, tol=1e-10).x
    steps, hessian = 1e-3 * np.eye(len(found)), np.empty((len(found), len(found)))
    for i, one in enumerate(steps):
        for j, other in enumerate(steps):
            corners = [a * b * loss(found + a * one + b * other) for a in (1, -1) for b in (1, -1)]
            hessian[i, j] = sum(corners) / 4e-6
    return found, np.linalg.inv(hessian), loss(found), loss(start)


def test_several_outcomes_have_the_lines_of_a_direct_fit():
    y, p = draw_stages(500, 0)
    summary = validation_summary(y, p, reference="none", level=0.95, n_resamples=2)
    for name, place in (("intercept", 0), ("slope", 1)):
        found, covariance, *losses = multinomial_line(y, p, with_slopes=bool(place))
        for k, stage in enumerate(TRUE_LINES):
            interval, i = summary[f"{name}[{stage}]"], k * (1 + place) + place
            assert interval.value == pytest.approx(found[i], abs=1e-5)
            assert interval.width == pytest.approx(2 * stats.norm.ppf(0.975) * covariance[i, i] ** 0.5, rel=1e-4)
    p_value = stats.chi2.sf(2 * (losses[1] - losses[0]), 4)
    assert summary.remarks == (f"All intercepts 0 and slopes 1: p = {p_value:.2g}.",)
    assert "intercept[none]" not in summary.measures


def test_several_outcomes_are_each_measured_against_the_rest():
    y, p = draw_stages(400, 1)
    summary = validation_summary(y, p, thresholds=[0.3], n_resamples=50)
    late = validation_summary(y == "late", p[:, 1], thresholds=[0.3], n_resamples=50)
    for name in set(late.measures) - {"intercept", "slope"}:
        assert summary[f"{name}[late]"] == late[name]
    counts = {stage: int((y == stage).sum()) for stage in STAGES}
    assert max(counts, key=counts.get) == "early"
    told = f"400 rows, {400 - counts['early']} positive ({counts['late']} late, {counts['none']} none; reference early)"
    lines = str(summary).splitlines()
    assert lines[0] == f"{told}; 90 % intervals in brackets"
    assert "  Net benefit at 0.3: late" in [line[:26] for line in lines]
    with pytest.raises(InvalidInputError, match="`reference` must be one of"):
        validation_summary(y, p, reference="severe")
    with pytest.raises(InvalidInputError, match="`reference` is for several outcomes"):
        validation_summary(y == "late", p[:, 1], reference="none")


def test_groups_reach_the_lines_of_several_outcomes():
    y, p = draw_stages(150, 2)
    alone = validation_summary(y, p, groups=np.arange(150), n_resamples=2)
    rows = [np.repeat(column, 6, axis=0) for column in (y, p, np.arange(150))]
    tenfold = validation_summary(*rows[:2], groups=rows[2], n_resamples=2)
    for name in ("intercept[late]", "slope[late]", "slope[none]"):
        assert tenfold[name].width == pytest.approx(alone[name].width)
        assert tenfold[name].width > 1.8 * validation_summary(*rows[:2], n_resamples=2)[name].width


def test_lines_of_several_outcomes_hold_the_truth():
    held = np.zeros(4)
    for seed in range(500):
        y, p = draw_stages(300, seed)
        is_outcome = np.column_stack([y == stage for stage in TRUE_LINES])
        rows = Odds(np.log(p[:, :2] / p[:, 2:]), is_outcome.astype(float), np.ones(300))
        (intercepts, slopes), _ = recalibrate(rows, rows, None, 0.9)
        truth = [*TRUE_INTERCEPTS.values(), *(slope for _, slope in TRUE_LINES.values())]
        held += [one.low <= x <= one.high for one, x in zip(intercepts + slopes, truth, strict=True)]
    assert (abs(held / 500 - 0.9) < 0.035).all()


def test_by_hand():
    # 20 of 100 where 16 are expected: ln 1.25 ± 1.96 √(.8 / 20).
    found = observed_expected_ratio([0] * 80 + [1] * 20, [0.16] * 100, level=0.95)
    assert found.value == pytest.approx(1.25)
    assert np.log(found.high / found.value) == pytest.approx(1.959964 * np.sqrt(0.04), rel=1e-6)
    assert found.low * found.high == pytest.approx(found.value**2)


def test_covers_one_for_calibrated_probabilities():
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        p = rng.beta(1, 4, 400)
        found = observed_expected_ratio(rng.random(400) < p, p, level=0.9)
        covered += found.low <= 1 <= found.high
    assert covered >= 172  # p varies between rows, so the binomial is a little too wide


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


def test_refuses_what_has_no_ratio():
    with pytest.raises(InvalidInputError, match="no positive is expected"):
        observed_expected_ratio([0, 1], [0.0, 0.0])
    with pytest.raises(InvalidInputError, match="needs a positive row"):
        observed_expected_ratio([0] * 20, [0.1] * 20)
