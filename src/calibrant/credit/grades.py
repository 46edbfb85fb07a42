"""Tests of each rating grade, whether its probability of default is too low, with an overall level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from calibrant import _validation
from calibrant._frames import make_frame
from calibrant._typing import ArrayLike, Bools, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.samples import as_tally
from calibrant.tally import Tally

__all__ = ["GradeTests", "grade_tests", "holm"]

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
    _check_options(test, alternative, alpha, len(tally))
    formula = _jeffreys if test == "jeffreys" else _binomial
    two_sided = alternative == "two-sided"
    p_values = formula(tally.positives, tally.totals, tally.scores, two_sided)
    mean = float(tally.totals @ tally.scores) / tally.total
    whole = formula(np.array([tally.total_positive]), np.array([tally.total]), np.array([mean]), two_sided)
    adjusted = holm(p_values)
    return GradeTests(
        tally.scores, tally.positives, tally.totals, p_values, adjusted, float(whole[0]), alpha, test, alternative
    )


def _check_options(test: str, alternative: str, alpha: float, grades: int) -> None:
    _validation.check_choice("test", test, TESTS)
    _validation.check_choice("alternative", alternative, ALTERNATIVES)
    _validation.check_number("alpha", alpha, "rate")
    if grades > MOST_GRADES:
        raise InvalidInputError(
            f"`y_prob` must hold the probability of a grade for each row; got {grades} different values. Make grades "
            "first, for example with master_scale."
        )


def _jeffreys(defaults: Floats, totals: Floats, probabilities: Floats, two_sided: bool) -> Floats:
    """P(rate ≤ probability) for the posterior Beta(defaults + ½, totals − defaults + ½)."""
    lower = special.betainc(defaults + 0.5, totals - defaults + 0.5, probabilities)
    out: Floats = np.minimum(2.0 * np.minimum(lower, 1.0 - lower), 1.0) if two_sided else lower
    return out


def _binomial(defaults: Floats, totals: Floats, probabilities: Floats, two_sided: bool) -> Floats:
    """P(at least so many defaults), or twice the smaller tail."""
    # P(X ≥ k) is the incomplete beta function I_p(k, n − k + 1), and 1 for k = 0.
    at_least = np.where(
        defaults > 0.0,
        special.betainc(np.maximum(defaults, 1e-300), totals - defaults + 1.0, probabilities),
        1.0,
    )
    if not two_sided:
        return at_least
    rest = np.maximum(totals - defaults, 1e-300)
    at_most = np.where(defaults < totals, 1.0 - special.betainc(defaults + 1.0, rest, probabilities), 1.0)
    out: Floats = np.minimum(2.0 * np.minimum(at_least, at_most), 1.0)
    return out


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
