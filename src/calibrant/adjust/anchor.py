"""A map moved so that its probabilities average to a given value: the long-run mean of a portfolio."""

from __future__ import annotations

from typing import overload

import numpy as np

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Floats
from calibrant.adjust.calibrator import AdjustedCalibrator, HasPosterior, follow
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Sigmoid
from calibrant.maps.score import CalibrationMap
from calibrant.tally import Tally

__all__ = ["anchor"]


@overload
def anchor(
    map_: CalibrationMap, scores: ArrayLike | Tally, mean: float, *, sample_weight: ArrayLike | None = ...
) -> CalibrationMap: ...
@overload
def anchor(
    map_: HasPosterior, scores: ArrayLike | Tally, mean: float, *, sample_weight: ArrayLike | None = ...
) -> AdjustedCalibrator: ...
def anchor(
    map_: CalibrationMap | HasPosterior,
    scores: ArrayLike | Tally,
    mean: float,
    *,
    sample_weight: ArrayLike | None = None,
) -> CalibrationMap | AdjustedCalibrator:
    """The map whose probabilities average to `mean` over the given rows, by one shift of the log-odds.

    The order of the rows and the ratios of their odds stay as they are. In credit this is anchoring to the central
    tendency; where instead positives have become more or less frequent for a known reason, `adjust_prior` needs no
    rows.

    Parameters
    ----------
    map_ : CalibrationMap or fitted Bayesian calibrator
        As fitted.
    scores : array-like of shape (n,) or Tally
        Scores of the portfolio, as the map takes them.
    mean : float
        The wanted mean of the probabilities, strictly between 0 and 1.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, such as exposures.

    Returns
    -------
    CalibrationMap, or AdjustedCalibrator
        A map can be saved, inverted and exported as any other; from a calibrator one that keeps its posterior. The
        mean is that of its probabilities; draws of the posterior scatter around it.

    Examples
    --------
    >>> from calibrant import Identity
    >>> from calibrant.adjust import anchor
    >>> portfolio = [0.01, 0.02, 0.05, 0.2]
    >>> map_ = anchor(Identity().fit([0.1, 0.9], [0, 1]).map_, portfolio, mean=0.035)
    >>> round(float(map_(portfolio).mean()), 9)
    0.035
    """
    from scipy import optimize

    _validation.check_number("mean", mean, "rate")
    values, weights = _portfolio(scores, sample_weight)
    # Following by nothing refuses what has neither map nor posterior.
    whole = follow(map_, _shift(0.0))
    logits = links.logit(whole(values) if isinstance(whole, CalibrationMap) else whole.predict(values))

    def excess(shift: float) -> float:
        return float(weights @ links.expit(logits + shift)) - mean

    # The mean of expit(z + shift) lies between those of the lowest and the highest z.
    target = float(links.logit(np.array(mean)))
    low, high = target - float(logits.max()), target - float(logits.min())
    shift = low if low == high else optimize.brentq(excess, low - 1e-9, high + 1e-9, xtol=1e-14, rtol=1e-14)
    return follow(map_, _shift(float(shift)))


def _shift(size: float) -> CalibrationMap:
    return CalibrationMap(Sigmoid(1.0, size, "logit"), "probability", True, "anchor")


def _portfolio(scores: ArrayLike | Tally, sample_weight: ArrayLike | None) -> tuple[Floats, Floats]:
    """Scores and shares of the rows."""
    if isinstance(scores, Tally):
        if sample_weight is not None:
            raise InvalidInputError("A tally holds its weights: pass it without `sample_weight`.")
        values, weights = scores.scores, scores.totals
    else:
        values = _validation.check_scores(scores)
        given = _validation.check_weights(sample_weight, len(values))
        weights = np.ones(len(values)) if given is None else given
    if len(values) == 0:
        raise InvalidInputError("`scores` must have at least one row; got none.")
    return values, weights / weights.sum()
