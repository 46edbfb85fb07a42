"""Intervals for any metric: by resampling the tally, or by the posterior of a calibrator."""

from functools import partial
from typing import Any

import numpy as np

from calibrant import _limits, _validation
from calibrant._typing import ArrayLike, Floats, HasPosterior, RandomState
from calibrant.estimates.rows import check_posterior
from calibrant.intervals import Interval
from calibrant.metrics.binned import expected_calibration_error
from calibrant.metrics.samples import Column, Labels, Metric, ScoreSample, Seed, read_sample
from calibrant.tally import Tally

METHODS = ("squared", "basic", "percentile")


def bootstrap_interval(
    metric: Metric,
    y_true: Labels | ScoreSample,
    y_prob: Column = None,
    *,
    level: float = 0.9,
    n_resamples: int = 1000,
    method: str = "squared",
    bounds: tuple[float, float] = (0.0, np.inf),
    groups: ArrayLike | None = None,
    rng: Seed = 0,
    sample_weight: Column = None,
    pos_label: Any = None,
) -> Interval:
    """A metric with a bootstrap confidence interval.

    Rows are drawn again with replacement. All rows of one label within one cell are alike, so a replicate is one
    multinomial draw over (cell, label), whatever the number of rows; more than 512 distinct scores are first joined to
    as many cells of equal mass, and the difference which that makes to the metric is taken back.

    Parameters
    ----------
    metric : callable
        Any metric of this module; fix its options with ``functools.partial`` or a lambda of one tally.
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    level : float
        Confidence level.
    n_resamples : int
        Number of replicates.
    method : {"squared", "basic", "percentile"}
        How replicates become an interval. Noise raises a calibration error, and a replicate has the noise twice. In
        the square of such an error the two parts add, so "squared" reflects squares at the squared estimate,
        2 e² − e*², which takes the bias back; for a mean, such as a proper score, it makes no difference. "basic"
        reflects the replicates themselves, 2 e − e*, which takes back less than half of the bias of a calibrated
        model's ECE; "percentile" takes them as they are and doubles it. All are stretched, where needed, to hold the
        estimate.
    bounds : (float, float)
        The range of the metric, to which the interval is cut.
    groups : array-like of shape (n,), optional
        The group of each row: patients, customers, matches, days, as numbers, strings or dates. Rows of one group say
        less than as many rows of different groups, and an interval that takes them as independent is too narrow. With
        groups, whole groups are drawn again with replacement, and the interval is widened where they are few. It
        takes some twenty groups at least; their number counts, not that of the rows.
    rng : int, numpy.random.Generator or None
        The seed or generator; the same seed gives the same interval.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    Interval

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("D1", 5000)
    >>> score = metrics.bootstrap_interval(metrics.brier_score, data.labels, data.scores)
    >>> score.low < score.value < score.high
    True
    >>> import numpy as np
    >>> y, p, patient = (np.repeat(column, 10) for column in (data.labels, data.scores, np.arange(5000)))
    >>> copies = metrics.bootstrap_interval(metrics.brier_score, y, p)
    >>> grouped = metrics.bootstrap_interval(metrics.brier_score, y, p, groups=patient)
    >>> grouped.high - grouped.low > 2 * (copies.high - copies.low)  # every row is there ten times
    True
    """
    _validation.check_choice("method", method, METHODS)
    sample = read_sample(y_true, y_prob, sample_weight, pos_label, groups, space="decision")
    _validation.check_level(level)
    value = float(metric(sample.tally))
    shift = value - float(metric(sample.cells))
    draws = np.array([metric(replicate) for replicate in sample.replicates(n_resamples, rng)]) + shift
    plausible = sample.widen(reflected(draws, value, value, method), value, level)
    return interval_of(value, plausible, level, bounds)


def reflected(draws: Floats, value: float, centre: float, method: str) -> Floats:
    """Plausible true values: the estimate minus what replicates show of its error around `centre`."""
    if method == "percentile":
        return draws
    if method == "basic":
        return value + centre - draws
    squares = value * abs(value) + centre * abs(centre) - draws * np.abs(draws)
    return np.sign(squares) * np.sqrt(np.abs(squares))


def interval_of(value: float, draws: Floats, level: float, bounds: tuple[float, float]) -> Interval:
    """The central interval of draws, cut to the metric's range and stretched, where needed, to hold the estimate."""
    low, high = np.clip(np.quantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level]), *bounds)
    return Interval(value, min(float(low), value), max(float(high), value), level)


def metric_posterior(
    calibrator: HasPosterior,
    tally: Tally,
    metric: Metric | None = None,
    *,
    level: float = 0.9,
    n_draws: int = 200,
    rng: RandomState = 0,
) -> Interval:
    """The value that a metric of the raw scores would have without label noise, given what is known of the true map.

    Each map drawn from the calibrator's posterior is taken for the truth: every cell of the tally gets the share of
    positives that the map says, and the metric is computed on that. The noise of single labels is gone; uncertainty
    about the map remains, and as distances are never negative it keeps the posterior of a calibrated model above 0
    until there are many rows.

    Parameters
    ----------
    calibrator : fitted Bayesian calibrator
        Anything with `sample_maps`, such as ABB or BayesIso, fitted on these scores (or on others of the same model).
    tally : Tally
        The scores whose calibration is judged. Above 2048 distinct scores it is coarsened.
    metric : callable, optional
        A metric of a tally; by default the mean ``|score − truth|``, without bins.
    level : float
        Level of the credible interval.
    n_draws : int
        Number of maps drawn.
    rng : int, numpy.random.Generator, RandomState or None
        The seed or generator of the maps drawn.

    Returns
    -------
    Interval
        The posterior mean with the central credible interval.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Tally, metrics
    >>> class Shrinks:  # a posterior of two maps
    ...     def predict(self, scores):
    ...         return 0.25 + 0.5 * scores
    ...     def sample_maps(self, scores, n_draws=100, random_state=0):
    ...         return np.array([scores, 0.5 + 0.5 * (scores - 0.5)])
    >>> print(metrics.metric_posterior(Shrinks(), Tally.from_arrays([0.1, 0.9], [0, 1]), level=0.5))
    0.1000 [0.0500, 0.1500]
    """
    check_posterior(calibrator)
    _validation.check_level(level)
    cells = read_sample(tally).tally.coarsen(_limits.POSTERIOR_CELLS)
    judge = partial(expected_calibration_error, strategy="cells") if metric is None else metric
    maps = calibrator.sample_maps(cells.scores, n_draws=n_draws, random_state=rng)
    values = [judge(Tally(cells.scores, np.clip(truth, 0.0, 1.0) * cells.totals, cells.totals)) for truth in maps]
    low, high = np.quantile(values, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
    return Interval(float(np.mean(values)), float(low), float(high), level)
