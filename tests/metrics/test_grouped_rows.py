import numpy as np
import pytest

from calibrant import Tally
from calibrant.errors import InvalidInputError
from calibrant.metrics.grouped_rows import check_grouped_rows

Y, P = [0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]


def test_keeps_rows_weights_and_groups():
    rows = check_grouped_rows(Y, P, ["b", "a", "b", "c"], sample_weight=[1, 2, 3, 4])
    assert rows.groups.codes.tolist() == [1, 0, 1, 2]
    assert rows.tally() == Tally.from_arrays(P, Y, [1, 2, 3, 4])
    assert rows.tally(rows.groups.codes == 1).total == 4


def test_the_cell_of_a_row_is_that_of_coarsen():
    rng = np.random.default_rng(0)
    p = rng.random(3000)
    rows = check_grouped_rows(rng.random(3000) < p, p, np.arange(3000) // 3)
    cells = rows.tally().coarsen(50)
    found = rows.cell_of_rows(rows.tally(), 50)
    np.testing.assert_allclose(np.bincount(found), cells.totals)
    np.testing.assert_allclose(np.bincount(found, p) / cells.totals, cells.scores)


def test_refuses_a_tally_and_names_the_column_as_its_caller_does():
    with pytest.raises(InvalidInputError, match="no longer knows"):
        check_grouped_rows(Tally.from_arrays(P, Y), None, [1, 2, 3, 4])
    with pytest.raises(InvalidInputError, match="`scores`"):
        check_grouped_rows(Y, [0.1, np.nan, 0.4, 0.8], [1, 2, 3, 4], names=("y", "scores"))
    with pytest.raises(InvalidInputError, match="`groups`"):
        check_grouped_rows(Y, P, [1, 2, 3])
