import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from calibrant.errors import InvalidInputError
from calibrant.feature_segments import find_segments

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
