"""Rows of several classes before and after calibration, and what can be counted in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _limits
from calibrant._numerics import bins
from calibrant._typing import Floats, Ints
from calibrant.comparison import Comparison
from calibrant.comparison.candidates import RAW
from calibrant.reliability.result import Table, table
from calibrant.tally import Tally

MAP_GROUPS = 40


@dataclass(frozen=True)
class ClassPredictions:
    """Rows of several classes.

    Attributes
    ----------
    names : tuple of str
        The classes, by column.
    labels : ndarray of shape (n,)
        Column numbers.
    weights : ndarray of shape (n,)
        How many rows each counts for.
    before, after : ndarray of shape (n, K)
        Probabilities as they were, and calibrated by fits that have not seen the row.
    """

    names: tuple[str, ...]
    labels: Ints
    weights: Floats
    before: Floats
    after: Floats

    @classmethod
    def read(cls, comparison: Comparison, name: str, classes: Sequence[Any] | None = None) -> "ClassPredictions":
        """The rows of a comparison of classes, with the predictions of one of its methods.

        Examples
        --------
        >>> from calibrant import compare
        >>> from calibrant.report.classes import ClassPredictions
        >>> scores, y = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 9, ["a", "b", "c"] * 9
        >>> rows = ClassPredictions.read(compare(scores, y, methods=["temperature"]), "temperature")
        >>> rows.names, rows.tally(0, "before").total_positive
        (('a', 'b', 'c'), 9.0)
        """
        raw: Any = comparison.fits[RAW]
        fit: Any = comparison.fits[name]
        rows = raw.problem.sample
        n_rows = len(rows.labels)  # of the first repeat; the others predict the same rows again
        names = rows.classes if classes is None else classes
        return cls(
            names=tuple(map(str, names)),
            labels=rows.labels,
            weights=rows.weights,
            before=raw.out_of_fold.probabilities[:n_rows],
            after=fit.out_of_fold.probabilities[:n_rows],
        )

    @property
    def predicted(self) -> Ints:
        """The most probable class of each row before calibration."""
        out: Ints = self.before.argmax(axis=1)
        return out

    def tally(self, k: int, side: str) -> Tally:
        """Class `k` against the rest, "before" or "after" calibration, in cells fine enough for a page."""
        column = getattr(self, side)[:, k].clip(0.0, 1.0)
        return Tally.from_arrays(column, self.labels == k, self.weights).coarsen(_limits.SEGMENT_CELLS)

    def top_label(self, side: str) -> Tally:
        """The probability of the predicted class, "before" or "after" calibration, and whether it was right."""
        probabilities = getattr(self, side)
        top = probabilities.argmax(axis=1)
        highest = probabilities[np.arange(len(top)), top].clip(0.0, 1.0)
        return Tally.from_arrays(highest, top == self.labels, self.weights).coarsen(_limits.REPORT_CELLS)

    def accuracy(self, side: str) -> float:
        """The share of rows whose predicted class is right."""
        return float(np.average(getattr(self, side).argmax(axis=1) == self.labels, weights=self.weights))

    def mean_map(self) -> Table:
        """What the probability of the predicted class becomes on average, in groups of rows by that probability."""
        at = np.arange(len(self.labels)), self.predicted
        before, after = self.before[at], self.after[at]
        order = np.argsort(before, kind="stable")
        starts = bins.equal_mass_starts(self.weights[order], MAP_GROUPS)
        weight, *sums = (
            np.add.reduceat(one[order] * self.weights[order], starts) for one in (np.ones(len(order)), before, after)
        )
        return table(score=sums[0] / weight, probability=sums[1] / weight)
