"""The value of calibrating before deciding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats
from calibrant.calibrators.base import Calibrator
from calibrant.decisions.thresholds import cost_threshold
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.maps.score import CalibrationMap
from calibrant.metrics.base import Seed, as_tally
from calibrant.metrics.bootstrap import interval_of
from calibrant.metrics.folds import split_tally
from calibrant.metrics.grouped_rows import GroupedRows, check_grouped_rows
from calibrant.tally import Tally, row_count

__all__ = ["ValueOfCalibration", "value_of_calibration"]

BLOCK = 64  # replicates drawn at a time, to bound the memory


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


class _Outcomes(NamedTuple):
    """Raw and calibrated probability, label and weight of rows; and their groups, if there are any."""

    raw: Floats
    calibrated: Floats
    labels: Floats
    weights: Floats
    grouped: GroupedRows | None


def value_of_calibration(
    calibrator: Calibrator | CalibrationMap,
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    cost_fp: float,
    cost_fn: float,
    n_folds: int = 5,
    groups: ArrayLike | None = None,
    level: float = 0.9,
    n_resamples: int = 2000,
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
        Cost of acting in vain, and of not acting where it was needed; in any unit.
    n_folds : int
        Number of folds.
    groups : array-like of shape (n,), optional
        The group of each row, such as a customer: rows of one group are kept in one fold and resampled together.
    level : float
        Confidence level.
    n_resamples : int
        Number of bootstrap replicates.
    rng : int, numpy.random.Generator or None
        The seed or generator of folds and replicates.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    ValueOfCalibration

    Notes
    -----
    The interval says how far the saving on other rows of the same kind may differ; that the calibrator would be
    slightly different after fitting to other rows is not in it.

    Examples
    --------
    >>> from calibrant import PlattScaling, simulate
    >>> from calibrant.decisions import value_of_calibration
    >>> data = simulate.from_truth("underconfident", 5000)
    >>> worth = value_of_calibration(PlattScaling(), data.labels, data.scores, cost_fp=1, cost_fn=9)
    >>> worth.threshold, worth.gain.low > 0
    (0.1, True)
    """
    threshold = cost_threshold(cost_fp, cost_fn)
    if not isinstance(calibrator, CalibrationMap) and not hasattr(calibrator, "fit_tally"):
        raise InvalidInputError(f"`calibrator` must be a calibrator or a CalibrationMap; got {calibrator!r}.")
    _validation.check_level(level)
    _validation.check_count("n_resamples", n_resamples)
    generator = np.random.default_rng(rng)
    if groups is None:
        tally = as_tally(y_true, y_prob, sample_weight, pos_label)
        rows = _outcomes_of_tally(calibrator, tally, n_folds, generator)
    else:
        grouped = check_grouped_rows(y_true, y_prob, groups, sample_weight=sample_weight, pos_label=pos_label)
        rows = _outcomes_of_rows(calibrator, grouped, n_folds, generator)
    before, after = (_costs(p, rows.labels, threshold, cost_fp, cost_fn) for p in (rows.raw, rows.calibrated))
    total = float(rows.weights.sum())
    gain = float(rows.weights @ (before - after)) / total
    draws = _gain_draws(before - after, rows, n_resamples, generator)
    if rows.grouped is not None:
        draws = gain + rows.grouped.groups.expansion(level) * (draws - gain)
    changed = float(rows.weights @ ((rows.raw >= threshold) != (rows.calibrated >= threshold))) / total
    return ValueOfCalibration(
        interval_of(gain, draws, level, (-np.inf, np.inf)),
        float(rows.weights @ before) / total,
        float(rows.weights @ after) / total,
        changed,
        threshold,
    )


def _costs(p: Floats, labels: Floats, threshold: float, cost_fp: float, cost_fn: float) -> Floats:
    out: Floats = np.where(p >= threshold, (1.0 - labels) * cost_fp, labels * cost_fn)
    return out


def _fit_and_predict(calibrator: Any, train: Tally, scores: Floats) -> Floats:
    """Calibrated probabilities by a copy fitted to other rows, or by a map as it is."""
    if isinstance(calibrator, CalibrationMap):
        return calibrator(scores)
    fitted: Calibrator = clone(calibrator).fit_tally(train)
    return fitted.predict(scores)


def _outcomes_of_tally(calibrator: Any, tally: Tally, n_folds: int, generator: np.random.Generator) -> _Outcomes:
    parts = []
    folds = split_tally(tally, n_folds, generator)
    if not folds:
        raise InvalidInputError(f"Folds need at least two rows; got {row_count(tally.total)}. Add rows.")
    for fold in folds:
        test = fold.test
        calibrated = _fit_and_predict(calibrator, fold.train, test.scores)
        parts.append((test.scores, calibrated, np.ones(len(test)), test.positives))
        parts.append((test.scores, calibrated, np.zeros(len(test)), test.negatives))
    raw, calibrated, labels, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _Outcomes(raw, calibrated, labels, weights, None)


def _outcomes_of_rows(calibrator: Any, rows: GroupedRows, n_folds: int, generator: np.random.Generator) -> _Outcomes:
    _validation.check_unit_interval(rows.scores, "y_prob")
    fold_of_row = rows.groups.deal(n_folds, generator)
    calibrated = np.empty(len(rows.scores))
    for i in range(n_folds):
        test = fold_of_row == i
        calibrated[test] = _fit_and_predict(calibrator, rows.tally(~test), rows.scores[test])
    return _Outcomes(rows.scores, calibrated, rows.labels.astype(np.float64), rows.weights, rows)


def _gain_draws(gains: Floats, rows: _Outcomes, n_resamples: int, generator: np.random.Generator) -> Floats:
    """Bootstrap replicates of the mean gain: of rows, of which only a handful of kinds exist, or of groups."""
    if rows.grouped is None:
        kinds, kind = np.unique(gains, return_inverse=True)
        mass = np.bincount(kind, rows.weights)
        draws = generator.multinomial(max(round(mass.sum()), 1), mass / mass.sum(), size=n_resamples)
        out: Floats = draws @ kinds / draws.sum(axis=1)
        return out
    codes = rows.grouped.groups.codes
    gain_of_group, weight_of_group = np.bincount(codes, rows.weights * gains), np.bincount(codes, rows.weights)
    out = np.empty(n_resamples)
    for start in range(0, n_resamples, BLOCK):
        times = rows.grouped.groups.draw(len(out[start : start + BLOCK]), generator)
        out[start : start + BLOCK] = (times @ gain_of_group) / (times @ weight_of_group)
    return out
