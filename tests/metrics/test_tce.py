import numpy as np
import pytest

from calibrant import metrics, simulate
from calibrant._kernels import binomial_process
from calibrant.errors import InvalidInputError


def test_is_the_integral_of_algorithm_two():
    data = simulate.from_truth("underconfident", 3000, rng=0)
    tally = data.tally
    curve = binomial_process.fit_curve(tally.scores, tally.positives, tally.totals)
    m, v = data.scores.mean(), data.scores.var()
    a_1 = m**2 * (1 - m) / v - m
    draws = np.random.default_rng(0).beta(a_1, a_1 * (1 - m) / m, 400_000)
    for p in (1, 2):
        gaps = np.abs(binomial_process.curve(draws, *curve) - draws) ** p
        assert metrics.tce_bpm(tally, p=p) == pytest.approx(gaps.mean() ** (1 / p), abs=4 * gaps.std() / 600)


def test_recovers_the_true_error_of_d1():
    truth = simulate.TRUTHS["D1"].calibration_error()
    found = [metrics.tce_bpm(simulate.from_truth("D1", 20_000, rng=seed).tally) for seed in range(5)]
    assert np.mean(found) == pytest.approx(truth, abs=0.004)


def test_scores_without_a_beta_distribution():
    assert metrics.tce_bpm([0, 1, 1, 1] * 10, [0.5] * 40) == pytest.approx(0.25, abs=1e-3)
    assert 0.0 <= metrics.tce_bpm([0, 1, 1, 1], [0.0, 0.0, 1.0, 1.0]) <= 1.0


@pytest.mark.parametrize("p", [0.5, np.inf])
def test_refuses_other_norms(p):
    with pytest.raises(InvalidInputError, match="`p`"):
        metrics.tce_bpm([0, 1], [0.2, 0.4], p=p)
