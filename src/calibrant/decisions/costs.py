"""What acting on probabilities costs: the threshold that costs imply, cost curves, and economic value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.decisions.net_benefits import acted_on
from calibrant.errors import InvalidInputError
from calibrant.metrics.samples import as_tally, both_classes
from calibrant.tally import Tally

GRID = 99


def cost_threshold(cost_fp: float, cost_fn: float, *, cost_tp: float = 0.0, cost_tn: float = 0.0) -> float:
    """The probability from which acting costs less than not acting.

    Acting on a row of probability p costs p cost_tp + (1 − p) cost_fp on average, not acting p cost_fn + (1 − p)
    cost_tn. The two are equal at the threshold.

    Parameters
    ----------
    cost_fp, cost_fn : float
        Cost of a false positive and of a false negative.
    cost_tp, cost_tn : float
        Cost of a true positive and of a true negative; negative for a benefit.

    Returns
    -------
    float

    Examples
    --------
    >>> from calibrant.decisions import cost_threshold
    >>> cost_threshold(cost_fp=1, cost_fn=9)
    0.1
    >>> cost_threshold(cost_fp=10, cost_fn=100, cost_tp=10)  # the treatment costs 10 in any case
    0.1
    """
    costs = {"cost_fp": cost_fp, "cost_fn": cost_fn, "cost_tp": cost_tp, "cost_tn": cost_tn}
    for name, cost in costs.items():
        if not np.isfinite(cost):
            raise InvalidInputError(f"`{name}` must be a finite number; got {cost!r}.")
    false_alarm, miss = cost_fp - cost_tn, cost_fn - cost_tp
    if not (false_alarm > 0.0 and miss > 0.0):
        raise InvalidInputError(
            "Mistakes must cost more than right decisions: `cost_fp` more than `cost_tn` and `cost_fn` more than "
            f"`cost_tp`; got {costs}."
        )
    return float(false_alarm / (false_alarm + miss))


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        shares = f"cost shares {self.cost_shares[0]:g} … {self.cost_shares[-1]:g}"
        return f"CostCurve({shares}, mean cost {self.costs.mean():.4f}, at best {self.best.mean():.4f})"


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
    grid = np.arange(1, GRID + 1) / (GRID + 1)
    shares = grid if cost_shares is None else _check_open_shares(cost_shares, "cost_shares")
    # cost_fn : cost_fp follows from the share and the base rate, and the threshold from that.
    odds = shares / (1.0 - shares) * (1.0 - tally.base_rate) / tally.base_rate
    thresholds = 1.0 / (1.0 + odds)
    positives, negatives = acted_on(tally, thresholds)
    missed, alarms = 1.0 - positives / tally.total_positive, negatives / (tally.total - tally.total_positive)
    return CostCurve(
        cost_shares=shares,
        costs=shares * missed + (1.0 - shares) * alarms,
        best=_lower_envelope(tally, shares),
        trivial=np.minimum(shares, 1.0 - shares),
        thresholds=thresholds,
    )


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


def _check_open_shares(values: ArrayLike, name: str) -> Floats:
    shares = np.atleast_1d(_validation.as_floats(values, name))
    if shares.ndim != 1 or not ((shares > 0.0) & (shares < 1.0)).all():
        raise InvalidInputError(f"`{name}` must be numbers strictly between 0 and 1.")
    return shares


def relative_economic_value(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    cost_loss_ratios: ArrayLike,
    thresholds: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Floats:
    """(E_climate − E_forecast) / (E_climate − E_perfect) for users with the given ratios of cost to loss.

    A user protects at the cost C against a loss L and protects where the forecast probability is at least C / L. 1 is
    a perfect forecast, 0 one that is worth no more than always or never protecting; below 0 the user is better off
    without it.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    cost_loss_ratios : float or array-like of shape (c,)
        C / L of each user, strictly between 0 and 1.
    thresholds : float or array-like of shape (c,), optional
        Probability from which each user protects; by default the ratio itself, which is right for calibrated
        probabilities. One number is used by all.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    ndarray of shape (c,)

    References
    ----------
    Richardson 2000, "Skill and relative economic value of the ECMWF ensemble prediction system".

    Examples
    --------
    >>> from calibrant.decisions import relative_economic_value
    >>> relative_economic_value([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.9], cost_loss_ratios=[0.2, 0.5]).round(3).tolist()
    [0.5, 0.5]
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    both_classes(tally, "Relative economic value")
    ratios = _check_open_shares(cost_loss_ratios, "cost_loss_ratios")
    cuts = ratios if thresholds is None else _validation.as_floats(thresholds, "thresholds")
    if cuts.shape not in ((), ratios.shape):
        raise InvalidInputError(f"`thresholds` must be one number or {len(ratios)}, as the ratios; got {cuts.shape}.")
    positives, negatives = acted_on(tally, np.broadcast_to(cuts, ratios.shape))
    protected, missed = (positives + negatives) / tally.total, (tally.total_positive - positives) / tally.total
    climate = np.minimum(ratios, tally.base_rate)  # always or never protecting, whichever is cheaper
    return (climate - (ratios * protected + missed)) / (climate - ratios * tally.base_rate)
