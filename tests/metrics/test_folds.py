import numpy as np
import pytest

from calibrant import Tally, simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics.folds import split_groups, split_tally


def test_every_row_is_judged_once():
    tally = Tally.from_arrays([0.1, 0.1, 0.4, 0.9, 0.9, 0.9], [0, 1, 0, 1, 1, 0], sample_weight=np.full(6, 10))
    folds = split_tally(tally, 4)
    assert sum((fold.test for fold in folds), Tally.empty()) == tally
    assert all(fold.train + fold.test == tally for fold in folds)


def test_folds_have_about_the_same_size_and_rate():
    tally = simulate.from_truth("D1", 20_000).tally
    for fold in split_tally(tally, 5):
        assert fold.test.total == pytest.approx(4000, abs=200)
        assert fold.test.base_rate == pytest.approx(tally.base_rate, abs=0.03)


def test_fractional_weights_are_kept():
    tally = Tally.from_arrays([0.1, 0.4, 0.9, 0.9], [0, 1, 0, 1], sample_weight=[0.3, 2.5, 7.7, 1.1])
    assert sum(fold.test.total for fold in split_tally(tally, 3)) == pytest.approx(tally.total)


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


def test_refuses_one_fold_and_one_row():
    with pytest.raises(InvalidInputError, match="two rows"):
        split_tally(Tally.from_arrays([0.1], [0]), 5)
    with pytest.raises(InvalidInputError, match="n_folds"):
        split_tally(Tally.from_arrays([0.1, 0.9], [0, 1]), 1)
