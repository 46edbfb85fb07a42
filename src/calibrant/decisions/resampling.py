"""Replicates of the numbers of rows between thresholds; all that decisions at these thresholds depend on."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from calibrant._typing import Floats
from calibrant.metrics.base import Seed
from calibrant.metrics.grouped_rows import GroupedRows
from calibrant.metrics.resampling import count_rows
from calibrant.tally import Tally

__all__ = ["draw_counts", "draw_grouped_counts"]

BLOCK = 64  # replicates drawn at a time, to bound the memory


def draw_counts(tally: Tally, thresholds: Floats, n_resamples: int, rng: Seed) -> tuple[Floats, Floats]:
    """Bootstrap replicates of the positive and negative rows below the first threshold, between them, and above.

    Returns
    -------
    positives, negatives : ndarray of shape (n_resamples, t + 1)
    """
    place = np.searchsorted(thresholds, tally.scores, side="right")
    width = len(thresholds) + 1
    counts = np.concatenate([np.bincount(place, part, width) for part in (tally.positives, tally.negatives)])
    rows = count_rows(tally)
    draws = np.random.default_rng(rng).multinomial(rows, counts / counts.sum(), size=n_resamples).astype(np.float64)
    return draws[:, :width], draws[:, width:]


def draw_grouped_counts(rows: GroupedRows, thresholds: Floats, n_resamples: int, rng: Seed) -> tuple[Floats, Floats]:
    """The same for rows in groups, of which whole groups are drawn."""
    width = len(thresholds) + 1
    column = np.searchsorted(thresholds, rows.scores, side="right") + np.where(rows.labels, 0, width)
    counts = sparse.coo_array(
        (rows.weights, (column, rows.groups.codes)), shape=(2 * width, rows.groups.number)
    ).tocsr()
    generator = np.random.default_rng(rng)
    out = np.empty((n_resamples, 2 * width))
    for start in range(0, n_resamples, BLOCK):
        times = rows.groups.draw(min(BLOCK, n_resamples - start), generator)
        out[start : start + BLOCK] = (counts @ times.T.astype(np.float64)).T
    return out[:, :width], out[:, width:]
