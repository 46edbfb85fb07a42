"""Net benefit: true positives, minus false positives at the exchange rate that the threshold implies."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import as_tally
from calibrant.metrics.murphy import check_thresholds
from calibrant.tally import Tally

__all__ = ["acted_on", "benefit", "net_benefit"]


def net_benefit(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    thresholds: ArrayLike,
    standardised: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Floats:
    """TP / n − FP / n · t / (1 − t) of acting on all rows with a probability of at least t.

    Whoever acts from a probability of t on holds one true positive to be worth (1 − t) / t false ones; net benefit is
    what acting on the model's word gains, in true positives for each row, over acting on nobody.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    thresholds : float or array-like of shape (t,)
        Increasing, from 0 to below 1.
    standardised : bool
        Divide by the share of positives, which is the net benefit of acting on exactly the right rows.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    ndarray of shape (t,)

    References
    ----------
    Vickers, Elkin 2006, "Decision curve analysis: a novel method for evaluating prediction models". Kerr, Brown, Zhu,
    Janes 2016 for the standardised one.

    Examples
    --------
    >>> from calibrant.decisions import net_benefit
    >>> net_benefit([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.9], thresholds=[0.2, 0.5]).tolist()
    [0.4375, 0.25]
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    cuts = check_thresholds(thresholds, allow_zero=True)
    values = benefit(*acted_on(tally, cuts), tally.total, cuts)
    if not standardised:
        return values
    if not tally.total_positive > 0.0:
        raise InvalidInputError("Standardised net benefit needs a positive row; there is none.")
    return values / tally.base_rate


def acted_on(tally: Tally, thresholds: Floats) -> tuple[Floats, Floats]:
    """Weighted numbers of positive and of negative rows whose probability is at least each threshold."""
    first = np.searchsorted(tally.scores, thresholds, side="left")
    positives = tally.total_positive - np.append(0.0, np.cumsum(tally.positives))[first]
    negatives = tally.negatives.sum() - np.append(0.0, np.cumsum(tally.negatives))[first]
    return positives, negatives


def benefit(true_positives: Floats, false_positives: Floats, total: Any, thresholds: Floats) -> Floats:
    """The formula; the last axis is that of the thresholds."""
    out: Floats = (true_positives - false_positives * (thresholds / (1.0 - thresholds))) / total
    return out
