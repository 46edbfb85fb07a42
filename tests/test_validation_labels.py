import numpy as np
import pytest

from calibrant._validation import (
    as_plain_labels,
    find_extremes,
    find_two_classes,
    is_missing,
    plain,
    says_itself,
)
from calibrant.errors import InvalidInputError


def test_objects_become_what_they_hold():
    assert as_plain_labels(np.array([1, 0, 1], dtype=object), "y").dtype.kind == "i"
    assert as_plain_labels(np.array(["a", "b"], dtype=object), "y").tolist() == ["a", "b"]
    for labels, message in (
        ([1, None], "missing labels; got None at index 1"),
        (["a", 1], "strings and numbers mixed"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            as_plain_labels(np.array(labels, dtype=object), "y")


def test_two_labels_in_order():
    assert find_extremes(np.array(["dog", "cat", "fox"])) == ("cat", "fox")
    assert find_two_classes(np.array([3, 1, 3]), "y") == (1, 3)
    with pytest.raises(InvalidInputError, match="got 3 distinct values"):
        find_two_classes(np.array([0, 1, 2]), "y")


def test_labels_that_need_no_word():
    assert [says_itself(*pair) for pair in ((0, 1), (-1, 1), (1, 1), (1, 2), (0, 2))] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_missing_and_plain_values():
    assert [is_missing(value) for value in (None, float("nan"), 0, "", False)] == [True, True, False, False, False]
    assert repr(plain(np.float64(0.5))) == "0.5"
