"""Bootstrap replicates of a tally: of single rows, or of whole groups of rows that depend on each other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from calibrant import _limits, _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import Column, Rows, Seed, as_tally
from calibrant.metrics.grouped_rows import GroupedRows, check_grouped_rows
from calibrant.tally import Tally, row_count

__all__ = ["Sample", "grouped_resamples", "read_sample", "resamples"]

BLOCK = 64  # replicates drawn at a time, to bound the memory


class Sample:
    """The rows of a bootstrap: a tally, with the rows in groups where they have some.

    Examples
    --------
    >>> from calibrant.metrics.resampling import read_sample
    >>> sample = read_sample([0, 1, 0, 1], [0.1, 0.2, 0.8, 0.9], groups=[0, 0, 1, 1])
    >>> [one.total for one in sample.replicates(3, rng=0)]
    [4.0, 4.0, 4.0]
    """

    def __init__(self, tally: Tally, rows: GroupedRows | None = None) -> None:
        self.tally = tally
        self.rows = rows

    @cached_property
    def cells(self) -> Tally:
        """The tally that replicates are drawn from: more than 512 distinct scores are joined to as many cells."""
        return self.tally.coarsen(_limits.BOOTSTRAP_CELLS)

    @property
    def remarks(self) -> list[str]:
        """What a reader of the intervals must know about the rows."""
        return [] if self.rows is None else [f"Rows are in {self.rows.groups.number} groups, which are kept together."]

    def replicates(self, n_resamples: int, rng: Seed) -> Iterator[Tally]:
        """Replicates of the cells."""
        if self.rows is None:
            return resamples(self.cells, n_resamples, rng)
        return grouped_resamples(self.rows, n_resamples, rng)

    def widen(self, draws: Floats, value: float, level: float) -> Floats:
        """Draws further away from the value, as few groups need it; independent rows are left as they are."""
        return draws if self.rows is None else value + self.rows.groups.expansion(level) * (draws - value)


def read_sample(
    y_true: Rows,
    y_prob: Column = None,
    sample_weight: Column = None,
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    *,
    probabilities: bool = True,
) -> Sample:
    """Check the data of a bootstrap: labels and probabilities, with or without groups, or a tally alone."""
    if groups is None:
        return Sample(as_tally(y_true, y_prob, sample_weight, pos_label, probabilities=probabilities))
    rows = check_grouped_rows(y_true, y_prob, groups, sample_weight=sample_weight, pos_label=pos_label)
    return Sample(as_tally(rows.tally(), probabilities=probabilities), rows)


def resamples(cells: Tally, n_resamples: int, rng: Seed) -> Iterator[Tally]:
    """Replicates of a tally, each with as many rows. O(m) for each.

    A replicate in which a class is missing is drawn again, so that metrics that need both classes have a value.
    """
    _validation.check_count("n_resamples", n_resamples)
    rows = count_rows(cells)
    generator = np.random.default_rng(rng)
    m = len(cells)
    shares = np.concatenate((cells.positives, cells.negatives)) / cells.total
    two_classes = 0.0 < cells.total_positive < cells.total
    made = 0
    while made < n_resamples:
        block = generator.multinomial(rows, shares / shares.sum(), size=min(BLOCK, n_resamples - made))
        for counts in block.astype(np.float64):
            positives, totals = counts[:m], counts[:m] + counts[m:]
            if two_classes and not 0.0 < positives.sum() < rows:
                continue
            made += 1
            kept = totals > 0.0
            yield Tally(cells.scores[kept], positives[kept], totals[kept])


def count_rows(tally: Tally) -> int:
    """The number of rows that a replicate of independent rows has."""
    rows = round(tally.total)
    if rows < 2:
        raise InvalidInputError(
            f"A bootstrap needs at least 2 rows; the weights add up to {row_count(tally.total)}. Weights count as "
            "numbers of rows: scale them so that they add up to the number of rows."
        )
    return rows


def grouped_resamples(rows: GroupedRows, n_resamples: int, rng: Seed = 0) -> Iterator[Tally]:
    """Tallies of as many groups as there are, drawn with replacement. O(n) for each.

    More than 512 distinct scores are first joined to as many cells of equal mass. A replicate in which a class is
    missing is drawn again, so that metrics that need both classes have a value.

    Examples
    --------
    >>> from calibrant.metrics.grouped_rows import check_grouped_rows
    >>> from calibrant.metrics.resampling import grouped_resamples
    >>> rows = check_grouped_rows([0, 1, 0, 1], [0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    >>> [sample.total for sample in grouped_resamples(rows, n_resamples=3)]
    [4.0, 4.0, 4.0]
    """
    _validation.check_count("n_resamples", n_resamples)
    tally = rows.tally()
    cells = tally.coarsen(_limits.BOOTSTRAP_CELLS)
    # The cell and label of each row in one number.
    place = 2 * rows.cell_of_rows(tally, _limits.BOOTSTRAP_CELLS) + rows.labels
    two_classes = 0.0 < tally.total_positive < tally.total
    generator = np.random.default_rng(rng)
    made = 0
    while made < n_resamples:
        times = rows.groups.draw(1, generator)[0]
        weights = rows.weights * times[rows.groups.codes]
        counts = np.bincount(place, weights=weights, minlength=2 * len(cells)).reshape(-1, 2)
        positives, totals = counts[:, 1], counts.sum(axis=1)
        if not totals.any() or (two_classes and not 0.0 < positives.sum() < totals.sum()):
            continue
        made += 1
        kept = totals > 0.0
        yield Tally(cells.scores[kept], positives[kept], totals[kept])
