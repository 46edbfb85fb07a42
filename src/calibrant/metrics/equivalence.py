"""A test that can conclude that a model is calibrated, within a stated tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import as_tally
from calibrant.metrics.finite_sample_band import CalibrationBand, finite_sample_band
from calibrant.tally import Tally

__all__ = ["EquivalenceTest", "equivalence_test"]

MEASURES = ("mean", "max")


@dataclass(frozen=True)
class EquivalenceTest:
    """Bounds of the distance of a model from calibration, and what they prove.

    Attributes
    ----------
    conclusion : {"calibrated", "not calibrated", "undecided"}
        "calibrated": the distance is at most the tolerance; "not calibrated": it is larger; "undecided": the rows do
        not say. Each of the first two is wrong with probability at most 1 − level.
    low, high : float
        Bounds of the distance at the level.
    tolerance, level : float
        As given.
    measure : {"mean", "max"}
        As given.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.equivalence import equivalence_test
    >>> data = simulate.from_truth("D1", 20_000)
    >>> equivalence_test(data.labels, data.probabilities, tolerance=0.1).conclusion
    'calibrated'
    """

    conclusion: str
    low: float
    high: float
    tolerance: float
    level: float
    measure: str

    def __str__(self) -> str:
        what = "on average" if self.measure == "mean" else "at most"
        return (
            f"{self.conclusion} within {self.tolerance:g}: the probabilities are off by {self.low:.3f} to "
            f"{self.high:.3f} {what} ({100 * self.level:g} % confidence)"
        )


def equivalence_test(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    tolerance: float,
    measure: str = "mean",
    between: tuple[float, float] = (0.0, 1.0),
    level: float = 0.9,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> EquivalenceTest:
    """Test whether the probabilities are calibrated within a tolerance; not being able to tell is a third answer.

    The usual tests can only fail to reject calibration, which few rows always do. Here calibration within the tolerance
    is the hypothesis to be proved: a band that holds the true curve with probability `level` (`finite_sample_band`)
    bounds the distance |P(y = 1 | p) − p| at every p, and the conclusion is "calibrated" only where the upper bound is
    at most the tolerance.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class. The curve is supposed never to decrease in them.
    tolerance : float
        The largest distance that does not matter, strictly between 0 and 1.
    measure : {"mean", "max"}
        The distance averaged over the rows, or the largest one. At the ends of the scores few rows bound the curve from
        one side only, so give "max" a range with `between`.
    between : (float, float)
        Look only at probabilities from here to there.
    level : float
        Confidence level.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    EquivalenceTest

    References
    ----------
    Dimitriadis, Dümbgen, Henzi, Puke, Ziegel 2023, "Honest calibration assessment for binary outcome predictions",
    who call it the inverted goodness-of-fit test.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.equivalence import equivalence_test
    >>> data = simulate.from_truth("D1", 20_000)
    >>> print(equivalence_test(data.labels, data.scores, tolerance=0.02))  # doctest: +ELLIPSIS
    not calibrated within 0.02: the probabilities are off by 0.08... to 0.19... on average (90 % confidence)
    >>> few = simulate.from_truth("D1", 50)
    >>> equivalence_test(few.labels, few.probabilities, tolerance=0.02).conclusion
    'undecided'
    """
    _validation.check_number("tolerance", tolerance, "rate")
    _validation.check_choice("measure", measure, MEASURES)
    band = finite_sample_band(as_tally(y_true, y_prob, sample_weight, pos_label), level=level)
    low, high = _distances(band, measure, between)
    conclusion = "calibrated" if high <= tolerance else "not calibrated" if low > tolerance else "undecided"
    return EquivalenceTest(conclusion, low, high, float(tolerance), float(level), measure)


def _distances(band: CalibrationBand, measure: str, between: tuple[float, float]) -> tuple[float, float]:
    """Bounds of the distance between the curve and the identity, given that the band holds the curve."""
    inside = (band.scores >= between[0]) & (band.scores <= between[1])
    if not inside.any():
        raise InvalidInputError(f"`between` must hold at least one probability of the model; got {between!r}.")
    p, low, high = band.scores[inside], band.low[inside], band.high[inside]
    least = np.maximum(np.maximum(low - p, p - high), 0.0)
    most = np.maximum(np.maximum(high - p, p - low), 0.0)
    if measure == "max":
        return float(least.max()), float(most.max())
    weights: Floats = band.totals[inside] / band.totals[inside].sum()
    return float(weights @ least), float(weights @ most)
