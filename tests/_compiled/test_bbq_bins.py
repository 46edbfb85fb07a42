import numpy as np
import pytest

from calibrant._compiled.bbq_bins import bin_ends


@pytest.mark.parametrize(
    ("totals", "n_bins", "ends"),
    [
        (np.ones(10), 3, [3, 6, 10]),
        (np.ones(10), 1, [10]),
        (np.ones(4), 4, [1, 2, 3, 4]),
        ([1.0, 5.0, 1.0, 1.0, 2.0], 5, [2, 4, 5]),
        ([9.0, 1.0], 5, [1, 2]),
        ([10.0], 5, [1]),
    ],
)
def test_by_hand(totals, n_bins, ends):
    assert bin_ends(np.cumsum(np.asarray(totals)), n_bins).tolist() == ends
