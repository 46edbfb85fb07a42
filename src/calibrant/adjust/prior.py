"""Probabilities for a population other than the one that the map was fitted on."""

from __future__ import annotations

import math
from typing import overload

from calibrant import _validation
from calibrant.adjust.calibrator import AdjustedCalibrator, HasPosterior, follow
from calibrant.maps.functions import Sigmoid
from calibrant.maps.score import CalibrationMap

__all__ = ["adjust_prior", "adjust_sampling"]


@overload
def adjust_prior(map_: CalibrationMap, train_rate: float, serve_rate: float) -> CalibrationMap: ...
@overload
def adjust_prior(map_: HasPosterior, train_rate: float, serve_rate: float) -> AdjustedCalibrator: ...
def adjust_prior(
    map_: CalibrationMap | HasPosterior, train_rate: float, serve_rate: float
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
    rates = {"train_rate": train_rate, "serve_rate": serve_rate}
    for name, rate in rates.items():
        _validation.check_number(name, rate, "rate")
    shift = _log_odds(serve_rate) - _log_odds(train_rate)
    return follow(map_, CalibrationMap(Sigmoid(1.0, shift, "logit"), "probability", True, "prior shift"))


@overload
def adjust_sampling(
    map_: CalibrationMap, *, negatives_kept: float = ..., positives_kept: float = ...
) -> CalibrationMap: ...
@overload
def adjust_sampling(
    map_: HasPosterior, *, negatives_kept: float = ..., positives_kept: float = ...
) -> AdjustedCalibrator: ...
def adjust_sampling(
    map_: CalibrationMap | HasPosterior, *, negatives_kept: float = 1.0, positives_kept: float = 1.0
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
    return follow(map_, CalibrationMap(Sigmoid(1.0, shift, "logit"), "probability", True, "sampling correction"))


def _log_odds(rate: float) -> float:
    return math.log(rate) - math.log1p(-rate)
