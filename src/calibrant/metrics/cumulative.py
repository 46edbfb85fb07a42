"""Cumulative gaps: errors and tests that need no bins, with two older tests of calibration beside them."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from calibrant import _validation
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.binned import binned
from calibrant.metrics.reading import of_sample, of_tally
from calibrant.metrics.samples import GroupedRows, ScoreSample, Seed
from calibrant.tally import Tally

SIGN_DRAWS = 1999  # p-values go down to 1 / 2000, below what counts as clear
SIGN_CELLS = 2048  # of the cumulative gaps whose range is taken
BLOCK = 64  # draws and replicates made at a time, to bound the memory


@of_tally
def ks_calibration_error(tally: Tally) -> float:
    """The largest ``|Σ (p − y)| / n`` over the rows up to any score (KS error).

    It equals the ECE when all scores are wrong in the same direction, and is smaller otherwise. Rows with equal scores
    enter together, so their order does not matter.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Gupta, Rahimi, Ajanthan, Mensink, Sminchisescu, Hartley 2021, "Calibration of Neural Networks using Splines".

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.ks_calibration_error([0, 1, 1], [0.3, 0.6, 0.9]), 4)
    0.1
    """
    return float(np.abs(np.cumsum(_gaps(tally))).max()) / tally.total


@dataclass(frozen=True)
class CalibrationTest:
    """A test statistic and the probability of one at least as extreme when the model is calibrated.

    Examples
    --------
    >>> from calibrant import metrics
    >>> test = metrics.spiegelhalter_test([0, 1, 0, 1], [0.5, 0.5, 0.2, 0.8])
    >>> round(test.statistic, 3), round(test.p_value, 3)
    (-0.707, 0.48)
    """

    statistic: float
    p_value: float


@of_tally
def spiegelhalter_test(tally: Tally) -> CalibrationTest:
    """Spiegelhalter's z test of the Brier score against the one that calibrated probabilities would get.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    CalibrationTest
        The normal statistic z and its two-sided p-value.

    References
    ----------
    Spiegelhalter 1986, "Probabilistic prediction in patient management and clinical trials".

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("D1", 1000)
    >>> metrics.spiegelhalter_test(data.labels, data.scores).p_value < 1e-9
    True
    """
    p, lean = tally.scores, 1.0 - 2.0 * tally.scores
    variance = float(tally.totals @ (lean**2 * p * (1.0 - p)))
    if not variance > 0.0:
        raise InvalidInputError(
            "Spiegelhalter's test needs a probability other than 0, 0.5 and 1; the Brier score of these cannot vary."
        )
    z = float((tally.positives - p * tally.totals) @ lean / np.sqrt(variance))
    return CalibrationTest(z, float(2.0 * special.ndtr(-abs(z))))


@of_tally
def hosmer_lemeshow_test(tally: Tally, *, n_bins: int | str = 10, fitted: bool = False) -> CalibrationTest:
    """The Hosmer–Lemeshow χ² test over equal-mass bins; the data are those of `spiegelhalter_test`.

    Parameters
    ----------
    n_bins : int or "auto"
        Number of bins.
    fitted : bool
        Whether the model was fitted on these very rows, which costs two degrees of freedom.

    Returns
    -------
    CalibrationTest
        The statistic is infinite, with p-value 0, where a bin with probability 0 (or 1) holds a positive (or negative).

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.binomial_process(2000, lambda s: s, (2.0, 2.0), rng=1)
    >>> metrics.hosmer_lemeshow_test(data.labels, data.scores).p_value > 0.01
    True
    """
    bins = binned(tally, n_bins, "quantile")
    degrees = len(bins.mass) - (2 if fitted else 0)
    if degrees < 1:
        raise InvalidInputError(
            f"The Hosmer–Lemeshow test needs at least {3 if fitted else 1} bins with rows; got {len(bins.mass)}."
        )
    squared = bins.mass * np.square(bins.gap)
    variance = np.clip(bins.score * (1.0 - bins.score), 0.0, None)
    impossible = (variance == 0.0) & (squared > 0.0)
    statistic = np.inf if impossible.any() else float((squared / np.where(variance > 0.0, variance, 1.0)).sum())
    return CalibrationTest(statistic, float(special.chdtrc(degrees, statistic)))


@of_sample
def kuiper_test(sample: ScoreSample, *, rng: Seed = 0) -> CalibrationTest:
    """The range of the cumulative gaps against chance; the data are those of `spiegelhalter_test`.

    It sees gaps of both signs, in the middle of the scores as well as at their ends.

    Parameters
    ----------
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient. Chance is then what random signs for whole groups give, 1999 times;
        it takes some twenty groups at least.
    rng : int, numpy.random.Generator or None
        The seed or generator of these signs.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu 2022, "Metrics of calibration for probabilistic predictions".

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("wave", 1000)
    >>> metrics.kuiper_test(data.labels, data.scores).p_value < 0.001
    True
    """
    variance = _variance(sample.tally)
    if not variance > 0.0:
        raise InvalidInputError("Kuiper's test needs a probability strictly between 0 and 1; all are 0 or 1.")
    statistic = float(_ranges(_gaps(sample.tally)) / np.sqrt(variance))
    if sample.rows is None:
        return CalibrationTest(statistic, _range_p_value(statistic))
    observed, draws = _draw_flipped_ranges(sample.rows, SIGN_DRAWS, rng)
    return CalibrationTest(statistic, (1 + int((draws >= observed).sum())) / (1 + SIGN_DRAWS))


def _draw_flipped_ranges(rows: GroupedRows, n_draws: int, rng: Seed) -> tuple[float, Floats]:
    """The range of the cumulative gaps Σ (y − p), and that range with the gaps of each group under a random sign.

    Where probabilities are calibrated the gaps of every group average to 0, and turning all the signs of a group
    changes nothing in expectation, however its rows depend on each other (the wild cluster bootstrap under the null).
    """
    cell = rows.cell_of_rows(rows.tally(), SIGN_CELLS)
    by_group = rows.groups.cross(rows.weights * (rows.labels - rows.scores), cell, int(cell.max()) + 1).T.tocsr()
    generator = np.random.default_rng(rng)
    coins = (generator.integers(0, 2, (rows.groups.number, size)) for size in _blocks(n_draws))
    draws = [_ranges(by_group @ (2.0 * coin - 1.0)) for coin in coins]
    return float(_ranges(by_group @ np.ones((rows.groups.number, 1)))[0]), np.concatenate(draws)


def _blocks(number: int) -> list[int]:
    """The sizes of blocks that are as many together."""
    return [min(BLOCK, number - start) for start in range(0, number, BLOCK)]


def _ranges(gaps: Floats) -> Floats:
    """Highest minus lowest cumulative gap, of each column, where no row at all has the gap 0."""
    walk = np.cumsum(gaps, axis=0)
    return np.maximum(walk.max(axis=0), 0.0) - np.minimum(walk.min(axis=0), 0.0)


def _gaps(tally: Tally) -> Floats:
    """Σ (y − p) over the rows of each score."""
    return tally.positives - tally.scores * tally.totals


def _variance(tally: Tally) -> float:
    """The variance of the number of positives if the probabilities are true."""
    return float(tally.totals @ (tally.scores * (1.0 - tally.scores)))


def _range_p_value(x: float) -> float:
    """P(max B − min B > x) for a Brownian motion B on [0, 1] (Feller 1951)."""
    if x < 0.1:
        return 1.0
    if x < 1.5:
        k = np.pi * (np.arange(1, 61) - 0.5)
        value = 1.0 - float(((8.0 / x**2 + 2.0 / k**2) * np.exp(-2.0 * k**2 / x**2)).sum())
    else:
        j = np.arange(1, 21)
        value = float((8.0 * (-1.0) ** (j - 1) * j * special.ndtr(-j * x)).sum())
    return float(np.clip(value, 0.0, 1.0))


@of_tally
def cutoff_calibration_error(tally: Tally) -> float:
    """The largest ``|Σ (y − p)| / n`` over the rows whose probabilities lie in any one interval.

    It bounds what calibration can gain for any decision that acts in an interval of probabilities, and unlike the true
    ECE it can be estimated from a sample, at the rate 1 / √n. It is the range of the cumulative gaps, of which
    `ks_calibration_error` takes the maximum.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Rossellini, Soloff, Barber, Ren, Willett 2025, "Can a calibration metric be both testable and actionable?".

    Examples
    --------
    >>> from calibrant.metrics.cumulative import cutoff_calibration_error
    >>> round(cutoff_calibration_error([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]), 3)  # the row at 0.4, or that at 0.6
    0.15
    """
    return float(_ranges(_gaps(tally))) / tally.total


@of_sample
def cutoff_calibration_interval(
    sample: ScoreSample, *, level: float = 0.9, n_resamples: int = 1000, rng: Seed = 0
) -> Interval:
    """The cutoff calibration error with an interval that holds whether or not the model is calibrated.

    The error of the sample differs from that of the population by at most the largest difference of the two gaps over
    all intervals of probabilities. A bootstrap of that largest difference gives a reach r, and the interval is
    [error − r, error + r]. A plain bootstrap fails at 0, where noise can only add; this one does not. The reach is at
    least that of calibrated probabilities (the range of a Brownian motion), so the interval errs on the wide side;
    with `groups` it rests on the bootstrap alone.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label
        See `cutoff_calibration_error`; weights count as numbers of rows.
    level : float
        Confidence level.
    n_resamples : int
        Number of replicates.
    groups : array-like of shape (n,), optional
        The group of each row, such as a patient: rows of one group are resampled together.
    rng : int, numpy.random.Generator or None
        The seed or generator; the same seed gives the same interval.

    Returns
    -------
    Interval

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.cumulative import cutoff_calibration_interval
    >>> data = simulate.from_truth("D1", 2000)
    >>> cutoff_calibration_interval(data.labels, data.scores).low > 0
    True
    >>> cutoff_calibration_interval(data.labels, data.probabilities).low
    0.0
    """
    _validation.check_level(level)
    _validation.check_count("n_resamples", n_resamples)
    value = cutoff_calibration_error(sample.tally)
    draws = sample.widen(_deviations(sample, n_resamples, rng), 0.0, level)
    reach = float(np.quantile(draws, level))
    if sample.groups is None:
        # What the range of a Brownian motion on [0, 1] does not exceed with this probability.
        motion = optimize.brentq(lambda x: _range_p_value(x) - (1.0 - level), 0.1, 40.0)
        reach = max(reach, motion * np.sqrt(_variance(sample.tally)) / sample.n_rows)
    return Interval(value, max(value - reach, 0.0), min(value + reach, 1.0), level)


def _deviations(sample: ScoreSample, n_resamples: int, rng: Seed) -> Floats:
    """The largest difference over intervals between a replicate's gap and that of the sample, for each replicate."""
    generator, deviations = np.random.default_rng(rng), []
    cells = sample.cells
    expected = _gaps(cells) / cells.total
    for size in _blocks(n_resamples):
        counts = sample.draw_counts(size, generator)
        positives, negatives = np.split(counts, 2, axis=1)
        gaps = positives * (1.0 - cells.scores) - negatives * cells.scores
        deviations.append(_ranges((gaps / counts.sum(axis=1, keepdims=True) - expected).T))
    return np.concatenate(deviations)


@of_tally
def averaged_two_bin_error(tally: Tally) -> float:
    """Squared gaps below and above a cut, averaged over all cuts of [0, 1] (ATB).

    For a cut q the rows are split into those with p < q and those with p ≥ q; the error at q is the sum of the squares
    of Σ (y − p) / n over the two parts, and the result is its mean over q uniform on [0, 1]. It needs no choice of
    bins and is exact.

    It is truthful: for labels drawn from any probabilities, no report has a smaller expected value than these very
    probabilities, whatever the number of rows. ECE and its relatives can be lowered by reporting something else. Like
    every calibration error it does not reward discrimination: the base rate for all rows is calibrated too. It is a
    squared error, and noise adds to it: labels drawn from the reported probabilities have the expected value
    Σ p (1 − p) / n². Compare it between models on the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Hartline, Hu, Wu 2026, "A Perfectly Truthful Calibration Measure".

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.metrics.cumulative import averaged_two_bin_error
    >>> data = simulate.from_truth("D1", 2000)
    >>> honest = averaged_two_bin_error(data.labels, data.probabilities)
    >>> honest < averaged_two_bin_error(data.labels, data.scores)
    True
    """
    # Cuts above a score and up to the next one share a split, whose lower part has the gap S and the upper one T − S,
    # T being that of all rows; up to the first score and above the last one all rows are in one part. So the mean is
    # T² + 2 Σ width · (S² − T S).
    gaps = np.cumsum(_gaps(tally))
    lower, whole = gaps[:-1], float(gaps[-1])
    return (whole**2 + 2.0 * float(np.diff(tally.scores) @ (lower * (lower - whole)))) / tally.total**2
