"""The Brier skill score: the share of a reference's Brier score that a model saves."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import as_tally
from calibrant.metrics.scores import brier_loss, mean_loss
from calibrant.tally import Tally

__all__ = ["brier_skill_score"]


def brier_skill_score(
    y_true: ArrayLike | Tally,
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
    >>> from calibrant.metrics.skill import brier_skill_score
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
