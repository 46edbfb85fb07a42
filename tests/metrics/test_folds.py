"""The numbers of out-of-fold rows are those of plain cross-validation, row by row or group by group."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calibrant import Tally
from calibrant.errors import InvalidInputError
from calibrant.metrics.folds import MOST_DRAWN, OutOfFold, predict_folds, split_rows, split_tally
from calibrant.metrics.samples import read_sample

CELLS = (np.array([0.5, 1.0]), np.array([1.0, 2.0]), np.array([2.0, 2.0]))


def made(seed=0, n=300, n_distinct=40):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, n_distinct, n) / n_distinct
    return Tally.from_arrays(scores, rng.random(n) < scores)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(4, 300), st.integers(2, 8))
def test_folds_are_a_partition_with_even_classes(seed, n, n_folds):
    tally = made(seed, n)
    parts = split_tally(tally, n_folds, seed)
    assert sum((part.test for part in parts), Tally.empty()) == tally
    assert all(part.train + part.test == tally for part in parts)
    for count in (lambda t: t.total_positive, lambda t: t.total - t.total_positive):
        sizes = [count(part.test) for part in parts]
        assert max(sizes) - min(sizes) <= 1.0


def test_weights_that_are_not_whole_keep_their_sums():
    tally = Tally(np.array([0.1, 0.5, 0.9]), np.array([0.3, 2.5, 3.0]), np.array([2.0, 4.25, 3.5]))
    parts = split_tally(tally, 3)
    total = sum((part.test for part in parts), Tally.empty())
    np.testing.assert_allclose(total.totals, tally.totals)
    np.testing.assert_allclose(total.positives, tally.positives)
    assert all((part.train.positives <= part.train.totals).all() for part in parts)


def test_more_rows_than_can_be_drawn_exactly_are_split_all_the_same():
    half = float(MOST_DRAWN)
    tally = Tally(np.array([0.2, 0.8]), np.array([half, 3 * half]), np.array([4 * half, 4 * half]))
    parts = split_tally(tally, 2)
    assert sum((part.test for part in parts), Tally.empty()) == tally
    assert parts[0].test.total == pytest.approx(4 * half, rel=1e-3)


def test_two_rows_of_a_class_reach_two_folds():
    tally = Tally.from_arrays([0.1, 0.2, 0.3, 0.8, 0.9], [0, 0, 0, 1, 1])
    for part in split_tally(tally, 2):
        assert part.train.total_positive == part.test.total_positive == 1.0


def test_groups_are_never_split():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 20, 200)
    scores = groups + rng.random(200)  # a score tells its group
    folds = split_rows(read_sample(rng.random(200) < 0.5, scores, groups=groups, space="decision").rows, 5, 200)
    for fold in folds:
        assert not set(np.floor(fold.test.scores)) & set(np.floor(fold.train.scores))
        assert fold.test.total + fold.train.total == 200
    assert sum(fold.test.total for fold in folds) == 200


def test_weights_reach_the_folds():
    rows = read_sample([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], [1, 2, 3, 4], None, [0, 0, 1, 1]).rows
    folds = split_rows(rows, 2, 4)
    assert sorted(fold.test.total for fold in folds) == [3, 7]


def test_members_count_the_rows_of_each_group():
    rng = np.random.default_rng(0)
    groups, scores = rng.integers(0, 12, 300), rng.integers(0, 30, 300) / 30
    labels, weights = rng.random(300) < scores, rng.integers(0, 3, 300)
    rows = read_sample(labels, scores, weights, None, groups).rows
    for fold in split_rows(rows, 4, 4096, 0):
        members = fold.members.toarray()
        np.testing.assert_allclose(members.sum(axis=0), [*fold.test.positives, *fold.test.negatives])
        for group in np.flatnonzero(members.any(axis=1)):
            own = groups == group
            assert members[group].sum() == weights[own].sum()
            assert members[group, : len(fold.test)].sum() == weights[own & labels].sum()


def test_one_row_has_no_folds_and_one_fold_is_refused():
    assert split_tally(Tally.from_arrays([0.1], [0]), 5) == []
    with pytest.raises(InvalidInputError, match="cv"):
        split_tally(Tally.from_arrays([0.1, 0.9], [0, 1]), 1)


def test_folds_that_are_not_stratified_are_a_partition_whose_classes_vary():
    tally = made(0, 100)
    parts = split_tally(tally, 5, 0, stratified=False)
    assert sum((part.test for part in parts), Tally.empty()) == tally
    assert {part.test.total for part in parts} == {20.0}
    positives = [part.test.total_positive for part in parts]
    assert max(positives) - min(positives) > 1.0


def test_numbers_by_hand():
    found = OutOfFold.of_cells(*CELLS)
    interval = found.interval(found.losses("brier"), 0.9)
    assert interval.value == pytest.approx(0.125)
    assert interval.high - interval.value == pytest.approx(stats.norm.ppf(0.95) * np.sqrt(0.015625 / 4))
    assert found.tally() == Tally(np.array([0.5, 1.0]), np.array([1.0, 2.0]), np.array([2.0, 2.0]))


def test_repeats_do_not_shrink_the_error():
    once = OutOfFold.of_cells(*CELLS)
    twice = OutOfFold.of_cells(*(np.tile(c, 2) for c in CELLS), 2)
    intervals = [one.interval(one.losses("brier"), 0.9) for one in (once, twice)]
    assert intervals[0].high == pytest.approx(intervals[1].high)
    assert twice.tally() == once.tally()


@pytest.mark.parametrize("repeats", [1, 3])
def test_groups_have_the_error_of_their_sums(repeats):
    rng = np.random.default_rng(0)
    groups, p = np.repeat(np.arange(15), 8), rng.integers(0, 20, 120) / 20
    y, weights = rng.random(120) < p, rng.integers(1, 4, 120)
    rows = read_sample(y, p, weights, None, groups).rows
    splits = [fold for seed in range(repeats) for fold in split_rows(rows, 5, 4096, seed)]
    found = predict_folds(splits, lambda _, scores: scores**2, repeats)
    losses = (y - p**2) ** 2
    mean = np.average(losses, weights=weights)
    sums = np.array([(weights * (losses - mean))[groups == group].sum() for group in range(15)])
    error = np.sqrt(15 / 14 * (sums**2).sum()) / weights.sum()
    interval = found.interval(found.losses("brier"), 0.9)
    assert interval.value == pytest.approx(mean)
    assert interval.high - mean == pytest.approx(stats.t.ppf(0.95, 14) * error)
