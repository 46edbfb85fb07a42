"""A map moved to another population by one shift of its log-odds: another share of positives, or another mean."""

from __future__ import annotations

import math
from typing import Any

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Sigmoid
from calibrant.maps.score import CalibrationMap
from calibrant.metrics.samples import fill_weights
from calibrant.tally import Tally

__all__ = ["adjust_prior", "adjust_sampling", "anchor"]


def adjust_prior(map_: Any, train_rate: float, serve_rate: float) -> CalibrationMap:
    """The map for a population in which positives are more or less frequent.

    When only the share of positives changes, and not what positives and negatives look like, the odds of every
    score change by one factor (Saerens, Latinne and Decaestecker 2002):
    odds(serve_rate) / odds(train_rate).

    Parameters
    ----------
    map_ : CalibrationMap or fitted calibrator
        Fitted where the share of positives was `train_rate`.
    train_rate, serve_rate : float
        Shares of positives, between 0 and 1.

    Returns
    -------
    CalibrationMap
        To be saved, inverted and exported as any other. A posterior goes along: of a Bayesian calibrator, or of a map
        that has one, `predict_interval` and `sample_maps` are those of the adjusted probabilities.

    Examples
    --------
    >>> from calibrant import BayesIso, Identity, simulate
    >>> from calibrant.adjust import adjust_prior
    >>> map_ = adjust_prior(Identity().fit([0.1, 0.9], [0, 1]), train_rate=0.5, serve_rate=0.1)
    >>> map_([0.5]).round(6).tolist()
    [0.1]
    >>> data = simulate.from_truth("D1", 300)
    >>> calibrator = BayesIso().fit(data.scores, data.labels)
    >>> adjusted = adjust_prior(calibrator, train_rate=data.labels.mean(), serve_rate=0.1)
    >>> low, high = adjusted.predict_interval([0.5])
    >>> bool(low[0] < adjusted([0.5])[0] < high[0])
    True
    """
    for name, rate in {"train_rate": train_rate, "serve_rate": serve_rate}.items():
        _validation.check_number(name, rate, "rate")
    return _shifted(_as_map(map_), _log_odds(serve_rate) - _log_odds(train_rate), "prior shift")


def adjust_sampling(map_: Any, *, negatives_kept: float = 1.0, positives_kept: float = 1.0) -> CalibrationMap:
    """The map for the whole population, when it was fitted on a sample that kept only a share of a class.

    A common case: all positives and one in a hundred negatives were kept for training, ``negatives_kept=0.01``. What
    is given and returned is as in `adjust_prior`.

    Examples
    --------
    >>> from calibrant import Identity
    >>> from calibrant.adjust import adjust_sampling
    >>> map_ = adjust_sampling(Identity().fit([0.1, 0.9], [0, 1]), negatives_kept=0.01)
    >>> map_([0.5]).round(6).tolist()
    [0.009901]
    """
    for name, share in {"negatives_kept": negatives_kept, "positives_kept": positives_kept}.items():
        _validation.check_number(name, share, "share")
    return _shifted(_as_map(map_), math.log(negatives_kept) - math.log(positives_kept), "sampling correction")


def anchor(
    map_: Any, scores: ArrayLike | Tally, mean: float, *, sample_weight: ArrayLike | None = None
) -> CalibrationMap:
    """The map whose probabilities average to `mean` over the given rows, by one shift of the log-odds.

    The order of the rows and the ratios of their odds stay as they are. In credit this is anchoring to the central
    tendency; where instead positives have become more or less frequent for a known reason, `adjust_prior` needs no
    rows.

    Parameters
    ----------
    map_ : CalibrationMap or fitted calibrator
        As fitted.
    scores : array-like of shape (n,) or Tally
        Scores of the portfolio, as the map takes them.
    mean : float
        The wanted mean of the probabilities, strictly between 0 and 1.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, such as exposures.

    Returns
    -------
    CalibrationMap
        To be saved, inverted and exported as any other, with a posterior where there was one. The mean is that of its
        probabilities; draws of the posterior scatter around it.

    Examples
    --------
    >>> from calibrant import Identity
    >>> from calibrant.adjust import anchor
    >>> portfolio = [0.01, 0.02, 0.05, 0.2]
    >>> map_ = anchor(Identity().fit([0.1, 0.9], [0, 1]), portfolio, mean=0.035)
    >>> round(float(map_(portfolio).mean()), 9)
    0.035
    """
    from scipy import optimize

    _validation.check_number("mean", mean, "rate")
    whole = _as_map(map_)
    values, weights = _portfolio(scores, sample_weight)
    logits = links.logit(whole(values))

    def excess(shift: float) -> float:
        return float(weights @ links.expit(logits + shift)) - mean

    # The mean of expit(z + shift) lies between those of the lowest and the highest z.
    target = _log_odds(mean)
    low, high = target - float(logits.max()), target - float(logits.min())
    shift = low if low == high else optimize.brentq(excess, low - 1e-9, high + 1e-9, xtol=1e-14, rtol=1e-14)
    return _shifted(whole, float(shift), "anchor")


def _as_map(what: Any) -> CalibrationMap:
    """The map, or that of a fitted calibrator with its posterior."""
    map_ = what.frozen_map() if hasattr(what, "frozen_map") else what
    if not isinstance(map_, CalibrationMap):
        raise InvalidInputError(
            f"What is adjusted must be a CalibrationMap or a fitted calibrator of one score; got {type(what).__name__}."
        )
    return map_


def _shifted(map_: CalibrationMap, size: float, method: str) -> CalibrationMap:
    return map_.then(CalibrationMap(Sigmoid(1.0, size, "logit"), "probability", True, method))


def _log_odds(rate: float) -> float:
    return math.log(rate) - math.log1p(-rate)


def _portfolio(scores: ArrayLike | Tally, sample_weight: ArrayLike | None) -> tuple[Floats, Floats]:
    """Scores and shares of the rows."""
    if isinstance(scores, Tally):
        if sample_weight is not None:
            raise InvalidInputError("A tally holds its weights: pass it without `sample_weight`.")
        values, weights = scores.scores, scores.totals
    else:
        values = _validation.check_scores(scores)
        weights = fill_weights(sample_weight, len(values))
    if len(values) == 0:
        raise InvalidInputError("`scores` must have at least one row; got none.")
    return values, weights / weights.sum()
