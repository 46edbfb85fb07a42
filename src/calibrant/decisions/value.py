"""The value of calibrating before deciding."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.calibrators.base import Calibrator
from calibrant.decisions.costs import cost_threshold
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.maps.score import CalibrationMap
from calibrant.metrics.bootstrap import interval_of
from calibrant.metrics.folds import OutOfFold, predict_folds, split_sample
from calibrant.metrics.samples import Seed, read_sample
from calibrant.tally import Tally, row_count

N_DRAWS = 20_000  # of the mean saving, from its posterior


@dataclass(frozen=True)
class ValueOfCalibration:
    """The saving by calibrating first, in the unit of the costs, for each row.

    Attributes
    ----------
    gain : Interval
        Mean saving for each row; below 0 where calibration does harm.
    cost_before, cost_after : float
        Mean cost for each row when one acts on the raw and on the calibrated probabilities.
    changed : float
        Share of rows that are decided differently.
    threshold : float
        Probability from which one acts.

    Examples
    --------
    >>> from calibrant.decisions.value import ValueOfCalibration
    >>> from calibrant.metrics import Interval
    >>> print(ValueOfCalibration(Interval(0.02, 0.01, 0.03, 0.9), 0.12, 0.1, 0.05, 0.1))
    calibrating first saves 0.02 for each row (90 % interval 0.01 to 0.03): 5 % of the rows are decided differently
    """

    gain: Interval
    cost_before: float
    cost_after: float
    changed: float
    threshold: float

    def __str__(self) -> str:
        gain = self.gain
        return (
            f"calibrating first saves {gain.value:.3g} for each row ({100 * gain.level:g} % interval {gain.low:.3g} to "
            f"{gain.high:.3g}): {100 * self.changed:.3g} % of the rows are decided differently"
        )


def value_of_calibration(
    calibrator: Calibrator | CalibrationMap,
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    cost_fp: float,
    cost_fn: float,
    cv: int = 5,
    groups: ArrayLike | None = None,
    level: float = 0.9,
    rng: Seed = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> ValueOfCalibration:
    """The money or benefit that calibrating first saves, with an interval.

    One acts where the probability is at least cost_fp / (cost_fp + cost_fn), once on the raw and once on the calibrated
    probabilities, and the costs of the mistakes are compared on the same rows. Only rows whose decision changes
    contribute.

    Parameters
    ----------
    calibrator : calibrator or CalibrationMap
        A method is fitted to all folds but one and judged on that one, in turn. A map is taken as it is: these must
        then be rows that it was not fitted to.
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Raw probabilities of the positive class.
    cost_fp, cost_fn : float
        Cost of a false positive and of a false negative, in any unit.
    cv : int
        Number of folds.
    groups : array-like of shape (n,), optional
        The group of each row, such as a customer: rows of one group are kept in one fold, and the
        interval is that of a mean over groups.
    level : float
        Confidence level.
    rng : int, numpy.random.Generator or None
        The seed or generator of the folds.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    ValueOfCalibration

    Notes
    -----
    The interval is that of shares of rows that save each amount, with the Jeffreys prior; with `groups`, Student's
    interval of a mean over groups. It says how far the saving on other rows of the same kind may differ; that the
    calibrator would be slightly different after fitting to other rows is not in it.

    Examples
    --------
    >>> from calibrant import PlattScaling, simulate
    >>> from calibrant.decisions import value_of_calibration
    >>> data = simulate.from_truth("underconfident", 5000)
    >>> worth = value_of_calibration(PlattScaling(), data.labels, data.scores, cost_fp=1, cost_fn=9)
    >>> worth.threshold, worth.gain.low > 0
    (0.1, True)
    """
    if not isinstance(calibrator, CalibrationMap) and not hasattr(calibrator, "fit_tally"):
        raise InvalidInputError(f"`calibrator` must be a calibrator or a CalibrationMap; got {calibrator!r}.")
    level = _validation.check_level(level)
    sample = read_sample(y_true, y_prob, sample_weight, pos_label, groups)
    folds = split_sample(sample, cv, rng, max_cells=len(sample.tally))
    if not folds:
        raise InvalidInputError(f"Folds need at least two rows; got {row_count(sample.tally.total)}. Add rows.")
    raw = predict_folds(folds, lambda _, scores: scores)
    taken = isinstance(calibrator, CalibrationMap)
    calibrated = predict_folds(
        folds, lambda train, scores: (calibrator if taken else clone(calibrator).fit_tally(train)).predict(scores)
    )
    return value_of_predictions(raw, calibrated, cost_fp, cost_fn, level)


def value_of_predictions(
    raw: OutOfFold, calibrated: OutOfFold, cost_fp: float, cost_fn: float, level: float
) -> ValueOfCalibration:
    """What is saved by acting on calibrated in place of raw predictions of the same rows."""
    threshold = cost_threshold(cost_fp, cost_fn)
    before, after = (_costs(each, threshold, cost_fp, cost_fn) for each in (raw, calibrated))
    changed = (raw.probabilities >= threshold) != (calibrated.probabilities >= threshold)
    gain = calibrated.interval(before - after, level)
    return ValueOfCalibration(
        gain=gain if raw.members is not None else _multinomial_interval(gain, before - after, raw.counts),
        cost_before=float(np.average(before, weights=raw.counts)),
        cost_after=float(np.average(after, weights=raw.counts)),
        changed=float(np.average(changed, weights=raw.counts)),
        threshold=threshold,
    )


def _multinomial_interval(gain: Interval, savings: Floats, counts: Floats) -> Interval:
    """The interval of the mean saving when each row saves one of a few amounts, most of them nothing.

    Few rows change sides, so the mean is far from normal. The shares of rows with each amount have a Dirichlet
    posterior under the Jeffreys prior, half a row for each amount; the rows that are decided as before share one.
    """
    amounts = np.unique(np.append(savings, 0.0))
    seen = np.array([counts[savings == amount].sum() for amount in amounts])
    draws = np.random.default_rng(0).dirichlet(seen + 0.5, N_DRAWS) @ amounts
    return interval_of(gain.value, draws, gain.level, (-np.inf, np.inf))


def _costs(predicted: OutOfFold, threshold: float, cost_fp: float, cost_fn: float) -> Floats:
    """The cost of acting on each prediction, or of not acting."""
    acts = predicted.probabilities >= threshold
    return np.where(predicted.labels, np.where(acts, 0.0, cost_fn), np.where(acts, cost_fp, 0.0))
