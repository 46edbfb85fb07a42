"""Forecasts of several members, pooled by the likelihood of what they forecast before, and mixed with a reference."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import special

from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.maps.files import read_floats
from calibrant.monitoring.e_values import log_ratio_of_rows
from calibrant.tally import Tally

CHANGED = 0.15  # probability, before its labels, that a period began something new: for intervals, not for forecasts
SHARE = 0.02  # of the weights, back to their prior after each period: a member that was bad can return
MEMORY = 0.98  # what a squared residual counts a period later
PRIOR_PERIODS = 8.0  # periods in which, before any was seen, members missed by chance alone
MOST_MISSED = 9.0  # times the usual squared residual that a period counts at most: one jump is no shared outcome


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
    log_begun : ndarray of shape (2,)
        Log likelihood ratio of the pool to the reference from some period on, at the latest the coming one, weighted
        by the prior of that period; and the same with e-values of periods, which differ where rows of a period share
        their outcome.
    largest_log_e_value : float
        Log of the largest e-value so far.
    """

    weights: Floats
    misses: Floats
    counted: float = PRIOR_PERIODS
    periods: int = 0
    log_begun: Floats = field(default_factory=lambda: np.full(2, math.log(0.25)))
    largest_log_e_value: float = 0.0

    @classmethod
    def start(cls, members: int) -> ForecastPool:
        """Each member has half of the weight of the one before it, which forgets less."""
        return cls(_prior(members), np.full(members, PRIOR_PERIODS))

    def updated(self, forecasts: Floats, rows: Tally, *, delay: int = 0, clustered: bool = False) -> ForecastPool:
        """The pool after a period, whose rows the reference and the members had forecast, (1 + members, cells)."""
        base, forecasts = links.clip(forecasts[0]), links.clip(forecasts[1:])
        pooled = links.clip(self.weights @ forecasts)
        ratios = np.log(pooled / base), np.log((1.0 - pooled) / (1.0 - base))
        ratio = np.array([log_ratio_of_rows(*ratios, rows, clustered=share) for share in (False, clustered)])
        # Shiryaev's recursion with a prior over the period of the change: so far · its ratio + weight of the next one.
        begins = -math.log(2.0 * (self.periods + 2) * (self.periods + 3))
        logs = np.log(self.weights) + self.rate_of(rows.total, delay) * log_likelihood(forecasts, rows)
        missed = (rows.total_positive - forecasts @ rows.totals) ** 2 / ((forecasts * (1.0 - forecasts)) @ rows.totals)
        usual = np.maximum(self.misses / self.counted, 1.0)
        new = replace(
            self,
            weights=(1.0 - SHARE) * special.softmax(logs) + SHARE * _prior(len(logs)),
            misses=MEMORY * self.misses + np.minimum(missed, MOST_MISSED * usual),
            counted=MEMORY * self.counted + 1.0,
            periods=self.periods + 1,
            log_begun=np.logaddexp(self.log_begun + ratio, begins),
        )
        return replace(new, largest_log_e_value=max(self.largest_log_e_value, new.log_e_value))

    def rate_of(self, n_rows: float, delay: int) -> float:
        """The learning rate: 1, or less where even the best member misses whole periods by more than chance.

        Where labels come late and periods move together, so do those in between. A period counts as one row at least.
        """
        rate = min(1.0, self.counted / float(self.misses.min()))
        return max(rate / (1.0 + delay * (1.0 - rate)), 1.0 / (n_rows * (1.0 + delay)))

    def probability_of_change(self, last: Any, anew: Any, delay: int) -> float:
        """The posterior probability that the last period began something new, from how well it forecasts itself.

        A refit to the period alone, each row left out in turn, stands against what was forecast before; the evidence
        counts at the pool's rate.
        """
        evidence = last.rows * (last.log_loss - anew.left_out_log_loss())
        return float(special.expit(special.logit(CHANGED) + self.rate_of(last.rows, delay) * evidence))

    @property
    def log_not_begun(self) -> float:
        """Log of the prior weight of the reference in the coming period: half for ever, and what goes over later."""
        return math.log(0.5 + 0.5 / (self.periods + 2.0))

    @property
    def share(self) -> float:
        """Posterior weight of the pool in its mixture with the reference, for the coming period."""
        return float(special.expit(self.log_begun[0] - self.log_not_begun))

    @property
    def log_e_value(self) -> float:
        """Log of the e-value against the reference: the mixture's likelihood over that of the reference."""
        return float(np.logaddexp(self.log_not_begun, self.log_begun[1]))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ForecastPool:
        """The pool of these fields, as a file has them."""
        return cls(**data | {name: read_floats(data, name) for name in ("weights", "misses", "log_begun")})


def _prior(members: int) -> Floats:
    return np.exp2(-np.arange(1.0, members + 1.0)) / (1.0 - 0.5**members)


def log_likelihood(forecasts: Floats, rows: Tally) -> Floats:
    """Log-likelihood of the rows under forecasts of their cells, (..., cells), which lie inside (0, 1)."""
    return np.log(forecasts) @ rows.positives + np.log1p(-forecasts) @ rows.negatives
