"""The result of a simulation, and the two arguments that all simulations share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.tally import Tally

__all__ = ["MulticlassSimulation", "Seed", "Simulation", "check_rows", "simulation"]

Seed: TypeAlias = int | np.random.Generator | None
Labels: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Scores and labels of rows whose truth is known.

    Attributes
    ----------
    scores : ndarray of shape (n,)
        Scores in [0, 1].
    labels : ndarray of shape (n,)
        0 or 1.
    probabilities : ndarray of shape (n,)
        The true P(y = 1 | score) of each row: what a perfect calibrator returns.

    Examples
    --------
    >>> from calibrant import simulate
    >>> data = simulate.bayes_iso(1000, rng=0)
    >>> data
    Simulation(1000 rows, 500 positive, mean |score − truth| 0.0982)
    >>> data.tally.total
    1000.0
    """

    scores: Floats
    labels: Labels
    probabilities: Floats

    @property
    def tally(self) -> Tally:
        """The counts of the simulated rows."""
        return Tally.from_arrays(self.scores, self.labels)

    @property
    def error(self) -> float:
        """Mean ``|score − truth|`` over the simulated rows: the calibration error that this sample really has."""
        return float(np.abs(self.scores - self.probabilities).mean())

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"Simulation({len(self)} rows, {self.labels.sum()} positive, mean |score − truth| {self.error:.4f})"


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassSimulation:
    """Logits and labels of several classes, and the true class probabilities.

    Attributes
    ----------
    logits : ndarray of shape (n, n_classes)
        What the simulated network puts out.
    labels : ndarray of shape (n,)
        0 … n_classes − 1.
    probabilities : ndarray of shape (n, n_classes)
        The true class probabilities of each row.
    temperature : float
        ``softmax(logits / temperature)`` are the true probabilities.

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.temperature_logits(100)
    MulticlassSimulation(100 rows, 10 classes, true temperature 2)
    """

    logits: Floats
    labels: Labels
    probabilities: Floats
    temperature: float

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        rows, classes = self.logits.shape
        return f"MulticlassSimulation({rows} rows, {classes} classes, true temperature {self.temperature:g})"


def simulation(scores: Floats, labels: npt.NDArray[np.bool_], probabilities: Floats) -> Simulation:
    """The result, with its arrays read-only."""
    columns = (scores, labels.astype(np.int64), probabilities)
    for column in columns:
        column.setflags(write=False)
    return Simulation(*columns)


def check_rows(n: int) -> int:
    """A positive number of rows."""
    if isinstance(n, bool) or int(n) != n or n < 1:
        raise InvalidInputError(f"`n` must be a positive number of rows; got {n!r}.")
    return int(n)
