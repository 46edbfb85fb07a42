"""`evaluate`: all that matters about probabilities in one table, proper scores first, with a verdict in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import Metric, Seed, as_tally, check_level
from calibrant.metrics.binned import expected_calibration_error
from calibrant.metrics.bootstrap import MOST_CELLS, Interval, interval_of, reflected, resamples
from calibrant.metrics.corp import corp_decomposition
from calibrant.metrics.debiased import debiased_calibration_error
from calibrant.metrics.discrimination import roc_auc
from calibrant.metrics.hypothesis_tests import kuiper_test
from calibrant.metrics.kolmogorov import ks_calibration_error
from calibrant.metrics.scores import brier_score, log_loss
from calibrant.metrics.slope import calibration_slope
from calibrant.metrics.smooth import smooth_calibration_error
from calibrant.metrics.table import Evaluation, Row
from calibrant.metrics.verdict import compare, judge
from calibrant.tally import Tally

__all__ = ["Evaluation", "evaluate"]


def _miscalibration(tally: Tally) -> float:
    return corp_decomposition(tally).miscalibration


PROPER, ORDER, ERROR, LINE, TEST = (
    "proper scores (lower is better)",
    "discrimination (higher is better)",
    "calibration errors (lower is better)",
    "calibration line",
    "test of calibration",
)
#: key, group, name, function, range
MEASURES: tuple[tuple[str, str, str, Metric, tuple[float, float]], ...] = (
    ("log_loss", PROPER, "log-loss", log_loss, (0.0, np.inf)),
    ("brier_score", PROPER, "Brier score", brier_score, (0.0, 1.0)),
    ("roc_auc", ORDER, "area under the ROC curve", roc_auc, (0.0, 1.0)),
    ("miscalibration", ERROR, "miscalibration part of the Brier score (CORP)", _miscalibration, (0.0, 1.0)),
    ("ece", ERROR, "ECE, 15 bins of equal mass", partial(expected_calibration_error, strategy="quantile"), (0.0, 1.0)),
    ("debiased", ERROR, "debiased ECE, 15 bins of equal mass", partial(debiased_calibration_error, p=1), (-1.0, 1.0)),
    ("smooth", ERROR, "SmoothECE", smooth_calibration_error, (0.0, 1.0)),
    ("ks", ERROR, "largest cumulative gap (KS)", ks_calibration_error, (0.0, 1.0)),
)

NORMS = {"ece", "smooth", "ks"}  # errors whose squares add up; the other measures are means or squares themselves
MEASURED_BY_REPLICATES: dict[str, Metric] = {"debiased": partial(expected_calibration_error, strategy="quantile")}


def evaluate(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    level: float = 0.9,
    n_resamples: int = 300,
    rng: Seed = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Evaluation:
    """One table of a model's probabilities, or of several models side by side.

    Proper scores come first, because only they reward the true probability. Calibration errors follow with bootstrap
    intervals. A sentence says whether the calibration error is more than a perfectly calibrated model would show by
    chance, and warns where calibration errors and proper scores disagree.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,), or dict of them
        Probabilities of the positive class; with several models, a dict of name to probabilities.
    level : float
        Confidence level of the intervals.
    n_resamples : int
        Number of bootstrap replicates.
    rng : int, numpy.random.Generator or None
        The seed or generator; the same seed gives the same table.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import calibrant
    >>> from calibrant import simulate
    >>> data = simulate.from_truth("underconfident", 3000)
    >>> table = calibrant.evaluate(data.labels, data.scores)
    >>> round(table["brier_score"].value, 3), table["ece"].low > 0.05
    (0.159, True)
    >>> table.remarks[0]
    'Miscalibrated beyond chance: a monotone recalibration would lower the Brier score by up to 0.0161 (10 %).'
    """
    check_level(level)
    given = y_prob if isinstance(y_prob, Mapping) else {"model": y_prob}
    if not given:
        raise InvalidInputError("`y_prob` must name at least one model; the dict is empty.")
    tallies = {str(name): as_tally(y_true, p, sample_weight, pos_label) for name, p in given.items()}
    columns, remarks = [], []
    for name, tally in tallies.items():
        cells = tally.coarsen(MOST_CELLS)
        column, missing = _column(tally, cells, level, n_resamples, rng)
        columns.append(column)
        prefix = f"{name}: " if len(tallies) > 1 else ""
        remarks += [prefix + text for text in [judge(tally, cells, column, rng), *missing]]
    remarks = compare(list(tallies), columns) + remarks
    first = next(iter(tallies.values()))
    rows = tuple(Row(key, group, name, tuple(c.get(key) for c in columns)) for key, group, name in _layout())
    rows = tuple(row for row in rows if any(estimate is not None for estimate in row.estimates))
    return Evaluation(tuple(tallies), rows, first.total, first.base_rate, level, tuple(remarks))


def _layout() -> list[tuple[str, str, str]]:
    return [(key, group, name) for key, group, name, _, _ in MEASURES] + [
        ("slope", LINE, "slope (1 is right, below 1 too extreme)"),
        ("intercept", LINE, "intercept (0 is right, below 0 too high)"),
        ("kuiper_p_value", TEST, "p-value of Kuiper's test"),
    ]


def _column(
    tally: Tally, cells: Tally, level: float, n_resamples: int, rng: Seed
) -> tuple[dict[str, Interval | float], list[str]]:
    """All estimates of one model, from one set of replicates; and what could not be computed, with the reason."""
    column: dict[str, Interval | float] = {}
    missing: list[str] = []
    measures = {}
    for key, _, _, metric, bounds in MEASURES:
        value = _attempt(partial(metric, tally), missing)
        if value is not None:
            measures[key] = (metric, bounds, value)
    draws = _draws([metric for metric, _, _ in measures.values()], cells, n_resamples, rng)
    for at, (key, (metric, bounds, value)) in enumerate(measures.items()):
        # Replicates scatter around what the metric estimates in the sample that they are drawn from: the metric
        # itself, but for the debiased error the plain one.
        centre = MEASURED_BY_REPLICATES.get(key, metric)(cells)
        method = "squared" if key in NORMS else "basic"
        column[key] = interval_of(value, reflected(draws[:, at], value, centre, method), level, bounds)
    line = _attempt(partial(calibration_slope, tally, level=level), missing)
    if line is not None:
        column |= {"slope": line.slope, "intercept": line.intercept}
    test = _attempt(partial(kuiper_test, tally), missing)
    if test is not None:
        column["kuiper_p_value"] = test.p_value
    return column, missing


def _attempt(task: Callable[[], Any], missing: list[str]) -> Any:
    """The value, or None with the reason noted, where the metric has none for these data."""
    try:
        return task()
    except InvalidInputError as error:
        missing.append(str(error))
        return None


def _draws(functions: list[Metric], cells: Tally, n_resamples: int, rng: Seed) -> Floats:
    return np.array([[metric(sample) for metric in functions] for sample in resamples(cells, n_resamples, rng)])
