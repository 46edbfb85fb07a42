"""Several e-values with one rate of false alarms: their weighted mean, and which of them may be named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.monitoring.named_tallies import ALL, TOP, name_of

__all__ = ["adjust_e_values", "alarm_sentence", "alarming", "weights_of"]

TOP_SHARE = 0.5  # weight of the predicted class; the classes share the rest evenly
MOST_NAMED = 6


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
    if not 0.0 < alpha < 1.0:
        raise InvalidInputError(f"`alpha` must lie between 0 and 1; got {alpha!r}.")
    ranked = sorted(adjusted, key=lambda name: -adjusted[name])
    named = [name for name in ranked if adjusted[name] >= 1.0 / alpha]
    return named or ([ALL] if mean >= 1.0 / alpha else [])


def alarm_sentence(alarms: list[Any], now: float, alpha: float, largest: float | None = None) -> str:
    """What the test says at this level, for people: the e-value now and, of several looks, the largest."""
    peak = f", at most {largest:.3g} so far" if largest is not None and largest > max(1.0, now) else ""
    e_value = f"the e-value is {now:.3g}{peak}; it alarms at {1.0 / alpha:g}."
    if not alarms:
        return f"No alarm: {e_value}"
    more = f" and {len(alarms) - MOST_NAMED} more" if len(alarms) > MOST_NAMED else ""
    named = ", ".join(map(name_of, alarms[:MOST_NAMED]))
    of = "" if alarms == [ALL] else f" of {named}{more}"
    return f"ALARM: the probabilities{of} no longer hold; {e_value}"
