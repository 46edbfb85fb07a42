"""All numbers of a report on several classes: the predicted class as a study, and the whole matrix before and after."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant import _limits
from calibrant._numerics import bins
from calibrant._typing import Floats, Ints
from calibrant.comparison.candidates import RAW
from calibrant.comparison.result import Comparison
from calibrant.errors import InvalidInputError
from calibrant.reliability.tables import Table, table
from calibrant.report.study import LEVEL, Study, make_side
from calibrant.tally import Tally

MAP_GROUPS = 40


@dataclass(frozen=True)
class Matrices:
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

    @property
    def predicted(self) -> Ints:
        """The most probable class of each row before calibration."""
        out: Ints = self.before.argmax(axis=1)
        return out

    def tally(self, k: int, side: str) -> Tally:
        """Class `k` against the rest, "before" or "after" calibration, in cells fine enough for a page."""
        column = getattr(self, side)[:, k].clip(0.0, 1.0)
        return Tally.from_arrays(column, self.labels == k, self.weights).coarsen(_limits.SEGMENT_CELLS)


def read_matrices(comparison: Comparison, name: str, classes: Sequence[Any] | None = None) -> Matrices:
    """The rows of a comparison, with the predictions of one of its methods.

    Examples
    --------
    >>> from calibrant import compare
    >>> from calibrant.report.matrix_study import read_matrices
    >>> scores, y = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]] * 9, ["a", "b", "c"] * 9
    >>> matrices = read_matrices(compare(scores, y, methods=["temperature"]), "temperature")
    >>> matrices.names, matrices.tally(0, "before").total_positive
    (('a', 'b', 'c'), 9.0)
    """
    raw, own = (comparison.fits[one] for one in (RAW, name))
    rows: Any = raw.problem.sample
    names = rows.classes if classes is None else classes
    unseen: list[Any] = [one.out_of_fold for one in (raw, own)]
    sides = (one.probabilities[: len(rows.labels)] for one in unseen)  # the first repeat
    return Matrices(tuple(map(str, names)), rows.labels, rows.weights, *sides)


def make_matrix_study(comparison: Comparison, method: str | None = None) -> Study:
    """The study of the predicted class: its probability before and after, and whether it was right.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import compare
    >>> from calibrant.report.matrix_study import make_matrix_study
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.dirichlet(np.ones(3), 300)
    >>> y = (truth.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    >>> study = make_matrix_study(compare(truth, y, methods=["temperature"]), "temperature")
    >>> study.name, study.top_label, study.total
    ('temperature', True, 300.0)
    """
    if comparison.verdict is None:
        raise InvalidInputError("`comparison` must have a verdict, as `compare` gives it.")
    name = _choose(method, comparison)
    matrices = read_matrices(comparison, name)
    before, after = (make_side(_top_label(matrices, one)) for one in (matrices.before, matrices.after))
    return Study(
        total=comparison.n_rows,
        base_rate=before.tally.base_rate,
        level=LEVEL,
        verdict=replace(comparison.verdict, error=before.error),
        name=name,
        calibrator=comparison.fits[name].fitted,
        before=before,
        after=after,
        unseen=True,
        maps={one: _mean_map(read_matrices(comparison, one)) for one in [name, *comparison.fits] if one != RAW},
        titles={one.name: one.title or one.name for one in comparison.results},
        comparison=comparison,
        segments=(),
        notes=("The map shows what the probability of the predicted class becomes on average.",),
        top_label=True,
    )


def _choose(method: str | None, comparison: Comparison) -> str:
    """The name of the method to show: as asked, else as recommended; where that is none, the default or the best."""
    usable = [one.name for one in comparison.results if one.name in comparison.fits and one.name != RAW]
    if method is not None and method not in usable:
        raise InvalidInputError(f"`method` must be one of the methods compared, {', '.join(usable)}; got {method!r}.")
    if not usable:
        raise InvalidInputError("A report needs a comparison with at least one method that could be fitted.")
    recommended = comparison.recommended if comparison.recommended != RAW else "blend"
    return method or (recommended if recommended in usable else usable[0])


def _top_label(matrices: Matrices, probabilities: Floats) -> Tally:
    top = probabilities.argmax(axis=1)
    highest = probabilities[np.arange(len(top)), top].clip(0.0, 1.0)
    return Tally.from_arrays(highest, top == matrices.labels, matrices.weights).coarsen(_limits.REPORT_CELLS)


def _mean_map(matrices: Matrices) -> Table:
    """What the probability of the predicted class becomes on average, in groups of rows by that probability."""
    at = np.arange(len(matrices.labels)), matrices.predicted
    before, after = matrices.before[at], matrices.after[at]
    order = np.argsort(before, kind="stable")
    starts = bins.equal_mass_starts(matrices.weights[order], MAP_GROUPS)
    weight, *sums = (
        np.add.reduceat(one[order] * matrices.weights[order], starts) for one in (np.ones(len(order)), before, after)
    )
    return table(score=sums[0] / weight, probability=sums[1] / weight)
