import numpy as np
import pytest

from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps.files import plain_fields
from calibrant.maps.keys import UNSEEN, SegmentKeys, as_columns, name_columns


def test_one_column_in_any_form():
    pd = pytest.importorskip("pandas")
    for segment in (["b", "a", "b"], np.array(["b", "a", "b"]), pd.Series(["b", "a", "b"]), [["b"], ["a"], ["b"]]):
        keys, codes = SegmentKeys.learn(segment, 3, "error")
        assert keys.levels == (("a", "b"),)
        assert codes[:, 0].tolist() == [1, 0, 1]
        assert keys.sizes == (2,)


def test_several_columns_have_their_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"country": ["de", "fr"], "device": [1, 2]})
    keys, codes = SegmentKeys.learn(frame, 2, "error")
    assert keys.names == ("country", "device")
    assert keys.kinds == ("strings", "numbers")
    same, _ = SegmentKeys.learn({"country": ["de", "fr"], "device": [1, 2]}, 2, "error")
    assert same == keys
    assert codes.tolist() == [[0, 0], [1, 1]]
    assert list(as_columns(np.array([["a", "x"], ["b", "y"]]))) == ["segment_1", "segment_2"]


def test_polars_and_arrow_tables():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"country": ["de", None], "device": [1, 2]})
    for table in (frame, frame.to_arrow()):
        keys, _ = SegmentKeys.learn(table, 2, "segment")
        assert keys.names == ("country", "device")
        assert keys.levels[0] == ("de", None)


def test_columns_are_found_by_name_and_without_names_by_order():
    keys, _ = SegmentKeys.learn({"a": ["x", "y"], "b": [1, 2]}, 2, "error")
    assert keys.encode({"b": [2], "a": ["x"]}, 1, "error").tolist() == [[0, 1]]
    pairs = np.empty((1, 2), dtype=object)
    pairs[0] = ["y", 1]
    assert keys.encode(pairs, 1, "error").tolist() == [[1, 0]]
    with pytest.raises(InvalidInputError, match="must have the keys of the fit, a, b; got c, b"):
        keys.encode({"c": ["x"], "b": [1]}, 1, "error")


def test_missing_values_are_refused_or_a_segment():
    for column in (np.array(["a", None], object), np.array([1.0, np.nan]), np.array(["2020-01-01", "NaT"], "M8[D]")):
        with pytest.raises(
            InvalidInputError, match="'segment' must have no missing values; got 1, the first at index 1"
        ):
            SegmentKeys.learn(column, 2, "error")
        keys, codes = SegmentKeys.learn(column, 2, "segment")
        assert keys.levels[0][-1] is None
        assert codes[:, 0].tolist() == [0, 1]
        assert keys.encode(column, 2, "segment")[:, 0].tolist() == [0, 1]
    nothing, codes = SegmentKeys.learn(np.array([None, None], object), 2, "segment")
    assert nothing.levels == ((None,),)
    assert codes.tolist() == [[0], [0]]


def test_pandas_missing_values():
    pd = pytest.importorskip("pandas")
    for column in (pd.Series(["a", None]), pd.Series([1, None], dtype="Int64"), pd.Series(["a", pd.NA], dtype=object)):
        keys, codes = SegmentKeys.learn(column, 2, "segment")
        assert keys.levels[0][-1] is None
        assert codes[:, 0].tolist() == [0, 1]


def test_a_missing_value_that_fit_did_not_have_is_new():
    keys, _ = SegmentKeys.learn(["a", "b"], 2, "segment")
    assert keys.encode(np.array([None, "a", "c"], object), 3, "segment")[:, 0].tolist() == [UNSEEN, 0, UNSEEN]


def test_types_must_not_change_between_fit_and_predict():
    keys, _ = SegmentKeys.learn([1, 2], 2, "error")
    with pytest.raises(InvalidInputError, match="held numbers in the fit and holds strings now; convert the column"):
        keys.encode(["1", "2"], 2, "error")
    assert keys.encode([2.0, 3.0], 2, "error")[:, 0].tolist() == [1, UNSEEN]


def test_other_bad_columns():
    with pytest.raises(InvalidInputError, match="values of one type; got several mixed"):
        SegmentKeys.learn(np.array(["a", 1], object), 2, "error")
    with pytest.raises(InvalidInputError, match="must hold strings, numbers or booleans"):
        SegmentKeys.learn(np.array([1j, 2j]), 2, "error")
    with pytest.raises(InvalidInputError, match="`segment` must have as many rows as the scores"):
        SegmentKeys.learn(["a"], 2, "error")
    with pytest.raises(InvalidInputError, match="shape"):
        SegmentKeys.learn(np.zeros((2, 2, 2)), 2, "error")
    with pytest.raises(InvalidInputError, match="at least one column"):
        SegmentKeys.learn({}, 2, "error")
    with pytest.raises(InvalidInputError, match="`missing` must be one of error, segment; got 'drop'"):
        SegmentKeys.learn(["a"], 1, "drop")


def test_names_of_tallies():
    assert list(name_columns(["a", "b"])) == ["segment"]
    columns = name_columns([("a", 1), ("b", 2)], ["country", "device"])
    assert columns["device"].tolist() == [1, 2]
    with pytest.raises(InvalidInputError, match="tuples of the same length"):
        name_columns(["a", ("b", 1)])
    with pytest.raises(InvalidInputError, match="must name the 2 parts"):
        name_columns([("a", 1)], ["country"])


def test_through_plain_values():
    keys, _ = SegmentKeys.learn({"a": np.array(["x", None], object), "b": [1, 2]}, 2, "segment")
    assert SegmentKeys.from_dict(plain_fields(keys)) == keys
    with pytest.raises(ModelFileError, match="keys of these segments"):
        SegmentKeys.from_dict({"names": ["a"], "kinds": ["strings"], "levels": [["y", "x"]]})
