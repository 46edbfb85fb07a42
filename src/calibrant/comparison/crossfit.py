"""Folds of a tally, and what a method predicts for the rows that it has not seen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.base import clone

from calibrant._kernels import grouping
from calibrant._typing import Floats, Ints
from calibrant.calibrators.base import Calibrator
from calibrant.metrics.scores import Loss
from calibrant.tally import Tally

MOST_DRAWN = 10**9  # numpy's limit for exact hypergeometric draws


@dataclass(frozen=True)
class Fold:
    """Rows to fit and rows to judge; together they are the whole tally."""

    train: Tally
    test: Tally


def folds(tally: Tally, n_folds: int, generator: np.random.Generator) -> Iterator[Fold]:
    """Split the rows behind a tally at random, each class evenly: O(m) for each fold, whatever the number of rows.

    Rows of one cell and label are alike, so how many of them fall into a fold is a multivariate hypergeometric draw.
    A count that is not whole becomes parts of the next whole number of rows.
    """
    positive = _shares(tally.positives, n_folds, generator)
    negative = _shares(tally.negatives, n_folds, generator)[::-1]  # so that the larger folds of the classes differ
    for positives, negatives in zip(positive, negative, strict=True):
        test = _kept(tally.scores, positives, positives + negatives)
        left = np.maximum(tally.positives - positives, 0.0)
        train = _kept(tally.scores, left, left + np.maximum(tally.negatives - negatives, 0.0))
        if len(test) and len(train):
            yield Fold(train, test)


def _shares(counts: Floats, n_folds: int, generator: np.random.Generator) -> list[Floats]:
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


def _kept(scores: Floats, positives: Floats, totals: Floats) -> Tally:
    kept = totals > 0.0
    return Tally(scores[kept], positives[kept], totals[kept])


@dataclass(frozen=True)
class OutOfFold:
    """Predictions for rows that the method did not see, all folds and repeats one after the other."""

    probabilities: Floats
    positives: Floats
    totals: Floats
    repeats: int

    @cached_property
    def counts(self) -> Floats:
        """Numbers of positive, then of negative rows."""
        return np.concatenate((self.positives, self.totals - self.positives))

    def losses(self, loss: Loss) -> Floats:
        """The loss of a positive, then of a negative row with each prediction."""
        return np.concatenate((loss(1.0, self.probabilities), loss(0.0, self.probabilities)))

    def mean(self, values: Floats) -> tuple[float, float]:
        """Mean over the rows, and its standard error; repeats see the same rows, so they do not make it smaller."""
        weight = float(self.counts.sum())
        mean = float(self.counts @ values) / weight
        variance = float(self.counts @ np.square(values - mean)) / weight
        return mean, float(np.sqrt(variance * self.repeats / weight))

    def tally(self) -> Tally:
        """Predictions and outcomes, with each row counted once."""
        return Tally(
            *grouping.group_sums(self.probabilities, self.positives / self.repeats, self.totals / self.repeats)
        )


def crossfit(calibrator: Calibrator, splits: Sequence[Fold], repeats: int) -> OutOfFold:
    """Fit a copy of the method on each training part and predict the rest."""
    probabilities = [clone(calibrator).fit_tally(fold.train).predict(fold.test.scores) for fold in splits]
    positives, totals = [fold.test.positives for fold in splits], [fold.test.totals for fold in splits]
    return OutOfFold(np.concatenate(probabilities), np.concatenate(positives), np.concatenate(totals), repeats)
