import numpy as np
import pytest
from scipy import stats

from calibrant.errors import InvalidInputError
from calibrant.metrics.groups import Groups, number_groups


@pytest.mark.parametrize(
    "groups",
    [["b", "a", "b", "c"], [7, 3, 7, 9], np.array(["2024-01-02", "2024-01-01", "2024-01-02", "2024-01-05"], "M8[D]")],
    ids=["names", "numbers", "dates"],
)
def test_numbers_groups_of_any_type(groups):
    numbered = number_groups(groups, 4)
    assert numbered.codes.tolist() == [1, 0, 1, 2]
    assert numbered.number == 3


def test_deals_whole_groups_evenly():
    groups = number_groups(np.arange(60) // 5, 60)
    fold = groups.deal(4, rng=0)
    assert np.bincount(fold).tolist() == [15, 15, 15, 15]
    assert all(len(set(fold[groups.codes == group])) == 1 for group in range(12))
    assert (groups.deal(4, rng=0) == fold).all()


def test_draws_as_many_groups_as_there_are():
    draws = number_groups([0, 0, 1, 2], 4).draw(2000, np.random.default_rng(0))
    assert (draws.sum(axis=1) == 3).all()
    assert draws.mean(axis=0) == pytest.approx([1, 1, 1], abs=0.06)


def test_few_groups_widen_an_interval_as_student_does():
    ratio = stats.t.ppf(0.95, 3) / stats.norm.ppf(0.95)
    assert Groups(np.arange(4), 4).expansion(0.9) == pytest.approx(ratio * np.sqrt(4 / 3))
    assert Groups(np.arange(5000), 5000).expansion(0.9) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 1, 1, 1], "at least two groups"),
        ([1, 2, 3], "as many rows"),
        ([[1], [2], [3], [4]], "shape"),
        ([1.0, np.nan, 2.0, 2.0], "missing at index 1"),
        (["a", None, "b", "b"], "missing at index 1"),
        (np.array(["2024-01-02", "NaT", "2024-01-02", "2024-01-05"], "M8[D]"), "missing at index 1"),
    ],
)
def test_refuses_groups_that_are_none(groups, message):
    with pytest.raises(InvalidInputError, match=message):
        number_groups(groups, 4)


def test_refuses_more_folds_than_groups():
    with pytest.raises(InvalidInputError, match="at most the number of groups"):
        number_groups([0, 0, 1, 1], 4).deal(3)
