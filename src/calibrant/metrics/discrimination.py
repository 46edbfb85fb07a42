"""Discrimination: how well scores tell the classes apart, whatever their scale. Exact from a tally."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._typing import ArrayLike
from calibrant.metrics.base import as_tally, both_classes
from calibrant.tally import Tally

__all__ = ["accuracy", "roc_auc"]


def accuracy(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    threshold: float = 0.5,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Share of rows that are right when a score above `threshold` is called positive.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Any scores; with the default threshold, probabilities.
    threshold : float
        Scores strictly above it are positive.
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
    >>> metrics.accuracy([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8])
    0.75
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label, probabilities=False)
    right = np.where(tally.scores > threshold, tally.positives, tally.negatives)
    return float(right.sum() / tally.total)


def roc_auc(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Area under the ROC curve: how often a positive row scores above a negative one, ties counting half.

    Rows of one class only have no such area and raise `InvalidInputError`. The parameters are those of `accuracy`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label, probabilities=False)
    both_classes(tally, "The area under the ROC curve")
    negatives = tally.negatives
    below = np.cumsum(negatives) - 0.5 * negatives
    return float(tally.positives @ below / (tally.total_positive * negatives.sum()))
