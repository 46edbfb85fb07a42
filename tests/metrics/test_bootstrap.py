from functools import partial

import numpy as np
import pytest
from scipy import stats

from calibrant import metrics, simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics.bootstrap import reflected

brier = partial(metrics.bootstrap_interval, metrics.brier_score)


def test_agrees_with_the_normal_approximation():
    data = simulate.from_truth("underconfident", 20_000, rng=0)
    losses = (data.scores - data.labels) ** 2
    found = brier(data.labels, data.scores, level=0.9)
    reach = 1.645 * losses.std() / np.sqrt(20_000)
    assert found.value == pytest.approx(losses.mean())
    assert (found.low, found.high) == pytest.approx((losses.mean() - reach, losses.mean() + reach), abs=2e-4)


def test_the_same_seed_gives_the_same_interval():
    data = simulate.from_truth("D1", 300).tally
    assert brier(data, rng=1, n_resamples=50) == brier(data, rng=1, n_resamples=50)
    assert brier(data, rng=1, n_resamples=50) != brier(data, rng=2, n_resamples=50)


@pytest.mark.parametrize("name", ["D1", "underconfident", "nearly_calibrated"])
def test_intervals_of_the_calibration_error_cover_the_truth(name):
    truth = simulate.TRUTHS[name].calibration_error()
    ece = partial(metrics.expected_calibration_error, strategy="quantile")
    covered = 0
    for seed in range(60):
        found = metrics.bootstrap_interval(ece, simulate.from_truth(name, 1000, rng=seed).tally, n_resamples=150)
        covered += found.low <= truth <= found.high
    assert covered / 60 > 0.75


def test_the_estimate_lies_in_its_interval_within_the_range():
    data = simulate.binomial_process(400, lambda s: s, (1.0, 1.0), rng=0).tally
    for method in ("squared", "basic", "percentile"):
        found = metrics.bootstrap_interval(metrics.expected_calibration_error, data, n_resamples=100, method=method)
        assert 0.0 <= found.low <= found.value <= found.high
    auc = metrics.bootstrap_interval(metrics.roc_auc, data, n_resamples=100, bounds=(0.0, 1.0))
    assert auc.high <= 1.0
    assert str(auc).startswith(f"{auc.value:.4f} [")


def test_reflections_by_hand():
    draws = np.array([3.0, 5.0])
    assert reflected(draws, 4.0, 4.0, "percentile").tolist() == [3.0, 5.0]
    assert reflected(draws, 4.0, 4.0, "basic").tolist() == [5.0, 3.0]
    assert reflected(draws, 4.0, 4.0, "squared") == pytest.approx([np.sqrt(32 - 9), np.sqrt(32 - 25)])
    assert reflected(np.array([6.0]), 4.0, 4.0, "squared") == pytest.approx([-2.0])


def test_few_degrees_of_freedom_widen_an_interval_as_student_does():
    few, many = metrics.Interval.normal(1.0, 0.5, 0.9, degrees=4), metrics.Interval.normal(1.0, 0.5, 0.9)
    assert few.high == pytest.approx(1.0 + 0.5 * stats.t.ppf(0.95, 4))
    assert many.high == pytest.approx(1.0 + 0.5 * stats.norm.ppf(0.95))


@pytest.mark.parametrize("options", [{"level": 1.0}, {"n_resamples": 0}, {"method": "bca"}])
def test_refuses_impossible_options(options):
    with pytest.raises(InvalidInputError):
        brier([0, 1], [0.2, 0.4], **options)


def test_refuses_weights_that_are_no_numbers_of_rows():
    with pytest.raises(InvalidInputError, match="numbers of rows"):
        brier([0, 1], [0.2, 0.4], sample_weight=[0.5, 0.5])
