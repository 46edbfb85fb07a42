"""CORP: any proper score as miscalibration − discrimination + uncertainty, by isotonic regression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import as_tally
from calibrant.metrics.scores import brier_loss, logarithmic_loss, mean_loss
from calibrant.tally import Tally

__all__ = ["Decomposition", "corp_decomposition"]

LOSSES: dict[str, Callable[[float, Floats], Floats]] = {"brier": brier_loss, "log": logarithmic_loss}


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
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    loss: str | Callable[[float, Floats], Floats] = "brier",
    sample_weight: ArrayLike | None = None,
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
