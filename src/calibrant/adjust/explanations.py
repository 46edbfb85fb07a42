"""Additive attributions, such as SHAP values, rescaled so that they explain the calibrated probability."""

from __future__ import annotations

import numpy as np

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.maps.score import CalibrationMap

__all__ = ["attributions"]

SPACES = ("logit", "probability")
ROUNDING = 1e-6  # sums of attributions leave [0, 1] by so much
NEAR = 1e-9  # below this distance from the base, the secant is replaced by the slope at the base


def attributions(
    values: ArrayLike, base: ArrayLike, map_: CalibrationMap, *, space: str = "logit"
) -> tuple[Floats, Floats]:
    """Attributions to the calibrated log-odds (or probability), and the calibrated base.

    An explainer splits the output of a model into a base value and one number for each feature,
    output = base + Σ values. After calibration the output is another; all attributions of a row are multiplied by one
    factor, so that they add up to the calibrated output and keep their signs and their order. Where the map is affine
    on the log-odds (Platt scaling, temperature scaling, prior shifts, anchoring), attributions in log-odds are exactly
    those of the calibrated model; elsewhere the factor is the slope of the secant between base and output.

    Parameters
    ----------
    values : array-like of shape (n, k)
        Attributions of the raw output.
    base : float or array-like of shape (n,)
        The explainer's base value.
    map_ : CalibrationMap
        A map of probabilities.
    space : {"logit", "probability"}
        What the attributions add up to before and after: the log-odds, or the probability.

    Returns
    -------
    values : ndarray of shape (n, k)
        Rescaled attributions.
    base : ndarray of shape (n,)
        Calibrated base value; base + values.sum(axis=1) is the calibrated output.

    Examples
    --------
    >>> from calibrant.adjust import attributions
    >>> from calibrant.maps.functions import Sigmoid
    >>> from calibrant.maps.score import CalibrationMap
    >>> map_ = CalibrationMap(Sigmoid(slope=0.5, intercept=-1.0, link="logit"), "probability", True)
    >>> rescaled, base = attributions([[2.0, -1.0]], 0.4, map_)
    >>> rescaled.round(9).tolist(), base.round(9).tolist()  # halved; the intercept goes to the base
    ([[1.0, -0.5]], [-0.8])
    """
    _validation.check_choice("space", space, SPACES)
    matrix = _validation.as_floats(values, "values")
    if matrix.ndim != 2:
        raise InvalidInputError(
            f"`values` must have shape (n, k), one attribution for each row and feature; got shape {matrix.shape}."
        )
    _validation.check_finite(matrix.ravel(), "values")
    bases = _validation.as_floats(base, "base")
    if bases.ndim > 1 or (bases.ndim == 1 and len(bases) != len(matrix)):
        raise InvalidInputError(f"`base` must be one number or one for each row; got shape {bases.shape}.")
    start = np.broadcast_to(bases, len(matrix))
    _validation.check_finite(start, "base")
    sums = matrix.sum(axis=1)
    calibrated = _calibrate(start, map_, space)
    return matrix * _factors(start, sums, map_, space)[:, None], calibrated


def _calibrate(outputs: Floats, map_: CalibrationMap, space: str) -> Floats:
    """The map on the scale of the attributions."""
    if space == "logit":
        return links.logit(map_(links.expit(outputs)))
    inside = np.clip(outputs, 0.0, 1.0)
    if np.abs(outputs - inside).max(initial=0.0) > ROUNDING:
        raise InvalidInputError("`base` and `values` must add up to probabilities; for log-odds use space='logit'.")
    return map_(inside)


def _factors(start: Floats, sums: Floats, map_: CalibrationMap, space: str) -> Floats:
    """Slopes of the secants; where attributions cancel, of a short one around the base."""
    short = np.abs(sums) < NEAR
    step = np.where(short, np.where(_room_above(start, space), 1e-4, -1e-4), sums)
    out: Floats = (_calibrate(start + step, map_, space) - _calibrate(start, map_, space)) / step
    return out


def _room_above(start: Floats, space: str) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return start < 0.5 if space == "probability" else np.ones(len(start), dtype=bool)
