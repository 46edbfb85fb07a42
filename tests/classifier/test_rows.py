import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from calibrant.classifier.rows import ClassifierRows, find_segments
from calibrant.errors import InvalidInputError

X = np.array([[0.3, 7.0], [0.4, 8.0], [0.5, 7.0]])


@pytest.mark.parametrize("rows", [X, sparse.csr_matrix(X), pd.DataFrame(X)], ids=["array", "sparse", "table"])
def test_columns_by_number(rows):
    np.testing.assert_array_equal(find_segments(rows, 1, None)["1"], [7.0, 8.0, 7.0])
    assert list(find_segments(rows, [0, 1], None)) == ["0", "1"]


def test_columns_by_name():
    table = pd.DataFrame({"country": ["de", "fr", None], "device": pd.Categorical(["app", "web", "app"])})
    found = find_segments(table, ["country", "device"], None)
    assert found["device"].tolist() == ["app", "web", "app"]
    with pytest.raises(InvalidInputError, match="`segment` must name columns of `X`; 'nation' is none"):
        find_segments(table, "nation", None)
    with pytest.raises(InvalidInputError, match="'country' is none"):
        find_segments(X, "country", None)


def test_columns_that_are_passed():
    assert find_segments(X, None, None) is None
    assert find_segments(X, None, ["a", "b", "a"])["segment"].tolist() == ["a", "b", "a"]
    with pytest.raises(InvalidInputError, match="`segment` must have as many rows"):
        find_segments(X, None, ["a"])
    with pytest.raises(InvalidInputError, match="not both"):
        find_segments(X, 1, ["a", "b", "a"])
    with pytest.raises(InvalidInputError, match="given for every row"):
        find_segments(X, None, None, True)
    with pytest.raises(InvalidInputError, match="given to `fit`, too"):
        find_segments(X, None, ["a", "b", "a"], False)


def test_rows_are_picked_with_all_that_belongs_to_them():
    labels, codes = np.array(["n", "y", "y"]), np.array([0, 1, 1])
    options = {"sample_weight": [1.0, 2.0, 3.0], "eval": "loss", "rounds": [1, 2]}
    rows = ClassifierRows(X, labels, codes, np.array([1.0, 2.0, 3.0]), options, {"g": np.array(["a", "b", "c"])})
    picked = np.array([2, 0])
    assert rows.weights_of(picked).tolist() == [3.0, 1.0]
    assert rows.segment_of(picked)["g"].tolist() == ["c", "a"]
    assert rows.fit_params_of(picked) == {"sample_weight": [3.0, 1.0], "eval": "loss", "rounds": [1, 2]}
    bare = ClassifierRows(X, labels, codes, None, {})
    assert bare.weights_of(picked) is None
    assert bare.segment_of(picked) is None
