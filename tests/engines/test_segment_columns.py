import datetime as dt

import numpy as np
import pytest

from calibrant.errors import InvalidInputError
from calibrant.maps.keys import SegmentKeys

pa = pytest.importorskip("pyarrow", reason="engines need pyarrow")

from calibrant.engines.segment_columns import SegmentReader  # noqa: E402 - after the check that pyarrow is there

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
    assert reader.unseen == {(0, "c"), (0, None)}


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
