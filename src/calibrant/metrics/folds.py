"""Folds of rows of any shape, predictions for rows that were not seen, and means over these with their intervals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
from scipy.sparse import csr_array, hstack

from calibrant import _limits, _validation
from calibrant._numerics import bins
from calibrant._typing import Floats, Ints
from calibrant.intervals import Interval
from calibrant.metrics.multiclass import top_label_tally
from calibrant.metrics.samples import GroupedRows, Groups, RowSample, ScoreSample, Seed
from calibrant.metrics.scores import CLASS_LOSSES, LOSSES
from calibrant.tally import Tally

MOST_DRAWN = 10**9  # numpy's limit for exact hypergeometric draws
FAR = 5.0  # nats, odds of 150 to 1: a difference in the log-loss of one row beyond which its size says nothing more

Learn: TypeAlias = Callable[[Tally, Floats], Floats]  # rows to fit and scores to predict in, probabilities out


@dataclass(frozen=True)
class Fold:
    """Rows to fit and rows to judge; together they are all rows, unless rows to fit must come before.

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
    for own, other in zip(positive, negative, strict=True):
        rest = np.maximum(tally.positives - own, 0.0), np.maximum(tally.negatives - other, 0.0)
        folds.append(Fold(_filled(tally, *rest), _filled(tally, own, other)))
    return [fold for fold in folds if len(fold.test) and len(fold.train)]


def _shares(counts: Floats, cv: int, generator: np.random.Generator) -> list[Floats]:
    """The part of each count that falls into each fold."""
    rows = np.ceil(counts).astype(np.int64)
    unit = np.divide(counts, rows, out=np.zeros(len(counts)), where=rows > 0)
    shares: list[Floats] = []
    for folds_left in range(cv, 0, -1):
        left = int(rows.sum())
        if left >= MOST_DRAWN:
            drawn = generator.binomial(rows, 1.0 / folds_left)
        else:
            drawn = generator.multivariate_hypergeometric(rows, -(-left // folds_left), method="marginals")
        rows = rows - drawn
        shares.append(drawn.astype(np.float64) * unit)
    return shares


def _filled(tally: Tally, positives: Floats, negatives: Floats) -> Tally:
    """So many rows of the cells of a tally."""
    totals = positives + negatives
    return Tally(tally.scores[totals > 0.0], positives[totals > 0.0], totals[totals > 0.0])


def split_rows(rows: GroupedRows, cv: int, max_cells: int, rng: Seed = 0) -> list[Fold]:
    """Folds of rows with their groups kept together or in the order of time, of a tally of at most `max_cells` cells.

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
        parts = []
        for chosen in (rows.groups.learnt(fold_of_row, number), fold_of_row == number):
            weights = np.where(chosen, rows.weights, 0.0)
            counts = (np.bincount(cell, weights * label, len(cells)) for label in (rows.labels, ~rows.labels))
            positives, negatives = (count.astype(np.float64) for count in counts)
            parts.append(_filled(cells, positives, negatives))
        # The cell among those with rows to judge; rows that are not judged have no weight, wherever they are put.
        filled = np.cumsum(positives + negatives > 0.0)
        columns = np.maximum(filled - 1, 0)[cell] + np.where(rows.labels, 0, filled[-1])
        folds.append(Fold(parts[0], parts[1], rows.groups.cross(weights, columns, 2 * filled[-1])))
    return [fold for fold in folds if len(fold.test) and len(fold.train)]


def split_sample(sample: ScoreSample, cv: int, rng: Seed = 0, max_cells: int = _limits.COMPARISON_CELLS) -> list[Fold]:
    """Folds of one score joined to so many cells, with groups kept together where there are some."""
    if sample.rows is not None:
        return split_rows(sample.rows, cv, max_cells, rng)
    return split_tally(sample.tally.coarsen(max_cells), cv, rng)


def split_classes(sample: RowSample, cv: int, rng: Seed = 0) -> list[tuple[Ints, Ints]]:
    """The rows to fit and to judge in each fold: every class dealt out at random, going on where the last ended.

    Groups are dealt out instead, whatever their classes; or rows follow each other in time.
    """
    generator = np.random.default_rng(rng)
    groups = sample.groups or Groups(np.empty(0, dtype=np.intp), 0)
    if sample.groups is not None:
        fold_of_row = groups.deal(cv, generator)
    else:
        shuffled = generator.permutation(len(sample.labels))
        by_class = shuffled[np.argsort(sample.labels[shuffled], kind="stable")]
        fold_of_row = np.empty(len(by_class), dtype=np.intp)
        fold_of_row[by_class] = np.arange(len(by_class)) % cv
    masks = [(groups.learnt(fold_of_row, number), fold_of_row == number) for number in range(cv)]
    return [(np.flatnonzero(fit), np.flatnonzero(judge)) for fit, judge in masks if fit.any() and judge.any()]


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Predictions for rows that the method did not see, all folds and repeats one after the other.

    Attributes
    ----------
    probabilities : ndarray of shape (r,) or (r, K)
        The predictions: of the positive class, first for positive and then for negative rows; or of all classes.
    labels : ndarray of shape (r,)
        1 and 0, or column numbers.
    counts : ndarray of shape (r,)
        How many rows have each prediction and label.
    repeats : int
        How many times each row was predicted.
    members : sparse array or None
        Where rows have groups: how many rows of each group (first axis) are in each of the `counts` (second axis).

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.metrics.folds import predict_folds, split_tally
    >>> folds = split_tally(Tally.from_arrays([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]), 2)
    >>> predict_folds(folds, lambda train, scores: scores).tally().total
    4.0
    """

    probabilities: Floats
    labels: Ints
    counts: Floats
    repeats: int = 1
    members: csr_array | None = None

    @classmethod
    def of_cells(cls, probabilities: Floats, positives: Floats, totals: Floats, repeats: int = 1) -> Self:
        """Predictions of one score, by cell."""
        counts = np.concatenate((positives, totals - positives))
        return cls(np.tile(probabilities, 2), np.repeat([1, 0], len(probabilities)), counts, repeats)

    def losses(self, loss: str) -> Floats:
        """The "log" or "brier" loss of each prediction."""
        if self.probabilities.ndim == 2:
            return CLASS_LOSSES[loss](self.labels, self.probabilities)
        if_positive, if_negative = (LOSSES[loss](label, self.probabilities) for label in (1.0, 0.0))
        return np.where(self.labels, if_positive, if_negative)

    def tally(self) -> Tally:
        """Predictions and outcomes with each row counted once; of several classes those of the predicted one."""
        counts = self.counts / self.repeats
        if self.probabilities.ndim == 2:
            return top_label_tally(self.labels, np.minimum(self.probabilities, 1.0), counts)
        return Tally(*bins.group_sums(self.probabilities, counts * self.labels, counts))

    def sample(self) -> ScoreSample:
        """The same in the groups of the rows, if they are in groups: to be measured and resampled."""
        if self.members is None:
            return ScoreSample(self.tally())
        p, labels, part = self.probabilities, self.labels == 1, self.members.tocoo()
        if p.ndim == 2:
            p, labels = np.minimum(p.max(axis=1), 1.0), p.argmax(axis=1) == self.labels
        part.eliminate_zeros()  # rows of a group in folds that are judged elsewhere
        groups = Groups(part.row, self.members.shape[0])
        rows = GroupedRows(p[part.col], labels[part.col], part.data / self.repeats, groups)
        return ScoreSample(rows.tally(), rows)

    def mean_with_error(self, values: Floats) -> tuple[float, float]:
        """The mean of a value of each prediction over the rows, and its standard error.

        With groups the error is that of sums over groups. Repeats see the same rows, so they do not make it smaller.

        Examples
        --------
        >>> import numpy as np
        >>> from calibrant.metrics.folds import OutOfFold
        >>> found = OutOfFold(np.array([0.3, 0.6]), np.array([0, 1]), np.array([2.0, 2.0]))
        >>> found.mean_with_error(np.array([0.0, 1.0]))
        (0.5, 0.25)
        """
        weight = float(self.counts.sum())
        mean = float(self.counts @ values) / weight
        if self.members is None:
            variance = float(self.counts @ np.square(values - mean)) / weight
            return mean, float(np.sqrt(variance * self.repeats / weight))
        sums = self.members @ (values - mean)  # the repeats of a row are in the sum of its group
        n_groups = self.members.shape[0]
        return mean, float(np.sqrt(n_groups / (n_groups - 1) * (sums @ sums))) / weight

    def interval(self, values: Floats, level: float, lowest: float = -np.inf) -> Interval:
        """The mean over the rows with its interval, which one far value on one side does not widen on the other.

        A row for which a score of exactly 0 or 1 is wrong costs 36 nats. One of them in a hundred makes the standard
        error as large as the mean, though it is no sign that the mean could be small: without that row it would be what
        the others say. The mean of values cut at an upper bound is no larger than the mean; so its lower end is one of
        the mean, and the same the other way round. With G groups the interval is by Student's t of G − 1 degrees of
        freedom.

        Examples
        --------
        >>> import numpy as np
        >>> from calibrant.metrics.folds import OutOfFold
        >>> found = OutOfFold(np.array([0.3, 0.6, 0.9]), np.array([0, 1, 1]), np.array([50.0, 49.0, 1.0]))
        >>> print(found.interval(np.array([0.1, 0.2, 36.0]), level=0.9))
        0.5080 [0.1182, 1.0948]
        """
        degrees = np.inf if self.members is None else self.members.shape[0] - 1
        whole, from_above, from_below = (
            Interval.normal(*self.mean_with_error(each), level, lowest, degrees)
            for each in (values, np.minimum(values, FAR), np.maximum(values, -FAR))
        )
        return replace(whole, low=max(whole.low, from_above.low), high=min(whole.high, from_below.high))


def predict_folds(folds: Sequence[Fold], learn: Learn, repeats: int = 1) -> OutOfFold:
    """Predict each fold of one score from the rest of the rows."""
    probabilities = np.concatenate([learn(fold.train, fold.test.scores) for fold in folds])
    positives, totals = (
        np.concatenate([getattr(fold.test, name) for fold in folds]) for name in ("positives", "totals")
    )
    sizes = [(fold.members, len(fold.test)) for fold in folds if fold.members is not None]
    # First of their positives, then of their negatives.
    members = _judged_groups([own[:, :size] for own, size in sizes] + [own[:, size:] for own, size in sizes])
    return replace(OutOfFold.of_cells(probabilities, positives, totals, repeats), members=members)


def group_members(sample: RowSample, judged: Ints, repeats: int) -> csr_array | None:
    """The weight of each judged row in its group, once for each repeat; None without groups."""
    if sample.groups is None:
        return None
    by_group = sample.groups.cross(sample.weights, np.arange(len(sample.labels)), len(sample.labels))[:, judged]
    return _judged_groups([by_group] * repeats)


def _judged_groups(parts: list[csr_array]) -> csr_array | None:
    """The columns of all parts, for the groups that have rows to judge; None where rows are in no groups."""
    if not parts:
        return None
    members = hstack(parts, format="csr")
    return members[members.sum(axis=1) > 0.0]
