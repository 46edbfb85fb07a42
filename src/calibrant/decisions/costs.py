"""What acting on probabilities costs: the threshold that costs imply, and economic value."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.decisions.net_benefits import acted_on
from calibrant.errors import InvalidInputError
from calibrant.metrics.samples import as_tally, both_classes
from calibrant.tally import Tally

__all__ = ["cost_threshold", "relative_economic_value"]


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
    ratios = np.atleast_1d(_validation.as_floats(cost_loss_ratios, "cost_loss_ratios"))
    if ratios.ndim != 1 or not ((ratios > 0.0) & (ratios < 1.0)).all():
        raise InvalidInputError("`cost_loss_ratios` must be numbers strictly between 0 and 1.")
    cuts = ratios if thresholds is None else _validation.as_floats(thresholds, "thresholds")
    if cuts.shape not in ((), ratios.shape):
        raise InvalidInputError(f"`thresholds` must be one number or {len(ratios)}, as the ratios; got {cuts.shape}.")
    positives, negatives = acted_on(tally, np.broadcast_to(cuts, ratios.shape))
    protected, missed = (positives + negatives) / tally.total, (tally.total_positive - positives) / tally.total
    climate = np.minimum(ratios, tally.base_rate)  # always or never protecting, whichever is cheaper
    out: Floats = (climate - (ratios * protected + missed)) / (climate - ratios * tally.base_rate)
    return out
