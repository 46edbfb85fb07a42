"""The cost curve: expected cost for every mixture of costs and class frequencies, in one picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.decisions.net_benefit import acted_on
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import as_tally, both_classes
from calibrant.tally import Tally

__all__ = ["CostCurve", "cost_curve"]

GRID = 99


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Normalised expected cost over the share of the cost that positives are responsible for.

    Attributes
    ----------
    cost_shares : ndarray of shape (t,)
        π cost_fn / (π cost_fn + (1 − π) cost_fp), the cost that missing all positives would have in the cost of
        getting everything wrong.
    costs : ndarray of shape (t,)
        Cost when one acts from the threshold that these costs imply, divided by that of getting everything wrong.
    best : ndarray of shape (t,)
        Cost with the best threshold in hindsight, the lower envelope. The area between the two is what miscalibration
        costs.
    trivial : ndarray of shape (t,)
        Cost of always or never acting, whichever is less.
    thresholds : ndarray of shape (t,)
        Probability from which one acts at each share.

    Examples
    --------
    >>> from calibrant.decisions import cost_curve
    >>> curve = cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.9], cost_shares=[0.5])
    >>> curve.costs.tolist(), curve.best.tolist(), curve.trivial.tolist()
    ([0.25], [0.25], [0.5])
    """

    cost_shares: Floats
    costs: Floats
    best: Floats
    trivial: Floats
    thresholds: Floats


def cost_curve(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    cost_shares: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> CostCurve:
    """Expected cost of acting on the probabilities, over all ratios of costs.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data. Their share of positives is taken for that of the population.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    cost_shares : array-like of shape (t,), optional
        Strictly between 0 and 1; by default 0.01, 0.02, …, 0.99.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    CostCurve

    References
    ----------
    Drummond, Holte 2006, "Cost curves: an improved method for visualizing classifier performance".

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.decisions import cost_curve
    >>> data = simulate.from_truth("D1", 5000)
    >>> raw, true = (cost_curve(data.labels, p) for p in (data.scores, data.probabilities))
    >>> bool((raw.costs - raw.best).mean() > 3 * (true.costs - true.best).mean())
    True
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    both_classes(tally, "The cost curve")
    shares = np.arange(1, GRID + 1) / (GRID + 1) if cost_shares is None else _check_shares(cost_shares)
    # cost_fn : cost_fp follows from the share and the base rate, and the threshold from that.
    odds = shares / (1.0 - shares) * (1.0 - tally.base_rate) / tally.base_rate
    thresholds = 1.0 / (1.0 + odds)
    missed, alarms = _rates(tally, thresholds)
    costs = shares * missed + (1.0 - shares) * alarms
    return CostCurve(shares, costs, _lower_envelope(tally, shares), np.minimum(shares, 1.0 - shares), thresholds)


def _rates(tally: Tally, thresholds: Floats) -> tuple[Floats, Floats]:
    """Shares of the positives that are missed and of the negatives that are acted on."""
    positives, negatives = acted_on(tally, thresholds)
    return 1.0 - positives / tally.total_positive, negatives / (tally.total - tally.total_positive)


def _lower_envelope(tally: Tally, shares: Floats) -> Floats:
    """The least cost over all thresholds: only corners of the convex hull of the ROC curve can reach it. O(m + t)."""
    from scipy.optimize import isotonic_regression

    # The hull's corners are the ends of the blocks of isotonic regression.
    starts = isotonic_regression(tally.positives / tally.totals, weights=tally.totals).blocks
    positives, negatives = np.append(0.0, np.cumsum(tally.positives)), np.append(0.0, np.cumsum(tally.negatives))
    missed = positives[starts] / tally.total_positive
    alarms = 1.0 - negatives[starts] / (tally.total - tally.total_positive)
    # Costs along the hull fall and rise again; the turn is where its slope passes the ratio of the shares.
    gain, loss = np.diff(missed), -np.diff(alarms)
    best = np.searchsorted(gain / (gain + loss), 1.0 - shares, side="left")
    out: Floats = shares * missed[best] + (1.0 - shares) * alarms[best]
    return out


def _check_shares(cost_shares: ArrayLike) -> Floats:
    shares = np.atleast_1d(_validation.as_floats(cost_shares, "cost_shares"))
    if shares.ndim != 1 or not ((shares > 0.0) & (shares < 1.0)).all():
        raise InvalidInputError("`cost_shares` must be numbers strictly between 0 and 1.")
    return shares
