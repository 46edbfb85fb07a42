"""An estimate with its interval: the one result of everything that is uncertain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its interval.

    Attributes
    ----------
    value : float
        The estimate.
    low, high : float
        The ends of the interval.
    level : float
        The confidence level, such as 0.9.

    Examples
    --------
    >>> from calibrant.intervals import Interval
    >>> print(Interval(0.02, 0.01, 0.04, level=0.9))
    0.0200 [0.0100, 0.0400]
    """

    value: float
    low: float
    high: float
    level: float

    @classmethod
    def normal(
        cls, mean: float, error: float, level: float, lowest: float = -np.inf, degrees: float = np.inf
    ) -> Interval:
        """The interval of a mean with its standard error, cut at `lowest`; Student's where degrees are given."""
        from scipy.special import ndtri, stdtrit  # saved maps are read and applied with numpy alone

        upper = 0.5 + 0.5 * level
        half = float(ndtri(upper) if np.isinf(degrees) else stdtrit(degrees, upper)) * error
        return Interval(mean, max(mean - half, lowest), mean + half, level)

    @property
    def width(self) -> float:
        """The length of the interval."""
        return self.high - self.low

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {"value": self.value, "low": self.low, "high": self.high}

    def __neg__(self) -> Interval:
        """The interval of the negative value."""
        return Interval(-self.value, -self.high, -self.low, self.level)

    def __str__(self) -> str:
        return f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"


class PlainResult:
    """A result whose attributes say all: they are what `to_dict` gives."""

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, arrays as lists and tables as lists by column, ready for JSON."""
        return {key: plain(value) for key, value in vars(self).items()}

    def __repr__(self) -> str:
        known = (f"{key}={value}" for key, value in vars(self).items() if isinstance(value, float | str | Interval))
        return f"{type(self).__name__}({', '.join(known)})"


def plain(result: Any) -> Any:
    """Results as dicts, arrays as lists (tables by column), inside dicts too, and all else as it is, ready for JSON."""
    if isinstance(result, np.ndarray):
        names = result.dtype.names
        return result.tolist() if names is None else {name: result[name].tolist() for name in names}
    if isinstance(result, tuple):
        return [plain(part) for part in result]
    if isinstance(result, dict):
        return {key: plain(part) for key, part in result.items()}
    return result.to_dict() if hasattr(result, "to_dict") else result
