import datetime as dt

import numpy as np
import pytest

from calibrant.errors import InvalidInputError
from calibrant.maps.keys import SegmentKeys

pa = pytest.importorskip("pyarrow", reason="engines need pyarrow")

from calibrant import PlattScaling, simulate  # noqa: E402 - after the check that pyarrow is there
from calibrant.engines.file_apply import NewColumns, SegmentReader, to_doubles  # noqa: E402
from calibrant.maps.matrix import MatrixMap, MatrixMember  # noqa: E402

DATA = simulate.from_truth("D1", 500, rng=0)
PLATT = PlattScaling().fit(DATA.scores, DATA.labels).map_
GRID = np.linspace(0.01, 0.99, 99)
DECISION_MAP = PlattScaling(space="decision").fit(GRID * 10 - 5, GRID > 0.4).map_
DAY = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)

WORDS = SegmentKeys(("g",), ("strings",), (("a", "b"),))
NUMBERS = SegmentKeys(("g",), ("numbers",), ((1, 2, None),))


def read(keys, values, kind=None, missing="segment"):
    batch = pa.RecordBatch.from_arrays([pa.array(values, kind)], ["g"])
    reader = SegmentReader(keys, (), missing)
    return reader.encode(batch)[:, 0].tolist(), reader


def test_values_are_numbered_as_in_the_fit():
    codes, reader = read(WORDS, ["b", "a", "c", None, "c"])
    assert codes == [1, 0, -1, -1, -1]
    assert reader.unseen_rows == 3


@pytest.mark.parametrize("kind", ["string", "large_string", pa.dictionary("int8", "string")], ids=str)
def test_text_of_every_type(kind):
    assert read(WORDS, ["b", "a", "b"], kind)[0] == [1, 0, 1]


@pytest.mark.parametrize("kind", ["int8", "int64", "float32", "float64", pa.decimal128(5, 1)], ids=str)
def test_numbers_of_every_type(kind):
    assert read(NUMBERS, [2, 1, None, 9], kind)[0] == [1, 0, 2, -1]


def test_nan_is_missing():
    codes, reader = read(NUMBERS, [1.0, np.nan, None], "float64")
    assert codes == [0, 2, 2]
    assert reader.unseen_rows == 0


def test_text_of_csv_is_read_as_in_the_fit():
    assert read(NUMBERS, [" 2", "1.0", None, "3"])[0] == [1, 0, 2, -1]
    truths = SegmentKeys(("g",), ("booleans",), ((False, True),))
    assert read(truths, ["true", "False"])[0] == [1, 0]
    with pytest.raises(InvalidInputError, match="Column 'g' held numbers in the fit"):
        read(NUMBERS, ["one"])
    with pytest.raises(InvalidInputError, match="held strings in the fit and holds numbers now"):
        read(WORDS, [1, 2])


def test_dates_are_text():
    days = SegmentKeys(("g",), ("strings",), (("2026-01-31",),))
    assert read(days, [dt.date(2026, 1, 31)])[0] == [0]


def test_missing_segments_can_be_refused():
    with pytest.raises(InvalidInputError, match="Column 'g' must have no missing segments"):
        read(WORDS, ["a", None], missing="error")
    with pytest.raises(InvalidInputError, match="`missing` must be one of error, segment; got 'drop'"):
        SegmentReader(WORDS, (), "drop")
    with pytest.raises(InvalidInputError, match="`by` must name a column for each key of the fit, g; got 2"):
        SegmentReader(WORDS, ("a", "b"), "error")


def test_an_empty_batch_has_no_rows():
    assert read(WORDS, [], "string")[0] == []


def test_scores_that_a_map_refuses_are_missing():
    new = NewColumns(PLATT, ["s"], "p")
    scores = np.array([0.5, np.nan, np.inf, 1.5, -0.1, 0.0, 1.0])
    (found,) = new.compute([scores])
    np.testing.assert_array_equal(found[[0, 5, 6]], PLATT(scores[[0, 5, 6]]))
    assert np.isnan(found[1:5]).all()
    assert (new.rows, new.unusable, new.names) == (7, 4, ["p"])
    (any_,) = NewColumns(DECISION_MAP, ["s"], "p").compute([scores])
    assert np.isnan(any_).tolist() == [False, True, True, False, False, False, False]


def test_of_several_scores_the_highest_counts():
    new = NewColumns(PLATT, ["a", "b"], "p")
    (found,) = new.compute([np.array([0.1, 0.9, 0.5]), np.array([0.8, 0.2, np.nan])])
    np.testing.assert_array_equal(found[:2], PLATT([0.8, 0.9]))
    assert np.isnan(found[2])


def test_rows_that_a_map_of_several_classes_refuses_are_missing():
    members = (MatrixMember(1.0),)
    new = NewColumns(MatrixMap((0, 1), "probability", 1.0, members), [], "p")
    assert (new.scores, new.names) == (["0", "1"], ["p_0", "p_1"])
    a, b = new.compute([np.array([0.2, 0.5, -0.5, np.nan]), np.array([0.8, 0.6, 1.5, 0.5])])
    np.testing.assert_allclose([a[0], b[0]], [0.2, 0.8])
    assert np.isnan([a[1:], b[1:]]).all()
    assert (new.rows, new.unusable) == (4, 3)
    (first, _) = NewColumns(MatrixMap((0, 1), "decision", 1.0, members), [], "p").compute(
        [np.array([5.0, np.inf]), np.array([5.0, 0.0])]
    )
    assert first[0] == 0.5
    assert np.isnan(first[1])
    with pytest.raises(InvalidInputError, match="`score` must name the 2 columns of the map's classes"):
        NewColumns(MatrixMap((0, 1), "decision", 1.0, members), ["a"], "p")


def test_columns_are_checked():
    columns = ["s", "P"]
    NewColumns(PLATT, ["s"], "new").check("data", columns, False)
    NewColumns(PLATT, ["s"], "p").check("data", columns, True)
    for scores, name, message in (
        (["s"], "p", "already has a column 'P'; choose another with `name`"),
        (["z"], "x", "must have a column 'z'; its columns are s, P"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            NewColumns(PLATT, scores, name).check("data", columns, False)


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
    for column, said in (
        (pa.array(["abc"]), "'abc'"),
        (pa.array([DAY]), "timestamp"),
        (pa.array([[1]]), "list"),
    ):
        with pytest.raises(InvalidInputError, match=f"The scores in 's' must be numbers: .*{said}"):
            to_doubles(column, "s")
    np.testing.assert_array_equal(to_doubles(pa.array([" 8e-1 ", None]), "s"), [0.8, np.nan])
    assert np.isnan(to_doubles(pa.nulls(3), "s")).all()
