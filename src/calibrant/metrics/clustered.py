"""Standard errors and chance gaps of rows that depend on each other within groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calibrant._typing import Floats
from calibrant.metrics.base import Seed
from calibrant.metrics.grouped_rows import GroupedRows
from calibrant.metrics.groups import Groups

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["cluster_covariance", "draw_flipped_ranges", "mean_with_error", "sum_by_group"]

CELLS = 2048  # of the cumulative gaps whose range is taken
BLOCK = 64  # draws made at a time, to bound the memory


def sum_by_group(values: Floats, groups: Groups) -> Floats:
    """The sum of a column over the rows of each group, (number of groups,).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics.clustered import sum_by_group
    >>> from calibrant.metrics.groups import number_groups
    >>> sum_by_group(np.array([1.0, 2.0, 4.0]), number_groups(["a", "b", "a"], 3)).tolist()
    [5.0, 2.0]
    """
    return np.bincount(groups.codes, values, groups.number).astype(np.float64)


def cluster_covariance(influence: Floats, precision: Floats, groups: Groups) -> Floats:
    """The sandwich H⁻¹ (Σ_g u_g u_gᵀ) H⁻¹ G / (G − 1), where u_g is the sum of a group's rows of `influence` (n, k).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics.clustered import cluster_covariance
    >>> from calibrant.metrics.groups import number_groups
    >>> groups = number_groups([0, 0, 1, 1], 4)
    >>> cluster_covariance(np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.array([[4.0]]), groups).tolist()  # 2 · 8 / 16
    [[1.0]]
    """
    sums = np.column_stack([sum_by_group(column, groups) for column in influence.T])
    bread = np.linalg.inv(precision)
    out: Floats = bread @ (sums.T @ sums) @ bread * groups.number / (groups.number - 1)
    return out


def mean_with_error(
    values: Floats, counts: Floats, members: csr_array | None = None, repeats: int = 1
) -> tuple[float, float]:
    """Mean of values that occur `counts` times, and its standard error.

    With `members`, which says how often each value occurs in each group (groups × values), the error is that of sums
    over groups. All is counted `repeats` times, by which the error does not become smaller.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics.clustered import mean_with_error
    >>> mean_with_error(np.array([0.0, 1.0]), np.array([2.0, 2.0]))
    (0.5, 0.25)
    """
    weight = float(counts.sum())
    mean = float(counts @ values) / weight
    if members is None:
        variance = float(counts @ np.square(values - mean)) / weight
        return mean, float(np.sqrt(variance * repeats / weight))
    sums = members @ (values - mean)  # the repeats of a row are in the sum of its group
    n_groups = members.shape[0]
    return mean, float(np.sqrt(n_groups / (n_groups - 1) * (sums @ sums))) / weight


def draw_flipped_ranges(rows: GroupedRows, n_draws: int, rng: Seed) -> tuple[float, Floats]:
    """The range of the cumulative gaps Σ (y − p), and that range with the gaps of each group under a random sign.

    Where probabilities are calibrated the gaps of every group average to 0, and turning all the signs of a group
    changes nothing in expectation, however its rows depend on each other (the wild cluster bootstrap under the null).
    """
    from scipy import sparse

    place = rows.cell_of_rows(rows.tally(), CELLS)
    gaps = rows.weights * (rows.labels - rows.scores)
    shape = (int(place.max()) + 1, rows.groups.number)
    by_group = sparse.coo_array((gaps, (place, rows.groups.codes)), shape=shape).tocsr()
    generator = np.random.default_rng(rng)
    draws = np.empty(n_draws)
    for start in range(0, n_draws, BLOCK):
        signs = 2.0 * generator.integers(0, 2, (rows.groups.number, len(draws[start : start + BLOCK]))) - 1.0
        draws[start : start + BLOCK] = _ranges(by_group @ signs)
    return float(_ranges(by_group @ np.ones((rows.groups.number, 1)))[0]), draws


def _ranges(gaps: Floats) -> Floats:
    """Highest minus lowest cumulative gap of each column, where no row at all has the gap 0."""
    walk = np.cumsum(gaps, axis=0)
    out: Floats = np.maximum(walk.max(axis=0), 0.0) - np.minimum(walk.min(axis=0), 0.0)
    return out
