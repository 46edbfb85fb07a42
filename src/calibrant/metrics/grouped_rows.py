"""Checked rows that belong to groups, for whatever must keep the rows of a group together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from calibrant import _validation
from calibrant._numerics import bins
from calibrant._typing import ArrayLike, Bools, Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.metrics.groups import Groups, number_groups
from calibrant.tally import Tally

__all__ = ["GroupedRows", "check_grouped_rows"]


class GroupedRows(NamedTuple):
    """Rows with the number of their group.

    Examples
    --------
    >>> from calibrant.metrics.grouped_rows import check_grouped_rows
    >>> rows = check_grouped_rows([0, 1, 1], [0.1, 0.4, 0.8], ["ann", "bob", "ann"])
    >>> rows.groups.codes.tolist(), rows.groups.number, rows.tally().total
    ([0, 1, 0], 2, 3.0)
    """

    scores: Floats
    labels: Bools
    weights: Floats
    groups: Groups

    def tally(self, chosen: Bools | None = None) -> Tally:
        """The tally of all rows, or of those chosen."""
        if chosen is None:
            return Tally.from_arrays(self.scores, self.labels, self.weights)
        return Tally.from_arrays(self.scores[chosen], self.labels[chosen], self.weights[chosen])

    def cell_of_rows(self, tally: Tally, max_cells: int) -> Ints:
        """The cell of each row, after joining the tally of all rows to at most `max_cells` cells as `coarsen` does."""
        starts = np.arange(len(tally))
        if len(tally) > max_cells:
            starts = bins.equal_mass_starts(tally.totals, max_cells)
        # Rows of weight 0 may lie below the first cell; they count for nothing wherever they are put.
        return np.maximum(np.searchsorted(tally.scores[starts], self.scores, side="right") - 1, 0)


def check_grouped_rows(
    y_true: ArrayLike | Tally,
    scores: ArrayLike | None,
    groups: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    names: tuple[str, str] = ("y_true", "y_prob"),
) -> GroupedRows:
    """Check columns of one table, which the caller calls `names`, and number the groups; there must be at least two."""
    if isinstance(y_true, Tally) or scores is None:
        raise InvalidInputError("`groups` needs labels and scores of rows; a tally no longer knows its rows.")
    values = _validation.check_scores(scores, names[1])
    labels, _ = _validation.encode_labels(y_true, pos_label, names[0])
    _validation.check_same_length(len(values), len(labels), names[0])
    weights = _validation.check_weights(sample_weight, len(values))
    numbered = number_groups(groups, len(values))
    return GroupedRows(values, labels, np.ones(len(values)) if weights is None else weights, numbered)
