"""Which rows belong together: patients, customers, matches, days. Whoever resamples or splits keeps them together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._typing import ArrayLike, Ints
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import Seed

__all__ = ["Groups", "number_groups"]


class Groups(NamedTuple):
    """The number of each row's group, 0 … number − 1.

    Examples
    --------
    >>> from calibrant.metrics.groups import number_groups
    >>> groups = number_groups(["ann", "bob", "ann"], 3)
    >>> groups.codes.tolist(), groups.number
    ([0, 1, 0], 2)
    """

    codes: Ints
    number: int

    def deal(self, n_folds: int, rng: Seed = 0) -> Ints:
        """The fold of each row, one for all rows of a group; groups are dealt at random, evenly up to one."""
        _validation.check_count("n_folds", n_folds, 2)
        if n_folds > self.number:
            raise InvalidInputError(f"`n_folds` must be at most the number of groups, {self.number}; got {n_folds}.")
        return (np.random.default_rng(rng).permutation(self.number) % n_folds)[self.codes]

    def draw(self, n_resamples: int, rng: np.random.Generator) -> Ints:
        """Number of times that each group occurs in bootstrap replicates, (n_resamples, number)."""
        return rng.multinomial(self.number, np.full(self.number, 1.0 / self.number), size=n_resamples)

    def expansion(self, level: float) -> float:
        """Factor by which a bootstrap interval must be wider where groups are few (Hesterberg 2015).

        Replicates of G groups vary by (G − 1) / G of the true variance, and the tails are those of Student's t.
        """
        upper = 0.5 + 0.5 * level
        tails = float(special.stdtrit(self.number - 1, upper) / special.ndtri(upper))
        return tails * float(np.sqrt(self.number / (self.number - 1)))


def number_groups(groups: ArrayLike, n_rows: int) -> Groups:
    """Check a column of groups and number them; there must be at least two.

    Examples
    --------
    >>> from calibrant.metrics.groups import number_groups
    >>> number_groups([7, 3, 7], 3).codes.tolist()
    [1, 0, 1]
    """
    names = _validation.as_array(groups, "groups")
    if names.ndim != 1:
        raise InvalidInputError(f"`groups` must have shape (n,), one group for each row; got shape {names.shape}.")
    _validation.check_same_length(n_rows, len(names), "groups")
    _refuse_missing(names)
    distinct, codes = np.unique(names.astype(str) if names.dtype.kind == "O" else names, return_inverse=True)
    if len(distinct) < 2:
        raise InvalidInputError("`groups` must name at least two groups; resampling one group gives the same rows.")
    return Groups(codes, len(distinct))


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
