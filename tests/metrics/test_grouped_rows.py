import numpy as np
import pytest
from scipy import stats

from calibrant import Tally
from calibrant.errors import InvalidInputError
from calibrant.metrics.grouped_rows import check_grouped_rows

Y, P = [0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]


@pytest.mark.parametrize(
    "groups",
    [["b", "a", "b", "c"], [7, 3, 7, 9], np.array(["2024-01-02", "2024-01-01", "2024-01-02", "2024-01-05"], "M8[D]")],
    ids=["names", "numbers", "dates"],
)
def test_numbers_groups_of_any_type(groups):
    rows = check_grouped_rows(Y, P, groups)
    assert rows.groups.tolist() == [1, 0, 1, 2]
    assert rows.n_groups == 3
    assert rows.tally() == Tally.from_arrays(P, Y)
    assert rows.tally(rows.groups == 1).total == 2


def test_deals_whole_groups_evenly():
    rows = check_grouped_rows(np.arange(60) % 2, np.linspace(0.1, 0.9, 60), np.arange(60) // 5)
    fold = rows.deal(4, rng=0)
    assert np.bincount(fold).tolist() == [15, 15, 15, 15]
    assert all(len(set(fold[rows.groups == group])) == 1 for group in range(12))
    assert (rows.deal(4, rng=0) == fold).all()


def test_draws_as_many_groups_as_there_are():
    rows = check_grouped_rows(Y, P, [0, 0, 1, 2])
    draws = rows.draw_groups(2000, np.random.default_rng(0))
    assert (draws.sum(axis=1) == 3).all()
    assert draws.mean(axis=0) == pytest.approx([1, 1, 1], abs=0.06)


def test_few_groups_widen_an_interval_as_student_does():
    rows = check_grouped_rows(Y, P, [0, 1, 2, 3])
    ratio = stats.t.ppf(0.95, 3) / stats.norm.ppf(0.95)
    assert rows.expansion(0.9) == pytest.approx(ratio * np.sqrt(4 / 3))
    many = check_grouped_rows(np.arange(5000) % 2, np.linspace(0, 1, 5000), np.arange(5000))
    assert many.expansion(0.9) == pytest.approx(1, abs=1e-3)


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
        check_grouped_rows(Y, P, groups)


def test_refuses_a_tally_and_too_many_folds():
    with pytest.raises(InvalidInputError, match="no longer knows"):
        check_grouped_rows(Tally.from_arrays(P, Y), None, [1, 2, 3, 4])
    with pytest.raises(InvalidInputError, match="at most the number of groups"):
        check_grouped_rows(Y, P, [0, 0, 1, 1]).deal(3)
