"""Refinement by recalibration: the part of a proper score that no recalibration removes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._kernels import links
from calibrant._typing import ArrayLike, Floats
from calibrant.metrics.base import Seed, as_tally, both_classes
from calibrant.metrics.folds import split_tally
from calibrant.metrics.scores import LOSSES, mean_loss
from calibrant.tally import Tally

__all__ = ["Refinement", "refinement_by_recalibration"]

RIDGE = 1.0  # holds intercept and slope near 0 and 1 where a fold separates the classes; a few rows outweigh it


@dataclass(frozen=True)
class Refinement:
    """score = calibration + refinement.

    Attributes
    ----------
    score : float
        The mean loss.
    calibration : float
        What recalibration gains on rows that it has not seen; about 0 for calibrated probabilities, and below 0 by the
        cost of estimating two numbers.
    refinement : float
        The mean loss after recalibration. Choose between models, or stop training, by this number if they are
        calibrated afterwards anyway.

    Examples
    --------
    >>> from calibrant.metrics.refinement import Refinement
    >>> Refinement(score=0.5, calibration=0.1, refinement=0.4).refinement
    0.4
    """

    score: float
    calibration: float
    refinement: float


def refinement_by_recalibration(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    loss: str = "log",
    n_folds: int = 5,
    rng: Seed = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Refinement:
    """Split a proper score into what recalibration can repair and what it cannot.

    Each fold is recalibrated by logit(q) = a + b logit(p), fitted to the other folds. `corp_decomposition` allows every
    monotone map and fits it to the same rows that it judges, so it finds more to repair, above all with few rows; this
    one is honest and sees only what two numbers can repair.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    loss : {"log", "brier"}
        The proper score.
    n_folds : int
        At least 2.
    rng : int, numpy.random.Generator or None
        The seed or generator of the folds.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    Refinement

    References
    ----------
    Berta, Holzmüller, Jordan, Bach 2025, "Rethinking Early Stopping: Refine, Then Calibrate".

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.refinement import refinement_by_recalibration
    >>> data = simulate.from_truth("underconfident", 5000)
    >>> raw = refinement_by_recalibration(data.labels, data.scores)
    >>> true = refinement_by_recalibration(data.labels, data.probabilities)
    >>> raw.calibration > 0.02, abs(true.calibration) < 0.002, abs(raw.refinement - true.refinement) < 0.002
    (True, True, True)
    """
    _validation.check_choice("loss", loss, tuple(LOSSES))
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    both_classes(tally, "Refinement by recalibration")
    score = mean_loss(tally, LOSSES[loss])
    refined, rows = 0.0, 0.0
    for fold in split_tally(tally, n_folds, rng):
        probabilities = _recalibrated(fold.train, fold.test.scores)
        refined += mean_loss(fold.test, LOSSES[loss], probabilities) * fold.test.total
        rows += fold.test.total
    return Refinement(score, score - refined / rows, refined / rows)


def _recalibrated(train: Tally, scores: Floats) -> Floats:
    """expit(a + b logit(p)) with a and b from other rows."""
    from calibrant._kernels.logistic import fit_logistic

    features = np.column_stack((np.ones(len(train)), links.logit(train.scores)))
    fit = fit_logistic(features, train.positives, train.totals, ridge=RIDGE, prior_mean=np.array([0.0, 1.0]))
    return links.expit(fit.coefficients[0] + fit.coefficients[1] * links.logit(scores))
