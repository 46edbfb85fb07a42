"""Rating grades: tests of their default rates with an overall level, and a master scale whose rates increase."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special
from scipy.optimize import isotonic_regression

from calibrant import _validation
from calibrant._tables import make_frame
from calibrant._typing import ArrayLike, Bools, Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Step
from calibrant.maps.score import CalibrationMap
from calibrant.metrics.samples import as_tally
from calibrant.tally import Tally

TESTS = ("binomial", "jeffreys")
ALTERNATIVES = ("underestimated", "two-sided")
MOST_GRADES = 200


@dataclass(frozen=True, eq=False, repr=False)
class GradeTests:
    """One row for each grade, from the best to the worst, and the portfolio as a whole.

    Attributes
    ----------
    probabilities : ndarray of shape (g,)
        Predicted probability of default of the grade.
    defaults, totals : ndarray of shape (g,)
        Defaults, and all rows.
    p_values : ndarray of shape (g,)
        Of the grade alone.
    adjusted : ndarray of shape (g,)
        Adjusted for the number of grades (Holm): comparing these with `alpha` errs in any grade at all with
        probability `alpha` at most, if the test of each grade is exact ("binomial").
    portfolio_p_value : float
        The same test of all rows together against the mean probability.
    alpha : float
        Overall level.
    test, alternative : str
        As given.

    Examples
    --------
    >>> from calibrant.credit import grade_tests
    >>> result = grade_tests([0] * 95 + [1] * 5 + [0] * 80 + [1] * 20, [0.01] * 100 + [0.2] * 100)
    >>> result.rejected.tolist()
    [True, False]
    """

    probabilities: Floats
    defaults: Floats
    totals: Floats
    p_values: Floats
    adjusted: Floats
    portfolio_p_value: float
    alpha: float
    test: str
    alternative: str

    @property
    def rejected(self) -> Bools:
        """The grades that fail at the overall level."""
        return self.adjusted <= self.alpha

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each grade."""
        names = ("probabilities", "totals", "defaults", "p_values", "adjusted", "rejected")
        return make_frame({name: getattr(self, name) for name in names})

    def __repr__(self) -> str:
        return f"GradeTests({len(self.totals)} grades, {int(self.rejected.sum())} fail, {self.test} test)"

    def __str__(self) -> str:
        lines = [f"{'PD':>8} {'rows':>9} {'defaults':>9} {'rate':>8} {'p':>8} {'adjusted':>9}"]
        columns = (self.probabilities, self.totals, self.defaults, self.defaults / self.totals)
        for pd, rows, defaults, rate, p, adjusted in zip(*columns, self.p_values, self.adjusted, strict=True):
            mark = "  fails" if adjusted <= self.alpha else ""
            lines.append(f"{pd:8.2%} {rows:9.0f} {defaults:9.0f} {rate:8.2%} {p:8.3f} {adjusted:9.3f}{mark}")
        lines.append(f"portfolio: p = {self.portfolio_p_value:.3f}; overall level {self.alpha:g}, {self.test} test")
        return "\n".join(lines)


def grade_tests(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    test: str = "binomial",
    alternative: str = "underestimated",
    alpha: float = 0.05,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> GradeTests:
    """Test the probability of default of each grade against its defaults, with an overall level.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Defaults; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        The probability of default of the grade of each row; each distinct value is a grade.
    test : {"binomial", "jeffreys"}
        "binomial" is the exact test, whose level is at most `alpha`. "jeffreys" is the posterior probability, under the
        Jeffreys prior, that the true rate is at most that of the grade, as supervisors ask for it. It is no test of
        level `alpha`: with few expected defaults it rejects a right grade more often, at alpha 0.05 in 9.5 % of the
        cases with 100 rows of 0.1 %, and in 6.8 % with 1000 rows of 0.5 %.
    alternative : {"underestimated", "two-sided"}
        What is to be noticed: that more default than the grade says, or that another number does.
    alpha : float
        Overall level over all grades.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The label of a default, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    GradeTests

    Notes
    -----
    Defaults are taken as independent. In a downturn they are not, and too many grades fail.

    References
    ----------
    European Central Bank 2019, "Instructions for reporting the validation results of internal models",
    for the Jeffreys test. Holm 1979, "A simple sequentially rejective multiple test procedure".

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.credit import grade_tests
    >>> defaults = Tally.from_dict({"scores": [0.01, 0.05], "positives": [3, 4], "totals": [200, 100]})
    >>> grade_tests(defaults).p_values.round(3).tolist()
    [0.323, 0.742]
    """
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    _validation.check_choice("test", test, TESTS)
    _validation.check_choice("alternative", alternative, ALTERNATIVES)
    _validation.check_number("alpha", alpha, "rate")
    if len(tally) > MOST_GRADES:
        raise InvalidInputError(
            f"`y_prob` must hold the probability of a grade for each row; got {len(tally)} different values. Make "
            "grades first, for example with master_scale."
        )
    options = 0.5 if test == "jeffreys" else 0.0, alternative == "two-sided"
    p_values = _p_values(tally.positives, tally.totals, tally.scores, *options)
    mean = float(tally.totals @ tally.scores) / tally.total
    whole = _p_values(np.array([tally.total_positive]), np.array([tally.total]), np.array([mean]), *options)
    adjusted = holm(p_values)
    return GradeTests(
        tally.scores, tally.positives, tally.totals, p_values, adjusted, float(whole[0]), alpha, test, alternative
    )


def _p_values(defaults: Floats, totals: Floats, probabilities: Floats, prior: float, two_sided: bool) -> Floats:
    """P(at least so many defaults), or twice the smaller tail: the incomplete beta function I_p(k, n − k + 1).

    With half a default of prior, P(rate ≤ probability) for the posterior Beta(defaults + ½, totals − defaults + ½).
    """

    def tail(k: Floats, p: Floats) -> Floats:
        a = k + prior  # 0 rows or more there are always
        return np.where(a > 0.0, special.betainc(np.maximum(a, 1e-300), totals + 1.0 - a, p), 1.0)

    at_least = tail(defaults, probabilities)
    if not two_sided:
        return at_least
    return np.minimum(2.0 * np.minimum(at_least, tail(totals - defaults, 1.0 - probabilities)), 1.0)


def holm(p_values: Floats) -> Floats:
    """Holm's adjusted p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.credit.grades import holm
    >>> holm(np.array([0.01, 0.03, 0.02])).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


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
        for counts in (defaults, totals):
            counts[best : best + 2] = [sum(counts[best : best + 2])]
        del edges[best + 1]
    return np.array(edges, dtype=np.intp)


def _cost(defaults: list[float], totals: list[float]) -> float:
    """The log-likelihood that two grades lose by having one rate."""

    def fit(k: float, n: float) -> float:
        return float(special.xlogy(k, k / n) + special.xlogy(n - k, 1.0 - k / n))

    apart = sum(fit(k, n) for k, n in zip(defaults, totals, strict=True))
    return apart - fit(sum(defaults), sum(totals))
