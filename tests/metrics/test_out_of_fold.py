"""The numbers of out-of-fold rows are those of plain cross-validation, row by row or group by group."""

import numpy as np
import pytest
from scipy import stats

from calibrant import Tally
from calibrant.metrics.folds import split_rows
from calibrant.metrics.grouped_rows import check_grouped_rows
from calibrant.metrics.out_of_fold import OutOfFold, predict_folds
from calibrant.metrics.scores import brier_loss


def test_numbers_by_hand():
    found = OutOfFold(np.array([0.5, 1.0]), np.array([1.0, 2.0]), np.array([2.0, 2.0]), 1)
    interval = found.interval(found.losses(brier_loss), 0.9)
    assert interval.value == pytest.approx(0.125)
    assert interval.high - interval.value == pytest.approx(stats.norm.ppf(0.95) * np.sqrt(0.015625 / 4))
    assert found.tally() == Tally(np.array([0.5, 1.0]), np.array([1.0, 2.0]), np.array([2.0, 2.0]))


def test_repeats_do_not_shrink_the_error():
    once = OutOfFold(np.array([0.5, 1.0]), np.array([1.0, 2.0]), np.array([2.0, 2.0]), 1)
    twice = OutOfFold(*(np.tile(c, 2) for c in (once.probabilities, once.positives, once.totals)), 2)
    intervals = [one.interval(one.losses(brier_loss), 0.9) for one in (once, twice)]
    assert intervals[0].high == pytest.approx(intervals[1].high)
    assert twice.tally() == once.tally()


@pytest.mark.parametrize("repeats", [1, 3])
def test_groups_have_the_error_of_their_sums(repeats):
    rng = np.random.default_rng(0)
    groups, p = np.repeat(np.arange(15), 8), rng.integers(0, 20, 120) / 20
    y, weights = rng.random(120) < p, rng.integers(1, 4, 120)
    rows = check_grouped_rows(y, p, groups, sample_weight=weights)
    splits = [fold for seed in range(repeats) for fold in split_rows(rows, 5, 4096, seed)]
    found = predict_folds(splits, lambda _, scores: scores**2, repeats)
    losses = (y - p**2) ** 2
    mean = np.average(losses, weights=weights)
    sums = np.array([(weights * (losses - mean))[groups == group].sum() for group in range(15)])
    error = np.sqrt(15 / 14 * (sums**2).sum()) / weights.sum()
    interval = found.interval(found.losses(brier_loss), 0.9)
    assert interval.value == pytest.approx(mean)
    assert interval.high - mean == pytest.approx(stats.t.ppf(0.95, 14) * error)
