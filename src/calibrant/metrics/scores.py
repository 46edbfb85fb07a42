"""Proper scores: the mean loss that only the true probability minimises. Exact from a tally."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._kernels import links
from calibrant._typing import ArrayLike, Floats
from calibrant.metrics.base import as_tally
from calibrant.tally import Tally

__all__ = ["brier_loss", "brier_score", "log_loss", "logarithmic_loss", "mean_loss", "root_mean_squared_error"]

Loss = Callable[[float, Floats], Floats]


def brier_loss(label: float, probabilities: Floats) -> Floats:
    """(label − p)²."""
    return np.square(label - probabilities)


def logarithmic_loss(label: float, probabilities: Floats) -> Floats:
    """−ln of the probability of what happened, clipped by the policy of `calibrant._kernels.links`."""
    clipped = links.clip(probabilities)
    out: Floats = -np.log(clipped) if label else -np.log1p(-clipped)
    return out


def mean_loss(tally: Tally, loss: Loss, probabilities: Floats | None = None) -> float:
    """The mean of ``loss(label, p)`` over the rows, p being the scores or other `probabilities` of the cells."""
    p = tally.scores if probabilities is None else probabilities
    return float((tally.positives @ loss(1.0, p) + tally.negatives @ loss(0.0, p)) / tally.total)


def brier_score(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Mean squared difference of probability and outcome, from 0 (best) to 1.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.brier_score([0, 1, 1], [0.5, 0.5, 1.0]), 4)
    0.1667
    """
    return mean_loss(as_tally(y_true, y_prob, sample_weight, pos_label), brier_loss)


def root_mean_squared_error(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Square root of the Brier score; the parameters are those of `brier_score`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.root_mean_squared_error([0, 1], [0.5, 0.5])
    0.5
    """
    return float(np.sqrt(mean_loss(as_tally(y_true, y_prob, sample_weight, pos_label), brier_loss)))


def log_loss(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Mean −ln of the probability that was given to what happened, in nats.

    It is always finite: probabilities are moved to [ε, 1 − ε] first, where ε = 2.2e-16 is the spacing of doubles at
    1, so one row that was called impossible and happened costs 36.04. The parameters are those of `brier_score`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.log_loss([0, 1], [0.5, 0.5]), 4), round(metrics.log_loss([1], [0.0]), 2)
    (0.6931, 36.04)
    """
    return mean_loss(as_tally(y_true, y_prob, sample_weight, pos_label), logarithmic_loss)
