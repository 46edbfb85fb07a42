"""Folds of rows of any shape, predictions for rows that were not seen, and means over these with their intervals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from calibrant import _limits, _validation
from calibrant._numerics import bins
from calibrant._typing import Floats, Ints
from calibrant.intervals import Interval
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.multiclass import top_label_tally
from calibrant.metrics.samples import ClassSample, GroupedRows, ScoreSample, Seed
from calibrant.metrics.scores import CLASS_LOSSES, LOSSES
from calibrant.tally import Tally

if TYPE_CHECKING:
    from scipy.sparse import csr_array


MOST_DRAWN = 10**9  # numpy's limit for exact hypergeometric draws

Learn: TypeAlias = Callable[[Tally, Floats], Floats]  # rows to fit and scores to predict in, probabilities out


@dataclass(frozen=True)
class Fold:
    """Rows to fit and rows to judge; together they are all rows.

    `members`, where rows have groups, counts the rows of each group (first axis) among the positives, then among the
    negatives of every cell to judge (second axis).

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.metrics.folds import split_tally
    >>> fold = split_tally(Tally.from_arrays([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]), 2)[0]
    >>> fold.train.total + fold.test.total
    4.0
    """

    train: Tally
    test: Tally
    members: csr_array | None = None


def split_tally(tally: Tally, cv: int, rng: Seed = 0, *, stratified: bool = True) -> list[Fold]:
    """Split the rows behind a tally at random, each class evenly: O(m) for each fold, whatever the number of rows.

    Not `stratified`, classes fall as they may: where folds are to judge how well the share of positives is known,
    even classes would tell it.

    Rows of one cell and label are alike, so how many of them fall into a fold is a multivariate hypergeometric draw.
    A count that is not whole becomes parts of the next whole number of rows. A fold without rows on either side is left
    out, so a single row gives none.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.folds import split_tally
    >>> folds = split_tally(simulate.from_truth("D1", 1000).tally, 5)
    >>> len(folds), sum(fold.test.total for fold in folds)
    (5, 1000.0)
    """
    _validation.check_count("cv", cv, 2)
    generator = np.random.default_rng(rng)
    if stratified:
        positive = _shares(tally.positives, cv, generator)
        negative = _shares(tally.negatives, cv, generator)[::-1]  # so that the larger folds of the classes differ
    else:
        both = [np.split(share, 2) for share in _shares(np.append(tally.positives, tally.negatives), cv, generator)]
        positive, negative = [share[0] for share in both], [share[1] for share in both]
    folds = []
    for positives, negatives in zip(positive, negative, strict=True):
        test = _without_empty(tally.scores, positives, positives + negatives)
        left = np.maximum(tally.positives - positives, 0.0)
        train = _without_empty(tally.scores, left, left + np.maximum(tally.negatives - negatives, 0.0))
        if len(test) and len(train):
            folds.append(Fold(train, test))
    return folds


def _shares(counts: Floats, cv: int, generator: np.random.Generator) -> list[Floats]:
    """The part of each count that falls into each fold."""
    rows = np.ceil(counts).astype(np.int64)
    unit = np.divide(counts, rows, out=np.zeros(len(counts)), where=rows > 0)
    shares: list[Floats] = []
    for folds_left in range(cv, 0, -1):
        drawn = _draw(rows, -(-int(rows.sum()) // folds_left), folds_left, generator)
        rows = rows - drawn
        shares.append(drawn.astype(np.float64) * unit)
    return shares


def _draw(rows: Ints, size: int, folds_left: int, generator: np.random.Generator) -> Ints:
    if int(rows.sum()) >= MOST_DRAWN:
        return generator.binomial(rows, 1.0 / folds_left)
    return generator.multivariate_hypergeometric(rows, size, method="marginals")


def _without_empty(scores: Floats, positives: Floats, totals: Floats) -> Tally:
    filled = totals > 0.0
    return Tally(scores[filled], positives[filled], totals[filled])


def split_rows(rows: GroupedRows, cv: int, max_cells: int, rng: Seed = 0) -> list[Fold]:
    """Folds of rows with their groups kept together, of a tally joined to at most `max_cells` cells.

    Examples
    --------
    >>> from calibrant.metrics.folds import split_rows
    >>> from calibrant.metrics.samples import read_sample
    >>> rows = read_sample([0, 1, 0, 1], [0.1, 0.2, 0.8, 0.9], groups=["ann", "ann", "bob", "bob"]).rows
    >>> folds = split_rows(rows, 2, max_cells=4096)
    >>> sorted(fold.test.scores.tolist() for fold in folds), folds[0].members.shape
    ([[0.1, 0.2], [0.8, 0.9]], (2, 4))
    """
    fold_of_row = rows.groups.deal(cv, rng)
    tally = rows.tally()
    cells, cell = tally.coarsen(max_cells), rows.cell_of_rows(tally, max_cells)
    folds = []
    for number in range(cv):
        judged = (fold_of_row == number) & (rows.weights > 0.0)
        weights = np.where(judged, rows.weights, 0.0)
        totals, positives = (
            np.bincount(cell, column, len(cells)).astype(np.float64) for column in (weights, weights * rows.labels)
        )
        test = _without_empty(cells.scores, positives, totals)
        left = np.maximum(cells.positives - positives, 0.0)
        train = _without_empty(cells.scores, left, np.maximum(cells.totals - totals, left))
        # The cell among those with rows to judge; rows that are not judged have no weight, wherever they are put.
        filled = np.maximum(np.cumsum(totals > 0.0) - 1, 0)[cell]
        columns = np.where(rows.labels, filled, filled + len(test))
        folds.append(Fold(train, test, rows.groups.cross(weights, columns, 2 * len(test))))
    return [fold for fold in folds if len(fold.test) and len(fold.train)]


def split_sample(sample: ScoreSample, cv: int, rng: Seed = 0) -> list[Fold]:
    """Folds of one score, with groups kept together where there are some; distinct scores are joined to 4096 cells."""
    if sample.rows is not None:
        return split_rows(sample.rows, cv, _limits.COMPARISON_CELLS, rng)
    return split_tally(sample.tally.coarsen(_limits.COMPARISON_CELLS), cv, rng)


def split_classes(sample: ClassSample, cv: int, rng: Seed = 0) -> list[Ints]:
    """The rows to judge in each fold: every class dealt out in random order, each going on where the last ended.

    Groups are dealt out instead, whatever their classes.
    """
    generator = np.random.default_rng(rng)
    if sample.groups is not None:
        fold_of_row = sample.groups.deal(cv, generator)
    else:
        shuffled = generator.permutation(len(sample.labels))
        by_class = shuffled[np.argsort(sample.labels[shuffled], kind="stable")]
        fold_of_row = np.empty(len(by_class), dtype=np.intp)
        fold_of_row[by_class] = np.arange(len(by_class)) % cv
    return [np.flatnonzero(fold_of_row == number) for number in range(cv)]


class OutOfFold(ABC):
    """Predictions for rows that the method did not see, all folds and repeats one after the other.

    Attributes
    ----------
    probabilities : ndarray
        The predictions.
    counts : ndarray
        How many rows have each of the `losses`.
    repeats : int
        How many times each row was predicted.
    members : sparse array or None
        Where rows have groups: how many rows of each group (first axis) are in each of the `counts` (second axis).
    """

    probabilities: Floats
    repeats: int

    @property
    @abstractmethod
    def counts(self) -> Floats:
        """How many rows have each of the `losses`."""

    @property
    @abstractmethod
    def members(self) -> csr_array | None:
        """How many rows of each group are in each of the `counts`."""

    @abstractmethod
    def losses(self, loss: str) -> Floats:
        """The "log" or "brier" loss of rows that are alike."""

    @abstractmethod
    def tally(self) -> Tally:
        """Predictions and outcomes with each row counted once; of several classes those of the predicted one."""

    def smooth_error(self) -> float:
        """SmoothECE; of several classes that of the predicted one."""
        return smooth_calibration_error(self.tally())

    def interval(self, values: Floats, level: float, lowest: float = -np.inf) -> Interval:
        """Mean over the rows; repeats see the same rows, so they do not make the interval narrower.

        With G groups the interval is by Student's t of G − 1 degrees of freedom.
        """
        degrees = np.inf if self.members is None else self.members.shape[0] - 1
        mean, error = mean_with_error(values, self.counts, self.members, self.repeats)
        return Interval.normal(mean, error, level, lowest, degrees)


@dataclass(frozen=True)
class ScoreOutOfFold(OutOfFold):
    """Predictions of one score, by cell and label.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.metrics.folds import predict_folds, split_tally
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

    def losses(self, loss: str) -> Floats:
        """The loss of a positive, then of a negative row with each prediction."""
        return np.concatenate([LOSSES[loss](label, self.probabilities) for label in (1.0, 0.0)])

    def tally(self) -> Tally:
        """Predictions and outcomes, with each row counted once."""
        return Tally(*bins.group_sums(self.probabilities, self.positives / self.repeats, self.totals / self.repeats))


@dataclass(frozen=True)
class ClassOutOfFold(OutOfFold):
    """Predictions of a matrix, (repeats · n, K), in the order of the rows, one repeat after the other."""

    probabilities: Floats
    sample: ClassSample
    repeats: int

    @cached_property
    def counts(self) -> Floats:
        """The weights of the rows."""
        return np.tile(self.sample.weights, self.repeats)

    @cached_property
    def labels(self) -> Ints:
        """The column numbers of the labels."""
        return np.tile(self.sample.labels, self.repeats)

    @cached_property
    def members(self) -> csr_array | None:
        """The weight of each row in its group."""
        groups = self.sample.groups
        if groups is None:
            return None
        from scipy import sparse

        by_group = groups.cross(self.sample.weights, np.arange(len(self.sample.labels)), len(self.sample.labels))
        return sparse.hstack([by_group] * self.repeats, format="csr")

    def losses(self, loss: str) -> Floats:
        """The loss of each row."""
        return CLASS_LOSSES[loss](self.labels, self.probabilities)

    def tally(self) -> Tally:
        """The probability of the predicted class and whether it was right, with each row counted once."""
        return top_label_tally(self.labels, np.minimum(self.probabilities, 1.0), self.counts / self.repeats)


def mean_with_error(
    values: Floats, counts: Floats, members: csr_array | None = None, repeats: int = 1
) -> tuple[float, float]:
    """Mean of values that occur `counts` times, and its standard error.

    With `members`, which says how often each value occurs in each group (groups × values), the error is that of sums
    over groups. All is counted `repeats` times, by which the error does not become smaller.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics.folds import mean_with_error
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


def predict_folds(folds: Sequence[Fold], learn: Learn, repeats: int = 1) -> ScoreOutOfFold:
    """Predict each fold of one score from the rest of the rows."""
    return ScoreOutOfFold(
        probabilities=np.concatenate([learn(fold.train, fold.test.scores) for fold in folds]),
        positives=np.concatenate([fold.test.positives for fold in folds]),
        totals=np.concatenate([fold.test.totals for fold in folds]),
        repeats=repeats,
        members=_join_members(folds),
    )


def _join_members(folds: Sequence[Fold]) -> csr_array | None:
    """Members of all folds: first of their positives, then of their negatives."""
    members = [(fold.members, len(fold.test)) for fold in folds if fold.members is not None]
    if not members:
        return None
    from scipy import sparse

    positive, negative = [m[:, :size] for m, size in members], [m[:, size:] for m, size in members]
    return sparse.hstack([*positive, *negative], format="csr")
