"""An answer about rows without labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.estimates.quantities import QUANTITIES
from calibrant.tally import row_count

__all__ = ["Estimate"]


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number about rows whose labels are unknown, with its interval.

    Attributes
    ----------
    what : str
        The name of the number.
    value, low, high : float
        The estimate and the ends of its interval.
    level : float
        Posterior probability inside the interval.
    rows : float
        Number of unlabelled rows.
    outside : float or None
        Share of them whose score lies outside the range of the labelled scores; None where that is not known.
    warning : str
        What to mind, or an empty text.
    draws : ndarray of shape (d,)
        The number in each possible world, from which the interval is taken.

    Examples
    --------
    >>> from calibrant import BayesIso, simulate
    >>> data = simulate.from_truth("D1", 300)
    >>> answer = BayesIso().fit(data.scores, data.labels).estimate(data.scores, "mean")
    >>> bool(answer.low < answer.value < answer.high), answer.outside
    (True, 0.0)
    """

    what: str
    value: float
    low: float
    high: float
    level: float
    rows: float
    outside: float | None
    warning: str
    draws: Floats = field(repr=False)

    @property
    def width(self) -> float:
        """The length of the interval."""
        return self.high - self.low

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the draws, ready for JSON."""
        names = ("what", "value", "low", "high", "level", "rows", "outside", "warning")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        head = f"{QUANTITIES[self.what].title} {format_interval(self.what, self.value, self.low, self.high)}"
        text = f"{head}, level {self.level:g}, {row_count(self.rows)} rows"
        return f"{text}\n{self.warning}" if self.warning else text


def format_interval(what: str, value: float, low: float, high: float) -> str:
    """Write a value with its interval: whole rows without decimals, everything else with four."""
    digits = 0 if what == "positives" else 4
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def ends(what: str, value: float, draws: Floats, level: float) -> tuple[float, float]:
    """Return the central interval of the draws, which contains the value; worlds without a value do not count."""
    if not np.isfinite(value):
        raise InvalidInputError(
            f"`what`={what!r} has no value on these rows: nothing is called positive, or all of them are of one class. "
            "Choose another threshold, or another number."
        )
    low, high = np.nanquantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
    return min(float(low), value), max(float(high), value)
