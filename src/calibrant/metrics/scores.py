"""Proper scores, their decomposition, and discrimination."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import Column, Rows, as_tally, both_classes
from calibrant.tally import Tally

Loss = Callable[[float, Floats], Floats]


def brier_loss(label: float, probabilities: Floats) -> Floats:
    """(label − p)²."""
    return np.square(label - probabilities)


def logarithmic_loss(label: float, probabilities: Floats) -> Floats:
    """−ln of the probability of what happened, clipped by the policy of `calibrant._numerics.links`."""
    clipped = links.clip(probabilities)
    out: Floats = -np.log(clipped) if label else -np.log1p(-clipped)
    return out


def mean_loss(tally: Tally, loss: Loss, probabilities: Floats | None = None) -> float:
    """The mean of ``loss(label, p)`` over the rows, p being the scores or other `probabilities` of the cells."""
    p = tally.scores if probabilities is None else probabilities
    return float((tally.positives @ loss(1.0, p) + tally.negatives @ loss(0.0, p)) / tally.total)


def brier_score(y_true: Rows, y_prob: Column = None, *, sample_weight: Column = None, pos_label: Any = None) -> float:
    """Mean squared difference of probability and outcome, from 0 (best) to 1.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,) or (n, K)
        Probabilities of the positive class; or of three or more classes, for which it is `matrix_brier_score`, from 0
        to 2.
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
    if y_prob is not None and not isinstance(y_true, Tally) and _validation.is_class_matrix(y_prob):
        from calibrant.metrics.matrix_measures import matrix_brier_score

        return matrix_brier_score(y_true, y_prob, sample_weight=sample_weight)
    return mean_loss(as_tally(y_true, y_prob, sample_weight, pos_label), brier_loss)


def root_mean_squared_error(
    y_true: Rows, y_prob: Column = None, *, sample_weight: Column = None, pos_label: Any = None
) -> float:
    """Square root of the Brier score; the parameters are those of `brier_score`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.root_mean_squared_error([0, 1], [0.5, 0.5])
    0.5
    """
    return float(np.sqrt(mean_loss(as_tally(y_true, y_prob, sample_weight, pos_label), brier_loss)))


def log_loss(y_true: Rows, y_prob: Column = None, *, sample_weight: Column = None, pos_label: Any = None) -> float:
    """Mean −ln of the probability that was given to what happened, in nats.

    It is always finite: probabilities are moved to [ε, 1 − ε] first, where ε = 2.2e-16 is the spacing of doubles at
    1, so one row that was called impossible and happened costs 36.04. The parameters are those of `brier_score`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.log_loss([0, 1], [0.5, 0.5]), 4), round(metrics.log_loss([1], [0.0]), 2)
    (0.6931, 36.04)
    """
    if y_prob is not None and not isinstance(y_true, Tally) and _validation.is_class_matrix(y_prob):
        from calibrant.metrics.matrix_measures import matrix_log_loss

        return matrix_log_loss(y_true, y_prob, sample_weight=sample_weight)
    return mean_loss(as_tally(y_true, y_prob, sample_weight, pos_label), logarithmic_loss)


LOSSES: dict[str, Loss] = {"brier": brier_loss, "log": logarithmic_loss}


@dataclass(frozen=True)
class Decomposition:
    """score = miscalibration − discrimination + uncertainty.

    Attributes
    ----------
    score : float
        The mean loss.
    miscalibration : float
        What the best monotone recalibration would gain; 0 for calibrated scores.
    discrimination : float
        What the recalibrated scores gain over always saying the base rate.
    uncertainty : float
        The loss of always saying the base rate.

    Examples
    --------
    >>> from calibrant import metrics
    >>> parts = metrics.corp_decomposition([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])
    >>> round(parts.miscalibration - parts.discrimination + parts.uncertainty - parts.score, 12)
    0.0
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def corp_decomposition(
    y_true: Rows,
    y_prob: Column = None,
    *,
    loss: str | Loss = "brier",
    sample_weight: Column = None,
    pos_label: Any = None,
) -> Decomposition:
    """Split a proper score into miscalibration, discrimination and uncertainty (CORP).

    Isotonic regression minimises every proper score at once among monotone maps, so the parts are never negative and
    need no bins.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    loss : {"brier", "log"} or callable
        The proper score; a callable ``loss(label, probabilities)`` gets the label 0.0 or 1.0 and an array.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    Decomposition

    References
    ----------
    Dimitriadis, Gneiting, Jordan 2021, "Stable reliability diagrams for probabilistic classifiers".

    Examples
    --------
    >>> from calibrant import metrics
    >>> parts = metrics.corp_decomposition([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.9])
    >>> round(parts.score, 4), round(parts.miscalibration, 4), parts.discrimination, parts.uncertainty
    (0.1675, 0.0425, 0.125, 0.25)
    """
    if isinstance(loss, str) and loss not in LOSSES:
        raise InvalidInputError(f"`loss` must be {' or '.join(LOSSES)} or a function; got {loss!r}.")
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    function = LOSSES[loss] if isinstance(loss, str) else loss
    pooled = isotonic_regression(tally.positives / tally.totals, weights=tally.totals).x
    with np.errstate(invalid="ignore", over="ignore"):  # an infinite loss is refused below, with a reason
        score = mean_loss(tally, function)
        recalibrated = mean_loss(tally, function, np.clip(pooled, 0.0, 1.0))
        constant = mean_loss(tally, function, np.full(len(tally), tally.base_rate))
    if not np.isfinite([score, recalibrated, constant]).all():
        raise InvalidInputError("`loss` must be finite for every probability that occurs; clip inside of it.")
    return Decomposition(score, score - recalibrated, constant - recalibrated, constant)


def accuracy(
    y_true: Rows, y_prob: Column = None, *, threshold: float = 0.5, sample_weight: Column = None, pos_label: Any = None
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


def roc_auc(y_true: Rows, y_prob: Column = None, *, sample_weight: Column = None, pos_label: Any = None) -> float:
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
