"""Checked rows that belong to groups, for whatever must keep the rows of a group together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._typing import ArrayLike, Bools, Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import Seed
from calibrant.tally import Tally

__all__ = ["GroupedRows", "check_grouped_rows"]


class GroupedRows(NamedTuple):
    """Rows with the number of their group.

    Examples
    --------
    >>> from calibrant.metrics.grouped_rows import check_grouped_rows
    >>> rows = check_grouped_rows([0, 1, 1], [0.1, 0.4, 0.8], ["ann", "bob", "ann"])
    >>> rows.groups.tolist(), rows.n_groups
    ([0, 1, 0], 2)
    """

    scores: Floats
    labels: Bools
    weights: Floats
    groups: Ints
    n_groups: int

    def tally(self, chosen: Bools | None = None) -> Tally:
        """The tally of all rows, or of those chosen."""
        if chosen is None:
            return Tally.from_arrays(self.scores, self.labels, self.weights)
        return Tally.from_arrays(self.scores[chosen], self.labels[chosen], self.weights[chosen])

    def deal(self, n_folds: int, rng: Seed = 0) -> Ints:
        """The fold of each row, one for all rows of a group; groups are dealt at random, evenly up to one."""
        _validation.check_count("n_folds", n_folds, 2)
        if n_folds > self.n_groups:
            raise InvalidInputError(f"`n_folds` must be at most the number of groups, {self.n_groups}; got {n_folds}.")
        return (np.random.default_rng(rng).permutation(self.n_groups) % n_folds)[self.groups]

    def draw_groups(self, n_resamples: int, rng: np.random.Generator) -> Ints:
        """Number of times that each group occurs in bootstrap replicates, (n_resamples, n_groups)."""
        return rng.multinomial(self.n_groups, np.full(self.n_groups, 1.0 / self.n_groups), size=n_resamples)

    def expansion(self, level: float) -> float:
        """Factor by which a bootstrap interval must be wider where groups are few (Hesterberg 2015).

        Replicates of G groups vary by (G − 1) / G of the true variance, and the tails are those of Student's t.
        """
        upper = 0.5 + 0.5 * level
        tails = float(special.stdtrit(self.n_groups - 1, upper) / special.ndtri(upper))
        return tails * float(np.sqrt(self.n_groups / (self.n_groups - 1)))


def check_grouped_rows(
    y_true: ArrayLike | Tally,
    scores: ArrayLike | None,
    groups: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> GroupedRows:
    """Check columns of one table and number the groups; there must be at least two."""
    if isinstance(y_true, Tally) or scores is None:
        raise InvalidInputError("`groups` needs labels and scores of rows; a tally no longer knows its rows.")
    values = _validation.check_scores(scores, "y_prob")
    labels, _ = _validation.encode_labels(y_true, pos_label, "y_true")
    _validation.check_same_length(len(values), len(labels), "y_true")
    weights = _validation.check_weights(sample_weight, len(values))
    names = _validation.as_array(groups, "groups")
    if names.ndim != 1:
        raise InvalidInputError(f"`groups` must have shape (n,), one group for each row; got shape {names.shape}.")
    _validation.check_same_length(len(values), len(names), "groups")
    _refuse_missing(names)
    distinct, codes = np.unique(names.astype(str) if names.dtype.kind == "O" else names, return_inverse=True)
    if len(distinct) < 2:
        raise InvalidInputError("`groups` must name at least two groups; resampling one group gives the same rows.")
    return GroupedRows(values, labels, np.ones(len(values)) if weights is None else weights, codes, len(distinct))


def _refuse_missing(names: Any) -> None:
    """A missing group is no group: rows without one do not belong together."""
    if names.dtype.kind not in "OfmM":
        return
    # Only NaN and its kin differ from themselves.
    missing = np.array([name is None or name != name for name in names], dtype=bool)  # noqa: PLR0124
    if missing.any():
        raise InvalidInputError(
            f"`groups` must name a group for every row; it is missing at index {int(np.argmax(missing))}. Drop these "
            "rows, or give each of them a group of its own."
        )
