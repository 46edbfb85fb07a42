import numpy as np
import pytest

from calibrant import metrics, simulate
from calibrant.errors import InvalidInputError


def test_by_hand():
    # One bin, mean score .5, rate .75 of 4 rows: .0625 − .1875 / 3 = 0.
    assert metrics.debiased_calibration_error([1, 1, 1, 0], [0.5] * 4) == pytest.approx(0.0, abs=1e-12)
    assert metrics.debiased_calibration_error([1, 1, 1, 0], [0.25] * 4) == pytest.approx(np.sqrt(0.25 - 0.0625))


def test_a_bin_of_one_row_counts_nothing():
    assert metrics.debiased_calibration_error([1], [0.2]) == 0.0


def test_first_norm_is_the_limit_of_the_simulated_correction():
    data = simulate.from_truth("underconfident", 300, rng=2)
    plain = metrics.expected_calibration_error(data.labels, data.scores)
    ours = metrics.debiased_calibration_error(data.labels, data.scores, p=1, strategy="uniform")
    rng = np.random.default_rng(0)
    which = np.ceil(data.scores * 15)
    redrawn = np.zeros(20_000)
    for b in np.unique(which):
        inside = which == b
        rate, n = data.labels[inside].mean(), inside.sum()
        draws = rng.normal(rate, np.sqrt(rate * (1 - rate) / n), 20_000)
        redrawn += n / 300 * np.abs(draws - data.scores[inside].mean())
    assert ours == pytest.approx(2 * plain - redrawn.mean(), abs=5e-4)


def test_the_square_is_unbiased_and_the_plain_error_is_not():
    rng = np.random.default_rng(0)
    plain, corrected = [], []
    for _ in range(300):
        p = rng.choice([0.2, 0.5, 0.8], 90)
        y = rng.random(90) < np.where(p == 0.8, 0.6, p)
        plain.append(metrics.expected_calibration_error(y, p, strategy="cells", p=2) ** 2)
        bins = metrics.base.binned(metrics.base.as_tally(y, p), 1, "cells")
        corrected.append(bins.share @ metrics.debiased._unbiased_square(bins))
    truth = 0.2**2 / 3
    assert np.mean(corrected) == pytest.approx(truth, abs=0.002)
    assert np.mean(plain) > truth + 0.004


def test_refuses_other_norms():
    with pytest.raises(InvalidInputError, match="1 or 2"):
        metrics.debiased_calibration_error([0, 1], [0.2, 0.4], p=3)
