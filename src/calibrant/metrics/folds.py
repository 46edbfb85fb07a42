"""Folds of rows: at random from a tally, or with the rows of a group kept together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.metrics.base import Seed
from calibrant.metrics.grouped_rows import GroupedRows, check_grouped_rows
from calibrant.tally import Tally

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Fold", "split_groups", "split_rows", "split_tally"]

MOST_DRAWN = 10**9  # numpy's limit for exact hypergeometric draws


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


def split_tally(tally: Tally, n_folds: int, rng: Seed = 0, *, stratified: bool = True) -> list[Fold]:
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
    _validation.check_count("n_folds", n_folds, 2)
    generator = np.random.default_rng(rng)
    if stratified:
        positive = _shares(tally.positives, n_folds, generator)
        negative = _shares(tally.negatives, n_folds, generator)[::-1]  # so that the larger folds of the classes differ
    else:
        both = [np.split(part, 2) for part in _shares(np.append(tally.positives, tally.negatives), n_folds, generator)]
        positive, negative = [part[0] for part in both], [part[1] for part in both]
    folds = []
    for positives, negatives in zip(positive, negative, strict=True):
        test = _without_empty(tally.scores, positives, positives + negatives)
        left = np.maximum(tally.positives - positives, 0.0)
        train = _without_empty(tally.scores, left, left + np.maximum(tally.negatives - negatives, 0.0))
        if len(test) and len(train):
            folds.append(Fold(train, test))
    return folds


def _shares(counts: Floats, n_folds: int, generator: np.random.Generator) -> list[Floats]:
    """The part of each count that falls into each fold."""
    rows = np.ceil(counts).astype(np.int64)
    unit = np.divide(counts, rows, out=np.zeros(len(counts)), where=rows > 0)
    shares: list[Floats] = []
    for parts_left in range(n_folds, 0, -1):
        drawn = _draw(rows, -(-int(rows.sum()) // parts_left), parts_left, generator)
        rows = rows - drawn
        shares.append(drawn.astype(np.float64) * unit)
    return shares


def _draw(rows: Ints, size: int, parts_left: int, generator: np.random.Generator) -> Ints:
    if int(rows.sum()) >= MOST_DRAWN:
        return generator.binomial(rows, 1.0 / parts_left)
    return generator.multivariate_hypergeometric(rows, size, method="marginals")


def _without_empty(scores: Floats, positives: Floats, totals: Floats) -> Tally:
    kept = totals > 0.0
    return Tally(scores[kept], positives[kept], totals[kept])


def split_rows(rows: GroupedRows, n_folds: int, max_cells: int, rng: Seed = 0) -> list[Fold]:
    """Folds of checked rows with their groups kept together, of a tally joined to at most `max_cells` cells.

    Examples
    --------
    >>> from calibrant.metrics.folds import split_rows
    >>> from calibrant.metrics.grouped_rows import check_grouped_rows
    >>> rows = check_grouped_rows([0, 1, 0, 1], [0.1, 0.2, 0.8, 0.9], ["ann", "ann", "bob", "bob"])
    >>> folds = split_rows(rows, 2, max_cells=4096)
    >>> sorted(fold.test.scores.tolist() for fold in folds), folds[0].members.shape
    ([[0.1, 0.2], [0.8, 0.9]], (2, 4))
    """
    from scipy import sparse

    fold_of_row = rows.groups.deal(n_folds, rng)
    tally = rows.tally()
    cells, cell = tally.coarsen(max_cells), rows.cell_of_rows(tally, max_cells)
    folds = []
    for number in range(n_folds):
        judged = (fold_of_row == number) & (rows.weights > 0.0)
        weights, labels = rows.weights[judged], rows.labels[judged]
        totals, positives = (
            np.bincount(cell[judged], part, len(cells)).astype(np.float64) for part in (weights, weights * labels)
        )
        test = _without_empty(cells.scores, positives, totals)
        left = np.maximum(cells.positives - positives, 0.0)
        rest = np.maximum(cells.totals - totals, left)
        place = (np.cumsum(totals > 0.0) - 1)[cell[judged]] + np.where(labels, 0, len(test))
        where, shape = (rows.groups.codes[judged], place), (rows.groups.number, 2 * len(test))
        train = _without_empty(cells.scores, left, rest)
        folds.append(Fold(train, test, sparse.coo_array((weights, where), shape=shape).tocsr()))
    return [fold for fold in folds if len(fold.test) and len(fold.train)]


def split_groups(
    y_true: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    n_folds: int = 5,
    *,
    rng: Seed = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> list[Fold]:
    """Folds in which all rows of a group are on the same side: of a patient, a customer, a match, a day.

    Groups are dealt to the folds at random, each fold getting the same number of them, up to one.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    scores : array-like of shape (n,)
        Scores or probabilities.
    groups : array-like of shape (n,)
        The group of each row: numbers, strings or dates.
    n_folds : int
        At least 2 and at most the number of groups.
    rng : int, numpy.random.Generator or None
        The seed or generator.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    list of Fold

    Examples
    --------
    >>> from calibrant.metrics.folds import split_groups
    >>> folds = split_groups([0, 1, 0, 1], [0.1, 0.2, 0.8, 0.9], ["ann", "ann", "bob", "bob"], 2)
    >>> sorted(fold.test.scores.tolist() for fold in folds)
    [[0.1, 0.2], [0.8, 0.9]]
    """
    rows = check_grouped_rows(y_true, scores, groups, sample_weight=sample_weight, pos_label=pos_label)
    return split_rows(rows, n_folds, len(rows.scores), rng)
