"""Parts of proper scores: miscalibration, discrimination and uncertainty, and what no recalibration removes."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant import _validation
from calibrant._numerics import links
from calibrant._numerics.logistic import fit_logistic
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.folds import OutOfFold, predict_folds, split_sample
from calibrant.metrics.reading import of_sample, of_tally
from calibrant.metrics.samples import ScoreSample, Seed, both_classes
from calibrant.metrics.scores import LOSSES, Loss, mean_loss
from calibrant.tally import Tally

RIDGE = 1.0  # holds intercept and slope near 0 and 1 where a fold separates the classes; a few rows outweigh it


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


@of_tally
def corp_decomposition(tally: Tally, *, loss: str | Loss = "brier") -> Decomposition:
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
    function = loss if callable(loss) else LOSSES[_validation.check_choice("loss", loss, list(LOSSES))]
    pooled = isotonic_regression(tally.positives / tally.totals, weights=tally.totals).x
    with np.errstate(invalid="ignore", over="ignore"):  # an infinite loss is refused below, with a reason
        score = mean_loss(tally, function)
        recalibrated = mean_loss(tally, function, np.clip(pooled, 0.0, 1.0))
        constant = mean_loss(tally, function, np.full(len(tally), tally.base_rate))
    if not np.isfinite([score, recalibrated, constant]).all():
        raise InvalidInputError("`loss` must be finite for every probability that occurs; clip inside of it.")
    return Decomposition(score, score - recalibrated, constant - recalibrated, constant)


@dataclass(frozen=True)
class Refinement:
    """score = calibration + refinement, up to the joining of more than 4096 distinct probabilities.

    Attributes
    ----------
    score : float
        The mean loss.
    calibration : Interval
        What recalibration gains on rows that it has not seen; about 0 for calibrated probabilities, and below 0 by the
        cost of estimating two numbers.
    refinement : Interval
        The mean loss after recalibration. Choose between models, or stop training, by this number if they are
        calibrated afterwards anyway.

    Examples
    --------
    >>> from calibrant.metrics.decomposition import refinement_by_recalibration
    >>> parts = refinement_by_recalibration([0, 1, 0, 1] * 9, [0.5, 0.6, 0.7, 0.8] * 9)
    >>> abs(parts.calibration.value + parts.refinement.value - parts.score) < 1e-9
    True
    """

    score: float
    calibration: Interval
    refinement: Interval


@of_sample
def refinement_by_recalibration(
    sample: ScoreSample, *, loss: str = "log", cv: int = 5, level: float = 0.9, rng: Seed = 0
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
    cv : int
        Number of folds, at least 2.
    level : float
        Confidence level of the intervals.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient: rows of one group stay in one fold, and the intervals allow for their
        dependence.
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
    >>> from calibrant.metrics.decomposition import refinement_by_recalibration
    >>> data = simulate.from_truth("underconfident", 5000)
    >>> raw = refinement_by_recalibration(data.labels, data.scores)
    >>> true = refinement_by_recalibration(data.labels, data.probabilities)
    >>> raw.calibration.low > 0.02, true.calibration.low < 0 < true.calibration.high
    (True, True)
    >>> abs(raw.refinement.value - true.refinement.value) < 0.002
    True
    """
    _validation.check_choice("loss", loss, tuple(LOSSES))
    _validation.check_level(level)
    both_classes(sample.tally, "Refinement by recalibration")
    folds = split_sample(sample, cv, rng)
    before, after = predict_folds(folds, lambda _, p: p), predict_folds(folds, _recalibrated)
    saved = before.losses(loss) - after.losses(loss)
    gain = _squared_distance(after.interval(saved, level), after, saved)
    left = after.interval(after.losses(loss), level, lowest=0.0)
    return Refinement(mean_loss(sample.tally, LOSSES[loss]), gain, left)


def _squared_distance(gain: Interval, after: OutOfFold, saved: Floats) -> Interval:
    """The interval of the gain as that of a squared distance.

    The gain g is about the square of a distance between two maps, and that distance, not g, has an error that does not
    depend on it: with the standard error s of the gain, s / 2√g. The ends are those of the distance, squared again; it
    is never below 0. A fitted line is farther away than the true one: each of its two numbers adds the squared error
    of the distance to g, so the upper end is moved by both. The lower one is not: near 0 the folds add noise of their
    own. Here g is the gain that the recalibrated probabilities q foresee, which is never negative.
    """
    if_positive, if_negative = np.split(saved, 2)
    q, totals = after.probabilities.reshape(2, -1)[0], after.counts.reshape(2, -1).sum(axis=0)
    foreseen = float(np.average(q * if_positive + (1.0 - q) * if_negative, weights=totals))
    if not foreseen > 0.0:
        return gain
    distance, half = foreseen**0.5, 0.5 * (gain.high - gain.value) / foreseen**0.5
    error = after.mean_with_error(saved)[1] / (2.0 * distance)
    low, high = max(distance - half, 0.0) ** 2, (distance + half) ** 2 + 2.0 * error**2
    return replace(gain, low=gain.value - foreseen + low, high=gain.value - foreseen + high)


def _recalibrated(train: Tally, scores: Floats) -> Floats:
    """expit(a + b logit(p)) with a and b from other rows."""
    features = np.column_stack((np.ones(len(train)), links.logit(train.scores)))
    fit = fit_logistic(features, train.positives, train.totals, ridge=RIDGE, prior_mean=np.array([0.0, 1.0]))
    return links.expit(fit.coefficients[0] + fit.coefficients[1] * links.logit(scores))
