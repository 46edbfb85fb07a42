"""Folds are a partition of the rows, and the numbers of out-of-fold rows are those of plain cross-validation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import IsotonicCalibration, Tally
from calibrant.comparison.crossfit import MOST_DRAWN, OutOfFold, crossfit, folds
from calibrant.metrics.scores import brier_loss


def made(seed=0, n=300, n_distinct=40):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, n_distinct, n) / n_distinct
    return Tally.from_arrays(scores, rng.random(n) < scores)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(4, 300), st.integers(2, 8))
def test_folds_are_a_partition_with_even_classes(seed, n, n_folds):
    tally = made(seed, n)
    parts = list(folds(tally, n_folds, np.random.default_rng(seed)))
    assert sum((part.test for part in parts), Tally.empty()) == tally
    assert all(part.train + part.test == tally for part in parts)
    for count in (lambda t: t.total_positive, lambda t: t.total - t.total_positive):
        sizes = [count(part.test) for part in parts]
        assert max(sizes) - min(sizes) <= 1.0


def test_weights_that_are_not_whole_keep_their_sums():
    tally = Tally(np.array([0.1, 0.5, 0.9]), np.array([0.3, 2.5, 3.0]), np.array([2.0, 4.25, 3.5]))
    parts = list(folds(tally, 3, np.random.default_rng(0)))
    total = sum((part.test for part in parts), Tally.empty())
    np.testing.assert_allclose(total.totals, tally.totals)
    np.testing.assert_allclose(total.positives, tally.positives)
    assert all((part.train.positives <= part.train.totals).all() for part in parts)


def test_more_rows_than_can_be_drawn_exactly_are_split_all_the_same():
    half = float(MOST_DRAWN)
    tally = Tally(np.array([0.2, 0.8]), np.array([half, 3 * half]), np.array([4 * half, 4 * half]))
    parts = list(folds(tally, 2, np.random.default_rng(0)))
    assert sum((part.test for part in parts), Tally.empty()) == tally
    assert parts[0].test.total == pytest.approx(4 * half, rel=1e-3)


def test_two_rows_of_a_class_reach_two_folds():
    tally = Tally.from_arrays([0.1, 0.2, 0.3, 0.8, 0.9], [0, 0, 0, 1, 1])
    for part in folds(tally, 2, np.random.default_rng(0)):
        assert part.train.total_positive == part.test.total_positive == 1.0


def test_out_of_fold_numbers_by_hand():
    found = OutOfFold(np.array([0.5, 1.0]), np.array([1.0, 2.0]), np.array([2.0, 2.0]), 1)
    mean, error = found.mean(found.losses(brier_loss))
    assert mean == pytest.approx(0.125)
    assert error == pytest.approx(np.sqrt(0.015625 / 4))
    assert found.tally() == Tally(np.array([0.5, 1.0]), np.array([1.0, 2.0]), np.array([2.0, 2.0]))


def test_repeats_do_not_shrink_the_error():
    once = OutOfFold(np.array([0.5, 1.0]), np.array([1.0, 2.0]), np.array([2.0, 2.0]), 1)
    twice = OutOfFold(*(np.tile(c, 2) for c in (once.probabilities, once.positives, once.totals)), 2)
    assert twice.mean(twice.losses(brier_loss)) == pytest.approx(once.mean(once.losses(brier_loss)))
    assert twice.tally() == once.tally()


def test_crossfit_predicts_only_what_was_left_out():
    tally = made()
    parts = list(folds(tally, 5, np.random.default_rng(1)))
    found = crossfit(IsotonicCalibration(), parts, 1)
    expected = [IsotonicCalibration().fit_tally(p.train).predict(p.test.scores) for p in parts]
    np.testing.assert_array_equal(found.probabilities, np.concatenate(expected))
    assert found.totals.sum() == tally.total
