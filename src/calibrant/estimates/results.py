"""What is said about rows without labels: a number with its interval, or the difference of two."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.estimates.quantities import QUANTITIES
from calibrant.intervals import Interval
from calibrant.tally import row_count

__all__ = ["Difference", "Estimate"]


@dataclass(frozen=True, eq=False)
class _Answer(Interval):
    """What both results have: the quantity, what to mind, and the draws that the interval is taken from."""

    quantity: str
    warning: str
    draws: Floats = field(repr=False)

    @classmethod
    def from_draws(cls, quantity: str, value: float, draws: Floats, level: float, **facts: Any) -> Self:
        """The central interval of the draws, stretched to hold the value; worlds without one do not count."""
        if not np.isfinite(value):
            raise InvalidInputError(
                f"`quantity`={quantity!r} has no value on these rows: nothing is called positive, or all of them are "
                "of one class. Choose another threshold, or another quantity."
            )
        low, high = np.nanquantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
        low, high = min(float(low), value), max(float(high), value)
        return cls(value=value, low=low, high=high, level=level, quantity=quantity, draws=draws, **facts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the draws, ready for JSON."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "draws"}

    def _describe(self, prefix: str, suffix: str) -> str:
        """The value with its interval in words: whole rows without decimals, everything else with four."""
        digits = 0 if self.quantity == "positives" else 4
        value, low, high = (f"{number:.{digits}f}" for number in (self.value, self.low, self.high))
        text = f"{prefix}{QUANTITIES[self.quantity].title} {value} [{low}, {high}], level {self.level:g}{suffix}"
        return f"{text}\n{self.warning}" if self.warning else text


@dataclass(frozen=True, eq=False)
class Estimate(_Answer):
    """A number about rows whose labels are unknown, with its interval.

    Attributes
    ----------
    value, low, high : float
        The estimate and the ends of its interval.
    level : float
        Posterior probability inside the interval.
    quantity : str
        The name of the number.
    warning : str
        What to mind, or an empty text.
    draws : ndarray of shape (d,)
        The number in each possible world, from which the interval is taken.
    rows : float
        Number of unlabelled rows.
    outside : float or None
        Share of them whose score lies outside the range of the labelled scores; None where that is not known.

    Examples
    --------
    >>> from calibrant import BayesIso, simulate
    >>> data = simulate.from_truth("D1", 300)
    >>> answer = BayesIso().fit(data.scores, data.labels).estimate(data.scores, "mean")
    >>> bool(answer.low < answer.value < answer.high), answer.outside
    (True, 0.0)
    """

    rows: float
    outside: float | None

    def __str__(self) -> str:
        return self._describe("", f", {row_count(self.rows)} rows")


@dataclass(frozen=True, eq=False)
class Difference(_Answer):
    """By how much a number differs between two sets of rows.

    Attributes
    ----------
    value, low, high : float
        The first minus the second, and the ends of its interval.
    level : float
        Posterior probability inside the interval.
    quantity : str
        The name of the number.
    warning : str
        What to mind, or an empty text.
    draws : ndarray of shape (d,)
        The difference in each possible world.
    first_higher : float
        Posterior probability that the number of the first set is the higher one.
    outside : tuple of float or None
        Shares of the rows of each set whose scores lie outside the labelled range.

    Examples
    --------
    >>> from calibrant import BayesIso, simulate
    >>> data = simulate.from_truth("D1", 300)
    >>> judge = BayesIso().fit(data.scores, data.labels)
    >>> answer = judge.estimate_difference(data.scores[150:], data.scores[:150])
    >>> 0 <= answer.first_higher <= 1
    True
    """

    first_higher: float
    outside: tuple[float | None, float | None]

    def __str__(self) -> str:
        return self._describe("difference of ", f"; the first is higher with probability {self.first_higher:.2f}")
