"""The Murphy diagram: the mean elementary score at every threshold, of which every proper score is a mixture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.samples import as_tally
from calibrant.tally import Tally

__all__ = ["MurphyCurve", "check_thresholds", "murphy_curve"]

GRID = 199  # thresholds in the default grid, an even grid without its ends


@dataclass(frozen=True, eq=False)
class MurphyCurve:
    """Mean elementary scores of one model.

    Attributes
    ----------
    thresholds : ndarray of shape (t,)
        Between 0 and 1, increasing.
    scores : ndarray of shape (t,)
        Mean elementary score at each threshold; lower is better.
    name : str or None
        Of the model, for legends.

    Examples
    --------
    >>> from calibrant.metrics.murphy import murphy_curve
    >>> curve = murphy_curve([0, 1], [0.2, 0.6], thresholds=[0.1, 0.5, 0.9])
    >>> curve.scores.round(3).tolist()
    [0.1, 0.0, 0.1]
    """

    thresholds: Floats
    scores: Floats
    name: str | None = None


def murphy_curve(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    thresholds: ArrayLike | None = None,
    name: str | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> MurphyCurve:
    """Mean elementary scores over the thresholds, for one model.

    The elementary score at θ is the regret, up to a constant factor, of someone who acts where p > θ, for whom acting
    in vain costs θ and failing to act costs 1 − θ: 2 θ for a false alarm, 2 (1 − θ) for a missed event and 0 otherwise.
    Every proper score is a mixture of elementary scores over θ, with the mean over θ uniform on [0, 1] being the Brier
    score; so a model whose curve is nowhere above another's is at least as good under every proper score.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    thresholds : array-like of shape (t,), optional
        Increasing, strictly between 0 and 1; by default 0.005, 0.01, …, 0.995.
    name : str, optional
        Of the model.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    MurphyCurve

    References
    ----------
    Ehm, Gneiting, Jordan, Krüger 2016, "Of quantiles and expectiles: consistent scoring functions, Choquet
    representations and forecast rankings".

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> from calibrant.metrics.murphy import murphy_curve
    >>> data = simulate.from_truth("D1", 1000)
    >>> curve = murphy_curve(data.labels, data.scores)
    >>> round(float(curve.scores.mean()), 2) == round(metrics.brier_score(data.labels, data.scores), 2)
    True
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    cuts = check_thresholds(thresholds) if thresholds is not None else np.arange(1, GRID + 1) / (GRID + 1)
    # Rows are acted on where p > θ: the cells from this place on.
    first = np.searchsorted(tally.scores, cuts, side="right")
    missed = np.append(0.0, np.cumsum(tally.positives))[first]
    alarms = tally.total - tally.total_positive - np.append(0.0, np.cumsum(tally.negatives))[first]
    scores = 2.0 * (cuts * alarms + (1.0 - cuts) * missed) / tally.total
    return MurphyCurve(cuts, scores, name)


def check_thresholds(thresholds: ArrayLike, *, allow_zero: bool = False) -> Floats:
    """Increasing thresholds strictly between 0 and 1, or from 0 on; one number is a list of one."""
    cuts = np.atleast_1d(_validation.as_floats(thresholds, "thresholds"))
    if cuts.ndim == 1 and len(cuts) and (np.diff(cuts) > 0.0).all():
        above = cuts[0] >= 0.0 if allow_zero else cuts[0] > 0.0
        if above and cuts[-1] < 1.0:
            return cuts
    least = "from 0 to below 1" if allow_zero else "strictly between 0 and 1"
    raise InvalidInputError(f"`thresholds` must be increasing numbers {least}, at least one; got {thresholds!r}.")
