"""A band around the calibration curve that holds for every number of rows, and a test that can prove calibration by it.

Both suppose that the curve does not decrease.
"""

from dataclasses import dataclass

import numpy as np

from calibrant import _validation
from calibrant._numerics import bins
from calibrant._numerics.beta import lower_limit
from calibrant._typing import Floats, Ints
from calibrant.metrics.binned import sums_from
from calibrant.metrics.reading import of_tally
from calibrant.tally import Tally

MEASURES = ("mean", "max")
# Bins for each cube root of the number of rows: the noise of k bins is about 0.4 √(k / n), what varies within them
# about 0.8 / k, and 2.5 ∛n bins make the sum least.
BINS_PER_ROOT = 2.5


@dataclass(frozen=True, eq=False)
class CalibrationBand:
    """Lower and upper bounds of the calibration curve, all of them together true with probability `level`.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        The distinct probabilities of the model, increasing.
    low, high : ndarray of shape (m,)
        Bounds of the share of positives at each of them. Where low > high, no curve that never decreases fits the
        data.
    totals : ndarray of shape (m,)
        Weighted number of rows at each of them.
    level : float
        Confidence level.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.calibration_band import finite_sample_band
    >>> data = simulate.from_truth("D1", 3000)
    >>> band = finite_sample_band(data.labels, data.scores)
    >>> bool((band.low <= band.high).all()), band.holds_identity
    (True, False)
    """

    scores: Floats
    low: Floats
    high: Floats
    totals: Floats
    level: float

    @property
    def holds_identity(self) -> bool:
        """True if the diagonal lies in the band everywhere; if not, the model is not calibrated."""
        return bool(((self.low <= self.scores) & (self.scores <= self.high)).all())


@of_tally
def finite_sample_band(tally: Tally, *, level: float = 0.9, max_blocks: int = 256) -> CalibrationBand:
    """Bounds of P(y = 1 | p) at all probabilities at once, for every number of rows, if it never decreases in p.

    The rows of any block of neighbouring probabilities are positive at most as often as at its highest probability, so
    the exact lower binomial limit of the block is a lower bound there and everywhere above; upper limits extend to the
    left in the same way. With G groups of rows there are G (G + 1) / 2 blocks and twice as many limits, each computed
    at the level 1 − (1 − level) / (G² + G), so that all hold together.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    level : float
        Confidence level of the band as a whole.
    max_blocks : int
        More distinct probabilities than this are first joined to so many groups of nearly equal mass, which keeps the
        guarantee. The time grows with its square.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows. Other weights void the guarantee.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    CalibrationBand

    References
    ----------
    Dimitriadis, Dümbgen, Henzi, Puke, Ziegel 2023, "Honest calibration assessment for binary outcome predictions",
    Theorem 1 and, for groups of probabilities, its version for rounded ones.

    Examples
    --------
    >>> from calibrant.metrics.calibration_band import finite_sample_band
    >>> band = finite_sample_band([0] * 20 + [1] * 20, [0.1] * 20 + [0.9] * 20)
    >>> band.low.round(2).tolist(), band.high.round(2).tolist()
    ([0.0, 0.81], [0.19, 1.0])
    """
    _validation.check_level(level)
    _validation.check_count("max_blocks", max_blocks)
    starts = bins.coarse_starts(tally.totals, max_blocks)
    lower, upper = _block_bounds(tally, starts, (1.0 - level) / (len(starts) ** 2 + len(starts)))
    # The bound of a group holds from its last probability on, and up to its first one.
    last = np.append(starts[1:], len(tally)) - 1
    cell = np.arange(len(tally))
    low = np.append(0.0, lower)[np.searchsorted(last, cell, side="right")]
    high = np.append(upper, 1.0)[np.searchsorted(starts, cell, side="left")]
    return CalibrationBand(tally.scores, low, high, tally.totals, float(level))


def _block_bounds(tally: Tally, starts: Ints, tail: float) -> tuple[Floats, Floats]:
    """The best lower bound of blocks that end at or before each group, and upper bound of those that begin later."""
    positives = np.append(0.0, np.cumsum(np.add.reduceat(tally.positives, starts)))
    totals = np.append(0.0, np.cumsum(np.add.reduceat(tally.totals, starts)))
    groups = len(starts)
    lower, upper = np.empty(groups), np.empty(groups)
    for g in range(groups):
        k, n = positives[g + 1] - positives[: g + 1], totals[g + 1] - totals[: g + 1]  # blocks that end with g
        lower[g] = lower_limit(k, n, tail).max()
        k, n = positives[g + 1 :] - positives[g], totals[g + 1 :] - totals[g]  # blocks that begin with g
        upper[g] = 1.0 - lower_limit(n - k, n, tail).max()
    return np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1]


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
    >>> from calibrant.metrics import equivalence_test
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


@of_tally
def equivalence_test(tally: Tally, *, tolerance: float, measure: str = "mean", level: float = 0.9) -> EquivalenceTest:
    """Test whether the probabilities are calibrated within a tolerance; not being able to tell is a third answer.

    The usual tests can only fail to reject calibration, which few rows always do. Here calibration within the tolerance
    is the hypothesis to be proved, and the conclusion is "calibrated" only where the upper bound of the distance of
    P(y = 1) given p from p is at most the tolerance. The bounds hold for every number of rows: those of the mean
    distance come from sums over bins, those of the largest from a band that holds the whole true curve with probability
    `level` (`finite_sample_band`).

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class. The curve is supposed never to decrease in them; the lower bound of the
        mean distance does not need that.
    tolerance : float
        The largest distance that does not matter, strictly between 0 and 1.
    measure : {"mean", "max"}
        The distance averaged over the rows, or the largest one. At the ends of the scores few rows bound the curve from
        one side only, so give "max" the rows of the range that matters.
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
    >>> from calibrant.metrics import equivalence_test
    >>> data = simulate.from_truth("D1", 20_000)
    >>> print(equivalence_test(data.labels, data.scores, tolerance=0.02))  # doctest: +ELLIPSIS
    not calibrated within 0.02: the probabilities are off by 0.09... to 0.15... on average (90 % confidence)
    >>> few = simulate.from_truth("D1", 50)
    >>> equivalence_test(few.labels, few.probabilities, tolerance=0.02).conclusion
    'undecided'
    """
    _validation.check_number("tolerance", tolerance, "rate")
    _validation.check_choice("measure", measure, MEASURES)
    if measure == "max":
        band = finite_sample_band(tally, level=level)
        low = max(float(np.maximum(band.low - band.scores, band.scores - band.high).max()), 0.0)
        high = max(float(np.maximum(band.high - band.scores, band.scores - band.low).max()), 0.0)
    else:
        low, high = _mean_distance(tally, _validation.check_level(level))
    conclusion = "calibrated" if high <= tolerance else "not calibrated" if low > tolerance else "undecided"
    return EquivalenceTest(conclusion, low, high, float(tolerance), float(level), measure)


def _mean_distance(tally: Tally, level: float) -> tuple[float, float]:
    """Bounds of the mean distance of the curve c from the identity over the rows, for every number of rows.

    Let B be the sum over bins of |Σ (y − p)| / n. One label moves B by at most 1 / n, so B is within
    r = √(ln(1 / tail) / 2n) of its mean, on each side with probability 1 − tail (McDiarmid). That mean exceeds the same
    sum of the true gaps, which the distance is never below, by at most the noise of the bins, Σ share / (2 √rows). And
    the distance exceeds that sum by at most how far c − p varies within bins: the mean deviation of p, and for a c that
    never decreases, half of the share of the largest bin, as c rises by at most 1 over all bins.
    """
    starts = bins.equal_mass_starts(tally.totals, int(np.ceil(BINS_PER_ROOT * np.cbrt(tally.total))))
    binned = sums_from(tally, starts)
    of_cell = bins.group_numbers(starts, len(tally))
    between_scores = float(tally.totals @ np.abs(tally.scores - binned.score[of_cell])) / tally.total
    several = np.bincount(of_cell) > 1  # a bin of one probability has one value of the curve
    rise = 0.5 * float(binned.share[several].max(initial=0.0))
    noise = float(binned.share @ (0.5 / np.sqrt(binned.mass)))
    reach = float(np.sqrt(np.log(2.0 / (1.0 - level)) / (2.0 * tally.total)))
    gaps = binned.norm(1.0)
    return max(gaps - noise - reach, 0.0), min(gaps + reach + between_scores + rise, 1.0)
