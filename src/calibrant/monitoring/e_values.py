"""E-values: a test of calibration that may be looked at every day, and several with one rate of false alarms.

A test is a mixture of likelihood ratios. A check of what it assumes goes with it: that rows of one look do not share
their outcome, as all forecasts of one recession do. Of several tests, closed testing with weighted means says which may
be named.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.monitoring.named_tallies import ALL, TOP, name_of
from calibrant.tally import Tally

SHIFTS = (-1.6, -0.8, -0.4, -0.2, -0.1, 0.0, 0.1, 0.2, 0.4, 0.8, 1.6)
SLOPES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.45, 2.0)
LOCAL_SHIFTS = (-0.8, -0.3, 0.3, 0.8)
LOCAL_EDGES = np.array([-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0])  # of the logit
ALTERNATIVES = len(SHIFTS) * len(SLOPES) - 1 + len(LOCAL_SHIFTS) * (len(LOCAL_EDGES) + 1)
LARGEST_LOG = 700.0  # an e-value beyond any use need not overflow; its logarithm goes on
LARGE, LARGE_BY_CHANCE = 1.959964 * 6**0.5, 0.05  # a bend of three residuals that one in twenty exceeds
LEAST_VARIANCE = 1e-12  # all probabilities 0 or 1
LOG_OF_NOTHING = -1e300  # which JSON has, other than −∞
RARE = 1e-4  # probability of a warning about independent rows, at one look
MESSAGE = (
    "Rows of one period seem to share their outcome: whole periods miss their probabilities by far more than chance, "
    "now above and now below. E-values then grow too fast; start again with `clustered=True` (`--clustered`)."
)
TOP_SHARE = 0.5  # weight of the predicted class; the classes share the rest evenly
MOST_NAMED = 6


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
    from_start: Floats = field(default_factory=lambda: np.zeros(ALTERNATIVES))
    from_any: Floats = field(default_factory=lambda: np.full(ALTERNATIVES, LOG_OF_NOTHING))

    def updated(self, tally: Tally, *, clustered: bool = False) -> SequentialTest:
        """The test after one more look at rows whose scores are the probabilities to be tested.

        Where rows of a look may share their outcome, the product of their likelihood ratios is no e-value; their mean
        is one, however they depend on each other.
        """
        if len(tally) == 0:
            return self
        ratios, look = _log_ratios(tally, clustered=clustered), self.looks + 1
        # Shiryaev's recursion with a prior over the look of the change: (so far + weight of this look) · its ratio.
        begun = np.logaddexp(self.from_any, -math.log(look * (look + 1))) + ratios
        return SequentialTest(look, self.from_start + ratios, begun)

    @property
    def log_e_value(self) -> float:
        """Log of the e-value now: half for a fault since the first look, half for one that began at any."""
        ever = np.concatenate((self.from_start, self.from_any)) - math.log(2.0 * ALTERNATIVES)
        return float(np.logaddexp.reduce(np.append(ever, -math.log(2.0 * (self.looks + 1)))))

    @property
    def e_value(self) -> float:
        """The e-value now, at most 10³⁰⁴."""
        return bounded_exp(self.log_e_value)

    @property
    def e_value_from_start(self) -> float:
        """That for a fault since the first look; it depends on the sum of all tallies alone."""
        return bounded_exp(special.logsumexp(self.from_start) - math.log(ALTERNATIVES))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"looks": self.looks, "from_start": self.from_start.tolist(), "from_any": self.from_any.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SequentialTest:
        """The test that `to_dict` described."""
        logs = [_validation.as_floats(data[name], name) for name in ("from_start", "from_any")]
        if any(log.shape != (ALTERNATIVES,) for log in logs):
            raise ModelFileError("This monitor is of a version with other alternatives; start a new one.")
        return cls(int(data["looks"]), *logs)


def _log_ratios(tally: Tally, *, clustered: bool) -> Floats:
    """Log likelihood ratio of each alternative to the probabilities: product, or mean, over all rows of a tally."""
    z = links.logit(tally.scores)
    lines = [a + b * z for a in SHIFTS for b in SLOPES if (a, b) != (0.0, 1.0)]
    bin_of_cell = np.searchsorted(LOCAL_EDGES, z)
    local = [z + a * (bin_of_cell == i) for a in LOCAL_SHIFTS for i in range(len(LOCAL_EDGES) + 1)]
    other = np.array(lines + local)
    if_positive = special.log_expit(other) - special.log_expit(z)
    if_negative = special.log_expit(-other) - special.log_expit(-z)
    return log_ratio_of_rows(if_positive, if_negative, tally, clustered=clustered)


def log_ratio_of_rows(if_positive: Floats, if_negative: Floats, rows: Tally, *, clustered: bool) -> Floats:
    """Log likelihood ratio of all rows, from that of a positive and of a negative row in each cell, (..., cells).

    It is that of the product; where rows may share their outcome, that of the mean, an e-value however they depend.
    """
    if (rows.totals != np.round(rows.totals)).any():
        raise InvalidInputError("`rows` must count whole rows; weighted rows have no valid e-value.")
    if not clustered:
        return if_positive @ rows.positives + if_negative @ rows.negatives
    counts = np.concatenate((rows.positives, rows.negatives)) / rows.total
    return special.logsumexp(np.concatenate((if_positive, if_negative), axis=-1), axis=-1, b=counts)


def bounded_exp(log: float) -> float:
    """Number from its logarithm, at most 10³⁰⁴."""
    return math.exp(min(log, LARGEST_LOG))


def e_text(value: float) -> str:
    """An e-value for people."""
    return f"{value:.3g}" if value < bounded_exp(LARGEST_LOG) else "above 1e+304"


def deviation_of(probabilities: Floats, rows: Tally) -> float:
    """Standard deviation of the number of positives of a period, if its rows are independent."""
    variance = float((probabilities * (1.0 - probabilities)) @ rows.totals)
    return math.sqrt(max(variance, LEAST_VARIANCE))


def move_together(residuals: Sequence[float]) -> bool:
    """Whether residuals of periods, one after the other, bend by more than independent rows allow.

    Twice the middle one of three less its neighbours is normal with variance 6, whatever the three have in common and
    whatever trend runs through them; so a map that is wrong, or becomes wrong by and by, does not matter. Large ones
    are counted and not added up: one of them may be the day on which the world changed.
    """
    threes = np.asarray(residuals, dtype=np.float64)[: 3 * (len(residuals) // 3)].reshape(-1, 3)
    n_large = np.count_nonzero(np.abs(threes @ [-1.0, 2.0, -1.0]) > LARGE)
    return bool(n_large > 0 and special.bdtrc(n_large - 1, len(threes), LARGE_BY_CHANCE) < RARE)


def warn_if_together(residuals: Sequence[float]) -> None:
    """Warn once, at the period with which it shows."""
    if move_together(residuals) and not move_together(residuals[:-1]):
        warnings.warn(MESSAGE, UserWarning, stacklevel=3)


def adjust_e_values(e_values: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """E-values against each of several hypotheses that allow for having looked at all of them.

    The adjusted e-value is the smallest weighted mean over sets with the hypothesis among them. If at least one of
    those that are true has an adjusted value of 1 / alpha or more, then so has the mean over all that are true, which
    happens with a probability of at most alpha (closed testing with averaged e-values, Vovk and Wang 2021). As each
    e-value may be looked at every day, so may these.

    Parameters
    ----------
    e_values : array-like of shape (k,)
        One for each hypothesis.
    weights : array-like of shape (k,), optional
        Fixed in advance; equal unless stated.

    Returns
    -------
    ndarray of shape (k,)

    Examples
    --------
    >>> from calibrant.monitoring import adjust_e_values
    >>> adjust_e_values([60.0, 0.5, 0.1]).round(2).tolist()
    [20.2, 0.3, 0.1]
    """
    values = np.asarray(e_values, dtype=np.float64)
    shares = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    # The worst set for a hypothesis is itself and some of the smallest others: a prefix of the sorted values.
    sums = np.append(0.0, np.cumsum((shares * values)[order]))
    masses = np.append(0.0, np.cumsum(shares[order]))
    adjusted = np.empty(len(values))
    for rank, i in enumerate(order):
        smaller = slice(0, rank + 1)
        adjusted[i] = ((sums[smaller] + shares[i] * values[i]) / (masses[smaller] + shares[i])).min()
    return adjusted


def weights_of(names: Mapping[Any, Any]) -> Floats:
    """Weights of named tests that add up to one: equal, but half for the predicted class where there is one."""
    if TOP not in names:
        return np.full(len(names), 1.0 / len(names))
    each = (1.0 - TOP_SHARE) / (len(names) - 1)
    return np.array([TOP_SHARE if name == TOP else each for name in names])


def alarming(adjusted: Mapping[Any, float], mean: float, alpha: float) -> list[Any]:
    """The names whose adjusted e-value reaches 1 / alpha, largest first; ALL where only the mean of all does."""
    _validation.check_number("alpha", alpha, "rate")
    ranked = sorted(adjusted, key=lambda name: -adjusted[name])
    named = [name for name in ranked if adjusted[name] >= 1.0 / alpha]
    return named or ([ALL] if mean >= 1.0 / alpha else [])


def alarm_sentence(alarms: list[Any], now: float, alpha: float, largest: float | None = None) -> str:
    """What the test says at this level, for people: the e-value now and, of several looks, the largest."""
    peak = f", at most {e_text(largest)} so far" if largest is not None and largest > max(1.0, now) else ""
    e_value = f"the e-value is {e_text(now)}{peak}; it alarms at {1.0 / alpha:g}."
    if not alarms:
        return f"No alarm: {e_value}"
    more = f" and {len(alarms) - MOST_NAMED} more" if len(alarms) > MOST_NAMED else ""
    named = ", ".join(map(name_of, alarms[:MOST_NAMED]))
    of = "" if alarms == [ALL] else f" of {named}{more}"
    return f"ALARM: the probabilities{of} no longer hold; {e_value}"
