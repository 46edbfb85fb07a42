import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import Tally
from calibrant.errors import InvalidInputError
from calibrant.metrics.folds import MOST_DRAWN, split_groups, split_rows, split_tally
from calibrant.metrics.grouped_rows import check_grouped_rows


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
    folds = split_groups(rng.random(200) < 0.5, scores, groups, 5)
    for fold in folds:
        assert not set(np.floor(fold.test.scores)) & set(np.floor(fold.train.scores))
        assert fold.test.total + fold.train.total == 200
    assert sum(fold.test.total for fold in folds) == 200


def test_weights_reach_the_folds():
    folds = split_groups([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1], 2, sample_weight=[1, 2, 3, 4])
    assert sorted(fold.test.total for fold in folds) == [3, 7]


def test_members_count_the_rows_of_each_group():
    rng = np.random.default_rng(0)
    groups, scores = rng.integers(0, 12, 300), rng.integers(0, 30, 300) / 30
    labels, weights = rng.random(300) < scores, rng.integers(0, 3, 300)
    rows = check_grouped_rows(labels, scores, groups, sample_weight=weights)
    for fold in split_rows(rows, 4, 4096, 0):
        members = fold.members.toarray()
        np.testing.assert_allclose(members.sum(axis=0), [*fold.test.positives, *fold.test.negatives])
        for group in np.flatnonzero(members.any(axis=1)):
            own = groups == group
            assert members[group].sum() == weights[own].sum()
            assert members[group, : len(fold.test)].sum() == weights[own & labels].sum()


def test_one_row_has_no_folds_and_one_fold_is_refused():
    assert split_tally(Tally.from_arrays([0.1], [0]), 5) == []
    with pytest.raises(InvalidInputError, match="n_folds"):
        split_tally(Tally.from_arrays([0.1, 0.9], [0, 1]), 1)


def test_folds_that_are_not_stratified_are_a_partition_whose_classes_vary():
    tally = made(0, 100)
    parts = split_tally(tally, 5, 0, stratified=False)
    assert sum((part.test for part in parts), Tally.empty()) == tally
    assert {part.test.total for part in parts} == {20.0}
    positives = [part.test.total_positive for part in parts]
    assert max(positives) - min(positives) > 1.0
