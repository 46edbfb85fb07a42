"""The probability from which acting is worth its costs."""

from __future__ import annotations

import numpy as np

from calibrant.errors import InvalidInputError

__all__ = ["cost_threshold"]


def cost_threshold(cost_fp: float, cost_fn: float, *, cost_tp: float = 0.0, cost_tn: float = 0.0) -> float:
    """The probability from which acting costs less than not acting.

    Acting on a row of probability p costs p cost_tp + (1 − p) cost_fp on average, not acting p cost_fn + (1 − p)
    cost_tn. The two are equal at the threshold.

    Parameters
    ----------
    cost_fp, cost_fn : float
        Cost of acting in vain, and of not acting where it was needed.
    cost_tp, cost_tn : float
        Cost of acting rightly and of rightly not acting; negative for a benefit.

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
    in_vain, missed = cost_fp - cost_tn, cost_fn - cost_tp
    if not (in_vain > 0.0 and missed > 0.0):
        raise InvalidInputError(
            "Mistakes must cost more than right decisions: `cost_fp` more than `cost_tn` and `cost_fn` more than "
            f"`cost_tp`; got {costs}."
        )
    return float(in_vain / (in_vain + missed))
