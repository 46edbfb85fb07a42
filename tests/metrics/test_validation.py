import numpy as np
import pytest

from calibrant import metrics, simulate
from calibrant.metrics.observed_expected import observed_expected_ratio
from calibrant.metrics.validation import validation_summary


def test_gathers_the_measures():
    data = simulate.from_truth("underconfident", 1000)
    summary = validation_summary(data.labels, data.scores, level=0.9)
    line = metrics.calibration_slope(data.tally, level=0.9)
    assert (summary.slope, summary.intercept) == (line.slope, line.intercept)
    assert summary.observed_expected == observed_expected_ratio(data.tally, level=0.9)
    assert summary.brier_score == pytest.approx(metrics.brier_score(data.tally))
    assert summary.auc.value == pytest.approx(metrics.roc_auc(data.tally))
    assert summary.auc.low < summary.auc.value < summary.auc.high <= 1.0


def test_groups_reach_every_interval():
    data = simulate.from_truth("underconfident", 150)
    rows = [np.repeat(column, 8) for column in (data.labels, data.scores, np.arange(150))]
    plain, grouped = validation_summary(*rows[:2]), validation_summary(*rows[:2], groups=rows[2])
    for name in ("observed_expected", "intercept", "slope", "auc"):
        one, other = getattr(grouped, name), getattr(plain, name)
        assert one.value == other.value
        assert one.high - one.low > 1.9 * (other.high - other.low)


def test_reads_as_a_table():
    data = simulate.from_truth("D1", 300)
    lines = str(validation_summary(data.tally)).splitlines()
    assert [line.split()[0] for line in lines] == ["Rows", "O/E", "Intercept", "Slope", "AUC", "Brier", "Intervals"]
    assert lines[0] == f"Rows          300 ({data.labels.sum()} positive)"
