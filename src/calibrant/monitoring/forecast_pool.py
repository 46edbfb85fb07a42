"""Forecasts of several members, pooled by the likelihood of what they forecast before, and mixed with a reference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.errors import ModelFileError
from calibrant.monitoring.e_values import log_ratio_of_rows
from calibrant.tally import Tally

SHARE = 0.02  # of the weights, back to their prior after each period: a member that was bad can return
MEMORY = 0.98  # what a squared residual counts a period later
PRIOR_PERIODS = 8.0  # periods in which, before any was seen, members missed by chance alone
MOST_MISSED = 9.0  # times the usual squared residual that a period counts at most: one jump is no shared outcome
HALF = math.log(0.5)  # of the prior weight, on the reference for ever


@dataclass(frozen=True, eq=False)
class ForecastPool:
    """Weights of members, and the evidence for their pool against the reference.

    Attributes
    ----------
    weights : ndarray of shape (members,)
        They sum to one.
    misses : ndarray of shape (members,)
        Squared standardised residuals of whole periods, summed with forgetting; `counted` is the number of periods.
    periods : int
        Periods so far.
    log_begun : tuple of float
        Log likelihood ratio of the pool to the reference from some period on, averaged over the prior of that period;
        and the same with e-values of periods, which differ where rows of a period share their outcome.
    largest_log_e_value : float
        Log of the largest e-value so far.
    """

    weights: Floats
    misses: Floats
    counted: float = PRIOR_PERIODS
    periods: int = 0
    log_begun: tuple[float, float] = (-math.inf, -math.inf)
    largest_log_e_value: float = 0.0

    @classmethod
    def start(cls, members: int) -> ForecastPool:
        """Half of the weight on the first member, which stands for no change, the rest on the others alike."""
        return cls(_prior(members), np.full(members, PRIOR_PERIODS))

    def updated(
        self, forecasts: Floats, reference: Floats, rows: Tally, *, delay: int = 0, clustered: bool = False
    ) -> ForecastPool:
        """The pool after a period, whose rows members had forecast, (members, cells), and the reference, (cells,)."""
        forecasts, pooled = links.clip(forecasts), links.clip(self.weights @ forecasts)
        base = links.clip(reference)
        ratios = np.log(pooled / base), np.log((1.0 - pooled) / (1.0 - base))
        product, e_value = (log_ratio_of_rows(*ratios, rows, clustered=share) for share in (False, clustered))
        period = self.periods + 1
        # Shiryaev's recursion with a prior over the period of the change: (so far + weight of this one) · its ratio.
        begins = -math.log(period * (period + 1))
        begun = [np.logaddexp(old, begins) + new for old, new in zip(self.log_begun, (product, e_value), strict=True)]
        logs = np.log(self.weights) + self.rate_of(rows.total, delay) * log_likelihood(forecasts, rows)
        weights = (1.0 - SHARE) * special.softmax(logs) + SHARE * _prior(len(logs))
        missed = (rows.total_positive - forecasts @ rows.totals) ** 2 / ((forecasts * (1.0 - forecasts)) @ rows.totals)
        usual = np.maximum(self.misses / self.counted, 1.0)
        new = replace(
            self,
            weights=weights,
            misses=MEMORY * self.misses + np.minimum(missed, MOST_MISSED * usual),
            counted=MEMORY * self.counted + 1.0,
            periods=period,
            log_begun=(float(begun[0]), float(begun[1])),
        )
        return replace(new, largest_log_e_value=max(self.largest_log_e_value, new.log_e_value))

    @property
    def rate(self) -> float:
        """The learning rate: 1, or less where even the best member misses whole periods by more than chance."""
        return min(1.0, self.counted / float(self.misses.min()))

    def rate_of(self, n_rows: float, delay: int) -> float:
        """The rate for a period whose labels came late: where periods move together, so do those in between."""
        rate = self.rate / (1.0 + delay * (1.0 - self.rate))
        return max(rate, 1.0 / (n_rows * (1.0 + delay)))  # a period counts as one row at least

    @property
    def share(self) -> float:
        """Posterior weight of the pool in its mixture with the reference, for the coming period."""
        begins_now = 1.0 / ((self.periods + 1.0) * (self.periods + 2.0))
        begins_later = 1.0 / (self.periods + 2.0)
        against = math.log(0.5 + 0.5 * begins_later)
        return float(special.expit(HALF + np.logaddexp(self.log_begun[0], math.log(begins_now)) - against))

    @property
    def log_e_value(self) -> float:
        """Log of the e-value against the reference: the mixture's likelihood over that of the reference."""
        not_begun = 0.5 + 0.5 / (self.periods + 1.0)
        return float(np.logaddexp(math.log(not_begun), HALF + self.log_begun[1]))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        begun = list(self.log_begun) if self.periods else None  # JSON has no infinity
        return vars(self) | {"weights": self.weights.tolist(), "misses": self.misses.tolist(), "log_begun": begun}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ForecastPool:
        """The pool that `to_dict` described."""
        weights, misses = (_validation.as_floats(data[name], name) for name in ("weights", "misses"))
        if weights.shape != misses.shape or not np.isclose(weights.sum(), 1.0) or (weights <= 0.0).any():
            raise ModelFileError("The weights of this adaptive calibrator are damaged.")
        begun = data["log_begun"]
        return cls(
            weights=weights,
            misses=misses,
            counted=float(data["counted"]),
            periods=int(data["periods"]),
            log_begun=(float(begun[0]), float(begun[1])) if begun else cls.log_begun,
            largest_log_e_value=float(data["largest_log_e_value"]),
        )


def _prior(members: int) -> Floats:
    return np.append(0.5, np.full(members - 1, 0.5 / (members - 1)))


def log_likelihood(forecasts: Floats, rows: Tally) -> Floats:
    """Log-likelihood of the rows under forecasts of their cells, (..., cells), which lie inside (0, 1)."""
    return np.log(forecasts) @ rows.positives + np.log1p(-forecasts) @ rows.negatives
