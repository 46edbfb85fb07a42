"""Folds of rows: at random from a tally, or with the rows of a group kept together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import Seed
from calibrant.metrics.grouped_rows import check_grouped_rows
from calibrant.tally import Tally, row_count

__all__ = ["Fold", "split_groups", "split_tally"]


@dataclass(frozen=True)
class Fold:
    """Rows to fit and rows to judge; together they are all rows.

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


def split_tally(tally: Tally, n_folds: int, rng: Seed = 0) -> list[Fold]:
    """Split the rows behind a tally at random. O(m) for each fold, whatever the number of rows.

    Rows of one cell and label are alike, so how many of them fall into each fold is a multinomial draw. A count that is
    not whole becomes parts of the next whole number of rows. A fold without rows is left out.

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
    positive, negative = (_shares(counts, n_folds, generator) for counts in (tally.positives, tally.negatives))
    pairs = ((positive[:, i], negative[:, i]) for i in range(n_folds))
    folds = [fold for fold in (_fold(tally, k, k + m) for k, m in pairs) if len(fold.test) and len(fold.train)]
    if not folds:
        raise InvalidInputError(f"Folds need at least two rows; got {row_count(tally.total)}. Add rows.")
    return folds


def _shares(counts: Floats, n_folds: int, generator: np.random.Generator) -> Floats:
    """The part of each count that falls into each fold, (m, n_folds)."""
    rows = np.ceil(counts).astype(np.int64)
    unit = np.divide(counts, rows, out=np.zeros(len(counts)), where=rows > 0)
    drawn = generator.multinomial(rows, np.full(n_folds, 1.0 / n_folds)).astype(np.float64)
    out: Floats = drawn * unit[:, None]
    return out


def _fold(tally: Tally, positives: Floats, totals: Floats) -> Fold:
    left = np.maximum(tally.positives - positives, 0.0)
    rest = left + np.maximum(tally.negatives - (totals - positives), 0.0)
    return Fold(_without_empty(tally.scores, left, rest), _without_empty(tally.scores, positives, totals))


def _without_empty(scores: Floats, positives: Floats, totals: Floats) -> Tally:
    kept = totals > 0.0
    return Tally(scores[kept], positives[kept], totals[kept])


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
    fold_of_row = rows.deal(n_folds, rng)
    return [Fold(rows.tally(fold_of_row != i), rows.tally(fold_of_row == i)) for i in range(n_folds)]
