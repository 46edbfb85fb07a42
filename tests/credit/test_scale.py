import numpy as np
import pytest

from calibrant import Tally, simulate
from calibrant.credit import grade_tests, master_scale
from calibrant.errors import InvalidInputError


@pytest.mark.parametrize("n_grades", [1, 3, 7, 15])
def test_rates_increase_and_add_up(n_grades):
    data = simulate.from_truth("D1", 3000)
    scale = master_scale(data.labels, data.scores, n_grades=n_grades)
    assert 1 <= len(scale.rates) <= n_grades
    assert (np.diff(scale.rates) > 0).all()
    assert scale.totals.sum() == 3000
    assert scale.defaults.sum() == data.labels.sum()
    assert (scale.totals >= 50).all()
    assert (scale.defaults >= 1).all()


def test_grades_hold_the_rows_that_they_count():
    data = simulate.from_truth("underconfident", 2000)
    scale = master_scale(data.labels, data.scores, n_grades=6)
    grades = scale.grade(data.scores)
    assert np.bincount(grades, minlength=len(scale.rates)).tolist() == scale.totals.tolist()
    assert np.bincount(grades, data.labels).tolist() == scale.defaults.tolist()
    np.testing.assert_allclose(scale.map_(data.scores), scale.rates[grades])


def test_joins_the_pair_that_costs_least():
    # Three blocks with rates .1, .12 and .5: the first two go together.
    tally = Tally.from_dict({"scores": [1.0, 2.0, 3.0], "positives": [10, 12, 50], "totals": [100, 100, 100]})
    scale = master_scale(tally, n_grades=2)
    assert scale.rates == pytest.approx([0.11, 0.5])
    assert scale.edges.tolist() == [2.0]


def test_small_grades_join_a_neighbour():
    tally = Tally.from_dict({"scores": [1.0, 2.0, 3.0], "positives": [0, 12, 5], "totals": [400, 100, 5]})
    scale = master_scale(tally, n_grades=5, least_rows=50, least_defaults=3)
    assert len(scale.rates) == 1 or scale.totals.min() >= 50
    assert scale.defaults.min() >= 3


def test_too_few_defaults_leave_one_grade():
    scale = master_scale([0] * 99 + [1], np.linspace(0, 1, 100), least_defaults=5)
    assert scale.rates == pytest.approx([0.01])
    assert scale.grade([0.2, 0.9]).tolist() == [0, 0]


def test_the_scale_passes_its_own_test():
    data = simulate.from_truth("D1", 5000)
    scale = master_scale(data.labels, data.scores, n_grades=8)
    assert not grade_tests(data.labels, scale.map_(data.scores)).rejected.any()


def test_refuses_no_grades():
    with pytest.raises(InvalidInputError, match="`n_grades`"):
        master_scale([0, 1], [0.1, 0.9], n_grades=0)
