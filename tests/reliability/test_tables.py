import numpy as np
import pytest

from calibrant.reliability.tables import table


def test_a_table_has_named_columns_and_cannot_be_written():
    made = table(a=np.array([1.0, 2.0]), b=np.array([3.0, 4.0]))
    assert made.dtype.names == ("a", "b")
    assert made["b"].tolist() == [3.0, 4.0]
    with pytest.raises(ValueError, match="read-only"):
        made["a"][0] = 5.0
