"""New columns are the map's own numbers; what it refuses is missing and counted."""

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="tables need the extra tables")

from calibrant import IsotonicCalibration, PlattScaling  # noqa: E402
from calibrant.engines.new_columns import NewColumns, to_doubles  # noqa: E402
from calibrant.engines.tables import Table  # noqa: E402
from calibrant.errors import InvalidInputError  # noqa: E402

GRID = np.linspace(0.01, 0.99, 99)
PLATT = PlattScaling().fit(GRID, GRID > 0.4).map_
DECISION = PlattScaling(space="decision").fit(GRID * 10 - 5, GRID > 0.4).map_


def test_scores_that_a_map_refuses_are_missing():
    new = NewColumns(PLATT, ["s"], "p")
    scores = np.array([0.5, np.nan, np.inf, 1.5, -0.1, 0.0, 1.0])
    (found,) = new.compute([scores])
    np.testing.assert_array_equal(found[[0, 5, 6]], PLATT(scores[[0, 5, 6]]))
    assert np.isnan(found[1:5]).all()
    assert (new.rows, new.unusable, new.names) == (7, 4, ["p"])
    (any_,) = NewColumns(DECISION, ["s"], "p").compute([scores])
    assert np.isnan(any_).tolist() == [False, True, True, False, False, False, False]


def test_of_several_scores_the_highest_counts():
    new = NewColumns(PLATT, ["a", "b"], "p")
    (found,) = new.compute([np.array([0.1, 0.9, 0.5]), np.array([0.8, 0.2, np.nan])])
    np.testing.assert_array_equal(found[:2], PLATT([0.8, 0.9]))
    assert np.isnan(found[2])


def test_classes_add_up_to_one_even_where_all_are_impossible():
    zero = IsotonicCalibration(target_correction=False).fit([0.0, 0.1, 0.9], [0, 0, 1]).map_
    new = NewColumns({"a": zero, "b": zero}, [], "p")
    a, b = new.compute([np.array([0.2, 0.5, 0.0, np.nan]), np.array([0.8, 0.5, 0.0, 0.5])])
    np.testing.assert_allclose((a + b)[:3], 1.0)
    assert a[2] == 0.5
    assert np.isnan([a[3], b[3]]).all()
    assert new.names == ["p_a", "p_b"]
    assert new.unusable == 1


def test_columns_are_checked():
    table = Table("data", ["s", "a", "a", "P"], None)
    NewColumns(PLATT, ["s"], "new").check(table, False)
    NewColumns(PLATT, ["s"], "p").check(table, True)
    for scores, name, message in (
        (["s"], "p", "already has a column 'P'; choose another with `name`"),
        (["a"], "x", "must have one column 'a'; it has 2"),
        (["z"], "x", "must have one column 'z'; it has none"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            NewColumns(PLATT, scores, name).check(table, False)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, 0], pa.int8()),
        ([1, None, 0], pa.uint64()),
        ([1.0, None, 0.0], pa.float32()),
        ([True, None, False], pa.bool_()),
        ([1, None, 0], pa.decimal128(5, 2)),
    ],
)
def test_numbers_of_any_type(values, kind):
    np.testing.assert_array_equal(to_doubles(pa.array(values, kind), "s"), [1.0, np.nan, 0.0])


def test_what_is_no_number():
    with pytest.raises(InvalidInputError, match="The scores in 's' must be numbers; they are of type string"):
        to_doubles(pa.array(["a"]), "s")
    assert np.isnan(to_doubles(pa.nulls(3), "s")).all()
