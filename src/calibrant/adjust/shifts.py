"""A map moved to another population by one shift of its log-odds: another share of positives, or another mean."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias, overload

import numpy as np

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Sigmoid
from calibrant.maps.score import CalibrationMap
from calibrant.tally import Tally

if TYPE_CHECKING:
    from calibrant.calibrators.base import BayesianCalibrator

__all__ = ["AdjustedCalibrator", "adjust_prior", "adjust_sampling", "anchor"]


class AdjustedCalibrator:
    """A fitted Bayesian calibrator followed by a map of its probabilities, such as a prior shift or an anchor.

    Intervals and draws go through the map as well. As it increases, quantiles of the posterior stay quantiles, so the
    intervals keep their level.

    Parameters
    ----------
    calibrator : fitted Bayesian calibrator
        With `predict_interval` and `sample_maps`.
    adjustment : CalibrationMap
        A map from probabilities to probabilities that never decreases.

    Attributes
    ----------
    map_ : CalibrationMap
        The adjusted map, to be saved or exported.

    Examples
    --------
    >>> from calibrant import BayesIso, simulate
    >>> from calibrant.adjust import adjust_prior
    >>> data = simulate.from_truth("D1", 300)
    >>> calibrator = BayesIso().fit(data.scores, data.labels)
    >>> adjusted = adjust_prior(calibrator, train_rate=data.labels.mean(), serve_rate=0.1)
    >>> low, high = adjusted.predict_interval([0.5])
    >>> bool(low[0] < adjusted.predict([0.5])[0] < high[0]), adjusted.sample_maps([0.5], n_draws=7).shape
    (True, (7, 1))
    """

    def __init__(self, calibrator: Bayesian, adjustment: CalibrationMap) -> None:
        if not hasattr(calibrator, "sample_maps") or not hasattr(calibrator, "map_"):
            raise InvalidInputError(
                f"What is adjusted must be a map or a fitted Bayesian calibrator, such as ABB; got "
                f"{type(calibrator).__name__}. Of other fitted calibrators adjust the map, `calibrator.map_`."
            )
        if not adjustment.monotone:
            raise InvalidInputError("`adjustment` must never decrease, or intervals would not stay intervals.")
        self.calibrator = calibrator
        self.adjustment = adjustment
        self.map_: CalibrationMap = calibrator.map_.then(adjustment)

    def predict(self, scores: ArrayLike) -> Floats:
        """P(y = positive class) for each score, (n,)."""
        return self.map_(scores)

    def predict_interval(self, scores: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the central credible interval of each adjusted probability."""
        low, high = self.calibrator.predict_interval(scores, level=level)
        return self.adjustment(low), self.adjustment(high)

    def sample_maps(self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of the adjusted map from its posterior, (n_draws, n)."""
        draws = self.calibrator.sample_maps(scores, n_draws=n_draws, random_state=random_state)
        return self.adjustment(draws.ravel()).reshape(draws.shape)


Bayesian: TypeAlias = "BayesianCalibrator | AdjustedCalibrator"


@overload
def _follow(what: CalibrationMap, adjustment: CalibrationMap) -> CalibrationMap: ...
@overload
def _follow(what: Bayesian, adjustment: CalibrationMap) -> AdjustedCalibrator: ...
def _follow(what: CalibrationMap | Bayesian, adjustment: CalibrationMap) -> CalibrationMap | AdjustedCalibrator:
    """A map followed by an adjustment is a map; a calibrator with a posterior keeps it."""
    return what.then(adjustment) if isinstance(what, CalibrationMap) else AdjustedCalibrator(what, adjustment)


@overload
def adjust_prior(map_: CalibrationMap, train_rate: float, serve_rate: float) -> CalibrationMap: ...
@overload
def adjust_prior(map_: Bayesian, train_rate: float, serve_rate: float) -> AdjustedCalibrator: ...
def adjust_prior(
    map_: CalibrationMap | Bayesian, train_rate: float, serve_rate: float
) -> CalibrationMap | AdjustedCalibrator:
    """The map for a population in which positives are more or less frequent.

    When only the share of positives changes, and not what positives and negatives look like, the odds of every
    score change by one factor (Saerens, Latinne and Decaestecker 2002):
    odds(serve_rate) / odds(train_rate).

    Parameters
    ----------
    map_ : CalibrationMap or fitted Bayesian calibrator
        Fitted where the share of positives was `train_rate`.
    train_rate, serve_rate : float
        Shares of positives, between 0 and 1.

    Returns
    -------
    CalibrationMap, or AdjustedCalibrator
        A map can be saved, inverted and exported as any other; from a calibrator one that keeps its posterior, with
        `predict_interval`, `sample_maps` and the map in `map_`.

    Examples
    --------
    >>> from calibrant import Identity
    >>> from calibrant.adjust import adjust_prior
    >>> map_ = adjust_prior(Identity().fit([0.1, 0.9], [0, 1]).map_, train_rate=0.5, serve_rate=0.1)
    >>> map_([0.5]).round(6).tolist()
    [0.1]
    """
    for name, rate in {"train_rate": train_rate, "serve_rate": serve_rate}.items():
        _validation.check_number(name, rate, "rate")
    shift = _log_odds(serve_rate) - _log_odds(train_rate)
    return _follow(map_, _shift(shift, "prior shift"))


@overload
def adjust_sampling(
    map_: CalibrationMap, *, negatives_kept: float = ..., positives_kept: float = ...
) -> CalibrationMap: ...
@overload
def adjust_sampling(
    map_: Bayesian, *, negatives_kept: float = ..., positives_kept: float = ...
) -> AdjustedCalibrator: ...
def adjust_sampling(
    map_: CalibrationMap | Bayesian, *, negatives_kept: float = 1.0, positives_kept: float = 1.0
) -> CalibrationMap | AdjustedCalibrator:
    """The map for the whole population, when it was fitted on a sample that kept only a share of a class.

    A common case: all positives and one in a hundred negatives were kept for training, ``negatives_kept=0.01``. What
    is given and returned is as in `adjust_prior`.

    Examples
    --------
    >>> from calibrant import Identity
    >>> from calibrant.adjust import adjust_sampling
    >>> map_ = adjust_sampling(Identity().fit([0.1, 0.9], [0, 1]).map_, negatives_kept=0.01)
    >>> map_([0.5]).round(6).tolist()
    [0.009901]
    """
    for name, share in {"negatives_kept": negatives_kept, "positives_kept": positives_kept}.items():
        _validation.check_number(name, share, "share")
    shift = math.log(negatives_kept) - math.log(positives_kept)
    return _follow(map_, _shift(shift, "sampling correction"))


def _log_odds(rate: float) -> float:
    return math.log(rate) - math.log1p(-rate)


@overload
def anchor(
    map_: CalibrationMap, scores: ArrayLike | Tally, mean: float, *, sample_weight: ArrayLike | None = ...
) -> CalibrationMap: ...
@overload
def anchor(
    map_: Bayesian, scores: ArrayLike | Tally, mean: float, *, sample_weight: ArrayLike | None = ...
) -> AdjustedCalibrator: ...
def anchor(
    map_: CalibrationMap | Bayesian,
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
    whole = _follow(map_, _shift(0.0, "anchor"))
    logits = links.logit(whole(values) if isinstance(whole, CalibrationMap) else whole.predict(values))

    def excess(shift: float) -> float:
        return float(weights @ links.expit(logits + shift)) - mean

    # The mean of expit(z + shift) lies between those of the lowest and the highest z.
    target = float(links.logit(np.array(mean)))
    low, high = target - float(logits.max()), target - float(logits.min())
    shift = low if low == high else optimize.brentq(excess, low - 1e-9, high + 1e-9, xtol=1e-14, rtol=1e-14)
    return _follow(map_, _shift(float(shift), "anchor"))


def _shift(size: float, method: str) -> CalibrationMap:
    return CalibrationMap(Sigmoid(1.0, size, "logit"), "probability", True, method)


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
