"""Predictions for rows that were not seen by whoever predicts them, and means over these rows with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from calibrant._numerics import grouping
from calibrant._typing import Floats
from calibrant.intervals import Interval
from calibrant.metrics.clustered import mean_with_error
from calibrant.metrics.folds import Fold
from calibrant.metrics.scores import Loss
from calibrant.tally import Tally

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["OutOfFold", "interval_of_mean", "predict_folds"]

Learn: TypeAlias = Callable[[Tally, Floats], Floats]  # rows to fit and scores to predict in, probabilities out


@dataclass(frozen=True)
class OutOfFold:
    """Predictions for rows that the method did not see, all folds and repeats one after the other.

    `members`, where rows have groups, counts the rows of each group among the positives, then among the negatives with
    each prediction.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.metrics.folds import split_tally
    >>> from calibrant.metrics.out_of_fold import predict_folds
    >>> folds = split_tally(Tally.from_arrays([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]), 2)
    >>> predict_folds(folds, lambda train, scores: scores).tally().total
    4.0
    """

    probabilities: Floats
    positives: Floats
    totals: Floats
    repeats: int
    members: csr_array | None = None

    @cached_property
    def counts(self) -> Floats:
        """Numbers of positive, then of negative rows."""
        return np.concatenate((self.positives, self.totals - self.positives))

    def losses(self, loss: Loss) -> Floats:
        """The loss of a positive, then of a negative row with each prediction."""
        return np.concatenate((loss(1.0, self.probabilities), loss(0.0, self.probabilities)))

    def interval(self, values: Floats, level: float, lowest: float = -np.inf) -> Interval:
        """Mean over the rows; repeats see the same rows, so they do not make the interval narrower."""
        return interval_of_mean(values, self.counts, self.members, self.repeats, level=level, lowest=lowest)

    def tally(self) -> Tally:
        """Predictions and outcomes, with each row counted once."""
        return Tally(
            *grouping.group_sums(self.probabilities, self.positives / self.repeats, self.totals / self.repeats)
        )


def interval_of_mean(
    values: Floats, counts: Floats, members: csr_array | None, repeats: int, *, level: float, lowest: float = -np.inf
) -> Interval:
    """The interval of a mean over rows; with G groups by Student's t of G − 1 degrees of freedom."""
    degrees = np.inf if members is None else members.shape[0] - 1
    return Interval.normal(*mean_with_error(values, counts, members, repeats), level, lowest, degrees)


def predict_folds(folds: Sequence[Fold], learn: Learn, repeats: int = 1) -> OutOfFold:
    """Predict each fold from the rest of the rows."""
    probabilities = [learn(fold.train, fold.test.scores) for fold in folds]
    positives, totals = [fold.test.positives for fold in folds], [fold.test.totals for fold in folds]
    columns = np.concatenate(probabilities), np.concatenate(positives), np.concatenate(totals)
    return OutOfFold(*columns, repeats, _join_members(folds))


def _join_members(folds: Sequence[Fold]) -> csr_array | None:
    """Members of all folds: first of their positives, then of their negatives."""
    members = [(fold.members, len(fold.test)) for fold in folds if fold.members is not None]
    if not members:
        return None
    from scipy import sparse

    positive, negative = [one[:, :size] for one, size in members], [one[:, size:] for one, size in members]
    out: csr_array = sparse.hstack([*positive, *negative], format="csr")
    return out
