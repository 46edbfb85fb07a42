"""Over- and under-confidence at both ends of the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._typing import ArrayLike
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import as_tally
from calibrant.tally import Tally

__all__ = ["ConfidenceDiagnosis", "confidence_diagnosis"]


@dataclass(frozen=True)
class ConfidenceDiagnosis:
    """Mean probability against the share of positives among the lowest and the highest probabilities.

    Attributes
    ----------
    low_predicted, low_observed : float
        Of the rows ranked lowest.
    high_predicted, high_observed : float
        Of the rows ranked highest.

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("underconfident", 3000)
    >>> diagnosis = metrics.confidence_diagnosis(data.labels, data.scores)
    >>> diagnosis.overconfident_low, diagnosis.overconfident_high, diagnosis.verdict
    (False, False, 'under-under')
    """

    low_predicted: float
    low_observed: float
    high_predicted: float
    high_observed: float

    @property
    def overconfident_low(self) -> bool:
        """Whether the lowest probabilities are nearer to 0 than the outcomes."""
        return self.low_predicted < self.low_observed

    @property
    def overconfident_high(self) -> bool:
        """Whether the highest probabilities are nearer to 1 than the outcomes."""
        return self.high_predicted > self.high_observed

    @property
    def verdict(self) -> str:
        """``"over-over"``, ``"under-under"`` or ``"over-under"``, the three cases of the paper's Figure 3."""
        over = self.overconfident_low + self.overconfident_high
        return ("under-under", "over-under", "over-over")[over]


def confidence_diagnosis(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    share: float = 0.025,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> ConfidenceDiagnosis:
    """Whether probabilities are over- or under-confident at either end of the ranking.

    As in the Bayes-Iso paper (section 3, Figure 3) there is no verdict between the two: probabilities that are
    not over-confident at an end are under-confident there. Rows with equal probabilities have no order, so they
    count in part at the border.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    share : float
        How much of the ranking an end is, at most one half.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    ConfidenceDiagnosis

    References
    ----------
    Allikivi and Kull 2019, "Non-parametric Bayesian isotonic calibration", section 3.

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("underconfident", 20_000)
    >>> metrics.confidence_diagnosis(data.labels, data.scores).verdict
    'under-under'
    """
    if not 0.0 < share <= 0.5:
        raise InvalidInputError(f"`share` must lie in (0, 0.5]; got {share!r}.")
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    wanted = share * tally.total
    ends = np.cumsum(tally.totals)
    lowest = np.clip(wanted - (ends - tally.totals), 0.0, tally.totals)
    highest = np.clip(ends - (tally.total - wanted), 0.0, tally.totals)
    rates = tally.positives / tally.totals
    return ConfidenceDiagnosis(
        *(float(part @ column / part.sum()) for part in (lowest, highest) for column in (tally.scores, rates))
    )
