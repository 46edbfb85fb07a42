"""A band around the calibration curve that holds for every number of rows, if the curve does not decrease."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._numerics import bins
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.metrics.base import as_tally
from calibrant.tally import Tally

__all__ = ["CalibrationBand", "finite_sample_band"]


@dataclass(frozen=True, eq=False)
class CalibrationBand:
    """Lower and upper bounds of the calibration curve, all of them together true with probability `level`.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        The distinct probabilities of the model, increasing.
    low, high : ndarray of shape (m,)
        Bounds of the share of positives at each of them. Where low > high, no curve that never decreases fits the
        data.
    totals : ndarray of shape (m,)
        Weighted number of rows at each of them.
    level : float
        Confidence level.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.finite_sample_band import finite_sample_band
    >>> data = simulate.from_truth("D1", 3000)
    >>> band = finite_sample_band(data.labels, data.scores)
    >>> bool((band.low <= band.high).all()), band.holds_identity
    (True, False)
    """

    scores: Floats
    low: Floats
    high: Floats
    totals: Floats
    level: float

    @property
    def holds_identity(self) -> bool:
        """True if the diagonal lies in the band everywhere; if not, the model is not calibrated."""
        return bool(((self.low <= self.scores) & (self.scores <= self.high)).all())

    def __call__(self, probabilities: ArrayLike) -> tuple[Floats, Floats]:
        """Bounds at any probabilities: a lower bound extends to the right, an upper bound to the left."""
        wanted = _validation.check_scores(probabilities, "probabilities")
        left = np.searchsorted(self.scores, wanted, side="right")
        right = np.searchsorted(self.scores, wanted, side="left")
        return np.append(0.0, self.low)[left], np.append(self.high, 1.0)[right]


def finite_sample_band(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    level: float = 0.9,
    max_blocks: int = 256,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> CalibrationBand:
    """Bounds of P(y = 1 | p) at all probabilities at once, for every number of rows, if it never decreases in p.

    The rows of any block of neighbouring probabilities are positive at most as often as at its highest probability, so
    the exact lower binomial limit of the block is a lower bound there and everywhere above; upper limits extend to the
    left in the same way. With G groups of rows there are G (G + 1) / 2 blocks and twice as many limits, each computed
    at the level 1 − (1 − level) / (G² + G), so that all hold together.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    level : float
        Confidence level of the band as a whole.
    max_blocks : int
        More distinct probabilities than this are first joined to so many groups of nearly equal mass, which keeps the
        guarantee. The time grows with its square.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows. Other weights void the guarantee.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    CalibrationBand

    References
    ----------
    Dimitriadis, Dümbgen, Henzi, Puke, Ziegel 2023, "Honest calibration assessment for binary outcome predictions",
    Theorem 1 and, for groups of probabilities, its version for rounded ones.

    Examples
    --------
    >>> from calibrant.metrics.finite_sample_band import finite_sample_band
    >>> band = finite_sample_band([0] * 20 + [1] * 20, [0.1] * 20 + [0.9] * 20)
    >>> band.low.round(2).tolist(), band.high.round(2).tolist()
    ([0.0, 0.81], [0.19, 1.0])
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    _validation.check_level(level)
    _validation.check_count("max_blocks", max_blocks)
    starts = _group_starts(tally, max_blocks)
    lower, upper = _block_bounds(tally, starts, (1.0 - level) / (len(starts) ** 2 + len(starts)))
    # The bound of a group holds from its last probability on, and up to its first one.
    last = np.append(starts[1:], len(tally)) - 1
    cell = np.arange(len(tally))
    low = np.append(0.0, lower)[np.searchsorted(last, cell, side="right")]
    high = np.append(upper, 1.0)[np.searchsorted(starts, cell, side="left")]
    return CalibrationBand(tally.scores, low, high, tally.totals, float(level))


def _group_starts(tally: Tally, max_blocks: int) -> Ints:
    if len(tally) <= max_blocks:
        return np.arange(len(tally))
    return bins.equal_mass_starts(tally.totals, max_blocks)


def _block_bounds(tally: Tally, starts: Ints, tail: float) -> tuple[Floats, Floats]:
    """The best lower bound of blocks that end at or before each group, and upper bound of those that begin later."""
    positives = np.append(0.0, np.cumsum(np.add.reduceat(tally.positives, starts)))
    totals = np.append(0.0, np.cumsum(np.add.reduceat(tally.totals, starts)))
    groups = len(starts)
    lower, upper = np.empty(groups), np.empty(groups)
    for g in range(groups):
        k, n = positives[g + 1] - positives[: g + 1], totals[g + 1] - totals[: g + 1]  # blocks that end with g
        lower[g] = _lower_limits(k, n, tail).max()
        k, n = positives[g + 1 :] - positives[g], totals[g + 1 :] - totals[g]  # blocks that begin with g
        upper[g] = 1.0 - _lower_limits(n - k, n, tail).max()
    return np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1]


def _lower_limits(positives: Floats, totals: Floats, tail: float) -> Floats:
    """Exact one-sided lower limits of binomial proportions, wrong with probability `tail`."""
    some = positives > 0.0
    k, n = np.where(some, positives, 1.0), totals
    out: Floats = np.where(some, special.betaincinv(k, np.maximum(n - k, 0.0) + 1.0, tail), 0.0)
    return out
