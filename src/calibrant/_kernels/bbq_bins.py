"""Bins of an equal number of rows, as the authors of BBQ cut them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._kernels.compiling import njit
from calibrant._typing import Floats


@njit(cache=True, nogil=True)
def bin_ends(rows: Floats, n_bins: int) -> npt.NDArray[np.int64]:
    """Where each bin ends, for cells with the running number of rows `rows`. O(n_bins log m).

    A bin takes ⌊N / n_bins⌋ rows and whatever shares its last score; the last bin takes the rest. Ties can leave
    fewer bins than asked for.
    """
    m = len(rows)
    size = np.floor(rows[m - 1] / n_bins)
    ends = np.empty(n_bins, np.int64)
    count = 0
    before = 0.0
    end = 0
    while end < m:
        last = count == n_bins - 1
        end = m if last else max(end, np.searchsorted(rows, before + size)) + 1
        end = min(end, m)
        ends[count] = end
        count += 1
        before = rows[end - 1]
    return ends[:count].copy()
