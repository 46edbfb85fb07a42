"""One test of calibration that may be looked at every day: a mixture of likelihood ratios, which is an e-value.

Also a check of what it assumes: that rows of one look do not share their outcome, as all forecasts of one recession do.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.tally import Tally

__all__ = ["SequentialTest", "deviation_of", "move_together", "warn_if_together"]

SHIFTS = (-1.6, -0.8, -0.4, -0.2, -0.1, 0.0, 0.1, 0.2, 0.4, 0.8, 1.6)
SLOPES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.45, 2.0)
LOCAL_SHIFTS = (-0.8, -0.3, 0.3, 0.8)
LOCAL_EDGES = np.array([-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0])  # of the logit
ALTERNATIVES = len(SHIFTS) * len(SLOPES) - 1 + len(LOCAL_SHIFTS) * (len(LOCAL_EDGES) + 1)
LARGEST_LOG = 700.0  # an e-value beyond any use need not overflow
LARGE, LARGE_BY_CHANCE = 1.959964 * 2**0.5, 0.05  # a difference of two residuals that one in twenty exceeds
LEAST_VARIANCE = 1e-12  # all probabilities 0 or 1
RARE = 1e-4  # probability of a warning about independent rows, at one look
MESSAGE = (
    "Rows of one period seem to share their outcome: whole periods miss their probabilities by far more than chance, "
    "now above and now below. E-values then grow too fast; start again with `clustered=True`."
)


@dataclass(frozen=True, eq=False)
class SequentialTest:
    """A running test of "every row is positive with its probability"; each look adds a tally of new rows.

    While that holds, the likelihood ratio of each alternative is a non-negative martingale, and so is their mixture:
    it ever reaches 20 with a probability of at most 5 % (Ville 1939). The alternatives are shifts and slopes of the
    logit, and shifts in one range of it. Each of them may begin at any look, with weight 1 / (t (t + 1)) for look t, so
    that a change after a long good time is found almost as fast as an early one.

    Attributes
    ----------
    looks : int
        Looks with rows so far.
    from_start : ndarray of shape (alternatives,)
        Log likelihood ratio of each alternative since the first look.
    from_any : ndarray of shape (alternatives,)
        The same where it began at any look so far, weighted by the prior over looks.
    """

    looks: int = 0
    from_start: Floats | None = None
    from_any: Floats | None = None

    def updated(self, tally: Tally, *, clustered: bool = False) -> SequentialTest:
        """The test after one more look at rows whose scores are the probabilities to be tested.

        Where rows of a look may share their outcome, the product of their likelihood ratios is no e-value; their mean
        is one, however they depend on each other.
        """
        if len(tally) == 0:
            return self
        if (tally.totals != np.round(tally.totals)).any():
            raise InvalidInputError("`tally` must count whole rows; weighted rows have no valid sequential test.")
        ratios, look = _log_ratios(tally, clustered=clustered), self.looks + 1
        so_far = -np.inf if self.from_any is None else self.from_any
        # Shiryaev's recursion with a prior over the look of the change: (so far + weight of this look) · its ratio.
        begun = np.logaddexp(so_far, -math.log(look * (look + 1))) + ratios
        return SequentialTest(look, ratios if self.from_start is None else self.from_start + ratios, begun)

    @property
    def e_value(self) -> float:
        """The e-value now: half for a fault since the first look, half for one that began at any."""
        if self.from_any is None:
            return 1.0
        not_begun = 1.0 / (self.looks + 1)
        return 0.5 * self.e_value_from_start + 0.5 * (_mean_exp(self.from_any) + not_begun)

    @property
    def e_value_from_start(self) -> float:
        """The e-value for a fault since the first look; it depends on the sum of all tallies alone."""
        return 1.0 if self.from_start is None else _mean_exp(self.from_start)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        logs = {"from_start": self.from_start, "from_any": self.from_any}
        return {"looks": self.looks} | {name: None if log is None else log.tolist() for name, log in logs.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SequentialTest:
        """The test that `to_dict` described."""
        looks = int(data["looks"])
        if looks == 0:
            return cls()
        logs = [_validation.as_floats(data[name], name) for name in ("from_start", "from_any")]
        if any(log.shape != (ALTERNATIVES,) for log in logs):
            raise ModelFileError("This monitor is of a version with other alternatives; start a new one.")
        return cls(looks, logs[0], logs[1])


def _log_ratios(tally: Tally, *, clustered: bool) -> Floats:
    """Log likelihood ratio of each alternative to the probabilities: product, or mean, over all rows of a tally."""
    z = links.logit(tally.scores)
    lines = [a + b * z for a in SHIFTS for b in SLOPES if (a, b) != (0.0, 1.0)]
    bin_of_cell = np.searchsorted(LOCAL_EDGES, z)
    local = [z + a * (bin_of_cell == i) for a in LOCAL_SHIFTS for i in range(len(LOCAL_EDGES) + 1)]
    other = np.array(lines + local)
    positive = special.log_expit(other) - special.log_expit(z)
    negative = special.log_expit(-other) - special.log_expit(-z)
    out: Floats = positive @ tally.positives + negative @ tally.negatives
    if clustered:
        counts = np.concatenate((tally.positives, tally.negatives)) / tally.total
        out = special.logsumexp(np.hstack((positive, negative)), axis=1, b=counts)
    return out


def _mean_exp(logs: Floats) -> float:
    return float(np.exp(min(special.logsumexp(logs) - math.log(len(logs)), LARGEST_LOG)))


def deviation_of(probabilities: Floats, rows: Tally) -> float:
    """Standard deviation of the number of positives of a period, if its rows are independent."""
    variance = float((probabilities * (1.0 - probabilities)) @ rows.totals)
    return math.sqrt(max(variance, LEAST_VARIANCE))


def move_together(residuals: Sequence[float]) -> bool:
    """Whether residuals of periods, one after the other, differ by more than independent rows allow.

    The difference of two neighbours is normal with variance 2, whatever the two have in common; so a map that is wrong
    in the same way in both does not matter. Large ones are counted and not added up: one of them may be the day on
    which the world changed.
    """
    pairs = np.asarray(residuals, dtype=np.float64)[: 2 * (len(residuals) // 2)].reshape(-1, 2)
    n_large = np.count_nonzero(np.abs(pairs[:, 1] - pairs[:, 0]) > LARGE)
    return bool(n_large > 0 and special.bdtrc(n_large - 1, len(pairs), LARGE_BY_CHANCE) < RARE)


def warn_if_together(before: Sequence[float], now: Sequence[float], stacklevel: int = 3) -> None:
    """Warn once, at the period with which it shows."""
    if move_together(now) and not move_together(before):
        warnings.warn(MESSAGE, UserWarning, stacklevel=stacklevel)
