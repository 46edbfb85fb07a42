"""Proper scores of one score and of a matrix, their decomposition, skill, and discrimination."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.metrics.samples import ClassSample, Column, Labels, ScoreSample, as_tally, both_classes, read_problem
from calibrant.tally import Tally

Loss = Callable[[float, Floats], Floats]  # of a label, 0 or 1, at each probability
ClassLoss = Callable[[Ints, Floats], Floats]  # of the column of each row's class in a matrix of probabilities


def brier_loss(label: float, probabilities: Floats) -> Floats:
    """(label − p)²."""
    return np.square(label - probabilities)


def logarithmic_loss(label: float, probabilities: Floats) -> Floats:
    """−ln of the probability of what happened, clipped by the policy of `calibrant._numerics.links`."""
    clipped = links.clip(probabilities)
    out: Floats = -np.log(clipped) if label else -np.log1p(-clipped)
    return out


def class_log_losses(labels: Ints, matrix: Floats) -> Floats:
    """−ln of the probability of each row's class, (n,), clipped by the policy of `calibrant._numerics.links`."""
    out: Floats = -np.log(links.clip(matrix[np.arange(len(labels)), labels]))
    return out


def class_brier_losses(labels: Ints, matrix: Floats) -> Floats:
    """Σ over classes of (indicator − p)² for each row, (n,): from 0 to 2."""
    hit = matrix[np.arange(len(labels)), labels]
    out: Floats = np.einsum("nk,nk->n", matrix, matrix) + 1.0 - 2.0 * hit
    return np.maximum(out, 0.0)


LOSSES: dict[str, Loss] = {"brier": brier_loss, "log": logarithmic_loss}
CLASS_LOSSES: dict[str, ClassLoss] = {"brier": class_brier_losses, "log": class_log_losses}


def mean_loss(tally: Tally, loss: Loss, probabilities: Floats | None = None) -> float:
    """The mean of ``loss(label, p)`` over the rows, p being the scores or other `probabilities` of the cells."""
    p = tally.scores if probabilities is None else probabilities
    return float((tally.positives @ loss(1.0, p) + tally.negatives @ loss(0.0, p)) / tally.total)


def brier_score(y_true: Labels, y_prob: Column = None, *, sample_weight: Column = None, pos_label: Any = None) -> float:
    """Mean squared difference of probability and outcome, from 0 (best) to 1.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,) or (n, K)
        Probabilities of the positive class; or a column for each of three or more classes, whose rows sum to 1. Then
        it is the squared distance of the whole row from the class that happened, from 0 to 2.
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
    >>> metrics.brier_score([0, 1, 2], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
    0.375
    """
    return _mean_of("brier", read_problem(y_true, y_prob, sample_weight, pos_label))


def _mean_of(loss: str, sample: ScoreSample | ClassSample) -> float:
    if isinstance(sample, ClassSample):
        return sample.mean(CLASS_LOSSES[loss](sample.labels, sample.probabilities))
    return mean_loss(sample.tally, LOSSES[loss])


def log_loss(y_true: Labels, y_prob: Column = None, *, sample_weight: Column = None, pos_label: Any = None) -> float:
    """Mean −ln of the probability that was given to what happened, in nats.

    It is always finite: probabilities are moved to [ε, 1 − ε] first, where ε = 2.2e-16 is the spacing of doubles at
    1, so one row that was called impossible and happened costs 36.04. The parameters are those of `brier_score`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.log_loss([0, 1], [0.5, 0.5]), 4), round(metrics.log_loss([1], [0.0]), 2)
    (0.6931, 36.04)
    >>> round(metrics.log_loss([0, 1, 2], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]), 4)
    0.6931
    """
    return _mean_of("log", read_problem(y_true, y_prob, sample_weight, pos_label))


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
    y_true: Labels,
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


def roc_auc(y_true: Labels, y_prob: Column = None, *, sample_weight: Column = None, pos_label: Any = None) -> float:
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


def brier_skill_score(
    y_true: Labels,
    y_prob: ArrayLike | None = None,
    *,
    reference: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """1 − Brier score / Brier score of a reference: 1 is perfect, 0 no better than the reference.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    reference : float or array-like of shape (n,), optional
        One probability for all rows, such as a climatological frequency that was known beforehand, or one for each
        row, such as another forecast; with a tally only one for all. By default the share of positives in these rows,
        which a forecaster could not have known: it makes the reference a little too good.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    Examples
    --------
    >>> from calibrant.metrics import brier_skill_score
    >>> round(brier_skill_score([0, 0, 0, 1], [0.1, 0.2, 0.3, 0.8]), 3)
    0.76
    >>> brier_skill_score([0, 1], [0.4, 0.6], reference=[0.4, 0.6])
    0.0
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    baseline = _reference_score(y_true, tally, reference, sample_weight, pos_label)
    if not baseline > 0.0:
        raise InvalidInputError("`reference` must make some error; its Brier score is 0 and no skill can be measured.")
    return 1.0 - mean_loss(tally, brier_loss) / baseline


def _reference_score(y_true: Any, tally: Tally, reference: Any, sample_weight: Any, pos_label: Any) -> float:
    constant = tally.base_rate if reference is None else reference
    if np.ndim(constant) == 0:
        value = float(constant)
        if not 0.0 <= value <= 1.0:
            raise InvalidInputError(f"`reference` must lie in [0, 1]; got {value!r}.")
        return mean_loss(tally, brier_loss, np.full(len(tally), value))
    if isinstance(y_true, Tally):
        raise InvalidInputError("`reference` must be one number where a tally is given, since a tally has no rows.")
    probabilities = _validation.check_scores(constant, "reference")
    _validation.check_unit_interval(probabilities, "reference")
    return mean_loss(as_tally(y_true, probabilities, sample_weight, pos_label), brier_loss)
