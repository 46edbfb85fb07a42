"""A master scale: a few grades whose default rates increase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special
from scipy.optimize import isotonic_regression

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.maps.functions import Step
from calibrant.maps.score import CalibrationMap
from calibrant.metrics.samples import as_tally
from calibrant.tally import Tally

__all__ = ["MasterScale", "master_scale"]


@dataclass(frozen=True, eq=False)
class MasterScale:
    """Grades from the best to the worst, with increasing default rates.

    Attributes
    ----------
    edges : ndarray of shape (g − 1,)
        Highest score of each grade but the last.
    rates : ndarray of shape (g,)
        Default rate of each grade.
    defaults, totals : ndarray of shape (g,)
        What it was estimated from.

    Examples
    --------
    >>> from calibrant.credit import master_scale
    >>> scale = master_scale([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.8, 0.9], n_grades=2, least_rows=2)
    >>> scale.rates.round(3).tolist(), scale.grade([0.15, 0.85]).tolist()
    ([0.25, 1.0], [0, 1])
    """

    edges: Floats
    rates: Floats
    defaults: Floats
    totals: Floats

    def grade(self, scores: ArrayLike) -> Ints:
        """The grade of each score, 0 being the best."""
        return np.searchsorted(self.edges, _validation.check_scores(scores), side="left")

    @property
    def map_(self) -> CalibrationMap:
        """The scale as a map from scores to default rates, to be saved, exported or anchored."""
        return CalibrationMap(Step(self.edges, self.rates), "decision", True, "master scale")


def master_scale(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    n_grades: int = 10,
    least_rows: float = 50,
    least_defaults: float = 1,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> MasterScale:
    """Cut scores into at most so many grades with strictly increasing default rates.

    It begins with the blocks of isotonic regression, the finest grades whose rates increase, and joins neighbours, the
    pair first that costs the least likelihood, until no grade is too small and there are few enough.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Defaults; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Scores or probabilities; higher is riskier.
    n_grades : int
        Most grades wanted.
    least_rows, least_defaults : float
        Fewest rows and defaults in a grade. Fewer defaults in the whole portfolio leave one grade.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The label of a default, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    MasterScale

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import simulate
    >>> from calibrant.credit import master_scale
    >>> data = simulate.from_truth("D1", 5000)
    >>> scale = master_scale(data.labels, data.scores, n_grades=7)
    >>> len(scale.rates) <= 7, bool((np.diff(scale.rates) > 0).all())
    (True, True)
    """
    _validation.check_count("n_grades", n_grades)
    tally = as_tally(y_true, y_prob, sample_weight, pos_label, probabilities=False)
    starts = isotonic_regression(tally.positives / tally.totals, weights=tally.totals).blocks[:-1]
    starts = _join(tally, starts.astype(np.intp), n_grades, (float(least_rows), float(least_defaults)))
    defaults, totals = np.add.reduceat(tally.positives, starts), np.add.reduceat(tally.totals, starts)
    return MasterScale(tally.scores[starts[1:] - 1], defaults / totals, defaults, totals)


def _join(tally: Tally, starts: Ints, n_grades: int, least: tuple[float, float]) -> Ints:
    """Join neighbours until every grade is large enough and there are few enough grades."""
    edges = starts.tolist()
    defaults = np.add.reduceat(tally.positives, starts).tolist()
    totals = np.add.reduceat(tally.totals, starts).tolist()
    while len(edges) > 1:
        small = [i for i in range(len(edges)) if totals[i] < least[0] or defaults[i] < least[1]]
        if not small and len(edges) <= n_grades:
            break
        # A grade that is too small must go, whatever it costs; it joins the neighbour that it resembles more.
        pairs = {j for i in small for j in (i - 1, i) if 0 <= j < len(edges) - 1} or set(range(len(edges) - 1))
        best = min(pairs, key=lambda j: _cost(defaults[j : j + 2], totals[j : j + 2]))
        defaults[best : best + 2], totals[best : best + 2] = (
            [sum(defaults[best : best + 2])],
            [sum(totals[best : best + 2])],
        )
        del edges[best + 1]
    return np.array(edges, dtype=np.intp)


def _cost(defaults: list[float], totals: list[float]) -> float:
    """The log-likelihood that two grades lose by having one rate."""

    def fit(k: float, n: float) -> float:
        return float(special.xlogy(k, k / n) + special.xlogy(n - k, 1.0 - k / n))

    apart = sum(fit(k, n) for k, n in zip(defaults, totals, strict=True))
    return apart - fit(sum(defaults), sum(totals))
