"""Are the probabilities of several classes still right? One test of the predicted class and of each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant._validation.arrays import as_numpy
from calibrant.errors import InvalidInputError
from calibrant.metrics.matrix_measures import read_classes
from calibrant.monitoring.monitor import CalibrationMonitor, TallyComparison, compare_tallies
from calibrant.tally import Tally

__all__ = ["MatrixChange", "MatrixMonitor", "compare_matrices"]

TOP_SHARE = 0.5  # of the error rate; the classes share the rest evenly
MOST_SHOWN = 12


@dataclass(frozen=True)
class Evidence:
    """E-values of the predicted class and of each class, with one error rate for all of them.

    Each is a test martingale while every label has the probabilities of its row, and so is their weighted mean: it ever
    reaches 1 / alpha with a probability of at most alpha. A single one is off where its weighted part alone reaches
    that, so the probability of naming any of them wrongly is at most alpha, too.
    """

    top: float
    classes: Mapping[str, float]

    @property
    def e_value(self) -> float:
        """The weighted mean."""
        return TOP_SHARE * self.top + (1.0 - TOP_SHARE) * float(np.mean(list(self.classes.values())))

    def off(self, alpha: float) -> list[str]:
        """The classes with evidence of their own, most of it first."""
        _check_alpha(alpha)
        least = len(self.classes) / ((1.0 - TOP_SHARE) * alpha)
        return [
            name for name in sorted(self.classes, key=lambda name: -self.classes[name]) if self.classes[name] >= least
        ]


def compare_matrices(
    reference: tuple[ArrayLike, ArrayLike],
    current: tuple[ArrayLike, ArrayLike],
    *,
    classes: Sequence[Any] | None = None,
) -> MatrixChange:
    """Compare current rows of several classes with a reference, and test whether their probabilities still hold.

    Parameters
    ----------
    reference : (y, p)
        Labels and class probabilities, (n,) and (n, K), at the time of deployment.
    current : (y, p)
        Those since then. When the comparison is repeated, all of them: only then does the test stay valid however
        often it is looked at. `MatrixMonitor` keeps such a sum, and notices a late change sooner.
    classes : sequence, optional
        Names of the columns; by default their numbers.

    Returns
    -------
    MatrixChange

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.monitoring.classes import compare_matrices
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet(np.ones(3), 2000)
    >>> y = (p.cumsum(axis=1) < rng.random((2000, 1))).sum(axis=1)
    >>> mixed_up = p[:, [0, 2, 1]]
    >>> change = compare_matrices((y, p), (y, mixed_up), classes=["cat", "dog", "fox"])
    >>> change.p_value < 0.001, sorted(change.off(0.05))
    (True, ['dog', 'fox'])
    """
    before, after = (_tallies(*one) for one in (reference, current))
    if len(before) != len(after):
        raise InvalidInputError(
            f"`current` must have the {len(before) - 1} classes of `reference`; got {len(after) - 1}."
        )
    names = _names(classes, len(before) - 1)
    top, *each = (compare_tallies(one, two) for one, two in zip(before, after, strict=True))
    return MatrixChange(top, dict(zip(names, each, strict=True)))


@dataclass(frozen=True)
class MatrixChange:
    """Changes of rows of several classes.

    Attributes
    ----------
    top : TallyComparison
        Of the predicted class: its probability, and whether it was right.
    classes : dict of str to TallyComparison
        Of each class against the rest.

    Examples
    --------
    >>> from calibrant.monitoring.classes import compare_matrices
    >>> rows = [0, 1, 2] * 20, [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]] * 20
    >>> change = compare_matrices(rows, rows)
    >>> change.rows, list(change.classes)
    ((60.0, 60.0), ['0', '1', '2'])
    """

    top: TallyComparison
    classes: dict[str, TallyComparison]

    @property
    def rows(self) -> tuple[float, float]:
        """Of the reference and now."""
        return self.top.rows

    @property
    def evidence(self) -> Evidence:
        """The evidence against the predicted class and each class."""
        return Evidence(self.top.e_value, {name: one.e_value for name, one in self.classes.items()})

    @property
    def e_value(self) -> float:
        """Evidence against the probabilities of the current rows: at most 1 on average while they hold."""
        return self.evidence.e_value

    @property
    def p_value(self) -> float:
        """1 / e_value, at most 1: below 0.05 in at most 5 % of all series of looks, however long (Ville 1939)."""
        return min(1.0, 1.0 / self.e_value) if self.e_value > 0 else 1.0

    def off(self, alpha: float = 0.05) -> list[str]:
        """The classes that are off with evidence of their own; in at most a share `alpha` of all series any wrongly."""
        return self.evidence.off(alpha)

    def __str__(self) -> str:
        (right, now), (low, high) = self.top.base_rates, self.top.base_rate_interval
        interval = f"95 % interval of the change [{low:+.4f}, {high:+.4f}]"
        order = sorted(self.classes, key=lambda name: -self.classes[name].e_value)
        lines = [
            f"Rows: {self.rows[0]:g} in the reference, {self.rows[1]:g} now.",
            f"Predicted class right: {right:.4f}, now {now:.4f}; {interval}.",
            f"Its mean probability now: {self.top.mean_predicted:.4f}.",
            f"Evidence against the probabilities: {self.e_value:.3g}; of the predicted class {self.top.e_value:.3g}.",
            *(_line(name, self.classes[name]) for name in order[:MOST_SHOWN]),
        ]
        more = [f"  … and {len(order) - MOST_SHOWN} more classes."] if len(order) > MOST_SHOWN else []
        return "\n".join([*lines, *more])


def _line(name: str, one: TallyComparison) -> str:
    before, now = one.base_rates
    return (
        f"  {name}: share {before:.4f}, now {now:.4f}; mean predicted now {one.mean_predicted:.4f}; "
        f"evidence {one.e_value:.3g}"
    )


@dataclass(frozen=True, eq=False)
class MatrixMonitor:
    """A running test of several classes: feed it each day's rows, look as often as you like, alarm at 1 / alpha.

    It is the weighted mean of a `CalibrationMonitor` of the predicted class and of one for each class. The work of an
    update grows with rows × classes.

    Parameters
    ----------
    n_classes : int
        The number of columns.
    classes : sequence, optional
        Names of the columns; by default their numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.monitoring.classes import MatrixMonitor
    >>> rng = np.random.default_rng(0)
    >>> monitor = MatrixMonitor(3)
    >>> for day in range(5):
    ...     p = rng.dirichlet(np.ones(3), 300)
    ...     y = (p.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    ...     monitor = monitor.updated(y, p if day < 3 else p[:, [1, 0, 2]])
    >>> monitor.alarm(0.05), monitor.looks, sorted(monitor.off(0.05))
    (True, 5, ['0', '1'])
    """

    n_classes: int
    classes: Sequence[Any] | None = None
    looks: int = 0
    largest_e_value: float = 1.0
    _monitors: tuple[CalibrationMonitor, ...] = field(default=())

    def __post_init__(self) -> None:
        _validation.check_count("n_classes", self.n_classes, 2)
        _names(self.classes, self.n_classes)

    def updated(self, y: ArrayLike, p: ArrayLike) -> MatrixMonitor:
        """The monitor after one more look: new labels, (n,), and class probabilities, (n, K)."""
        tallies = _tallies(y, p)
        if len(tallies) != self.n_classes + 1:
            raise InvalidInputError(f"`p` must have {self.n_classes} columns; got {len(tallies) - 1}.")
        monitors = self._monitors or (CalibrationMonitor(),) * len(tallies)
        new = tuple(one.updated(tally) for one, tally in zip(monitors, tallies, strict=True))
        after = replace(self, looks=self.looks + 1, _monitors=new)
        return replace(after, largest_e_value=max(self.largest_e_value, after.e_value))

    @property
    def e_value(self) -> float:
        """Evidence now."""
        return self._evidence("e_value").e_value

    def alarm(self, alpha: float = 0.05) -> bool:
        """Whether the evidence has ever reached 1 / alpha."""
        _check_alpha(alpha)
        return self.largest_e_value >= 1.0 / alpha

    def off(self, alpha: float = 0.05) -> list[str]:
        """The classes whose own evidence has ever been enough; in at most a share `alpha` of all series any wrongly."""
        return self._evidence("largest_e_value").off(alpha)

    def _evidence(self, kind: str) -> Evidence:
        values = [float(getattr(one, kind)) for one in self._monitors] or [1.0] * (self.n_classes + 1)
        return Evidence(values[0], dict(zip(_names(self.classes, self.n_classes), values[1:], strict=True)))


def _tallies(y: ArrayLike, p: ArrayLike) -> list[Tally]:
    """The predicted class, and each class against the rest."""
    labels, matrix, _ = read_classes(as_numpy(y), as_numpy(p))
    top = matrix.argmax(axis=1)
    highest = Tally.from_arrays(matrix[np.arange(len(top)), top], top == labels)
    return [highest, *(Tally.from_arrays(matrix[:, k], labels == k) for k in range(matrix.shape[1]))]


def _names(classes: Sequence[Any] | None, n_classes: int) -> list[str]:
    names = [str(name) for name in (range(n_classes) if classes is None else classes)]
    if len(names) != n_classes:
        raise InvalidInputError(f"`classes` must name the {n_classes} columns; got {len(names)} names.")
    return names


def _check_alpha(alpha: float) -> None:
    if not 0.0 < alpha < 1.0:
        raise InvalidInputError(f"`alpha` must lie between 0 and 1; got {alpha!r}.")
