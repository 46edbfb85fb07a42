"""Segments of the rows: how well the probabilities fit each of them, before and after calibration."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from sklearn.base import clone

from calibrant import _limits, _validation
from calibrant.calibrators.base import Calibrator
from calibrant.errors import InvalidInputError
from calibrant.metrics import kuiper_test
from calibrant.metrics.folds import Fold, split_tally
from calibrant.metrics.verdict import SOME
from calibrant.reliability import Reliability, reliability
from calibrant.reliability.tables import binned_points
from calibrant.tally import Tally

JUDGE = "spline"  # draws every credible band over probabilities, so that no method is its own judge
MOST_CURVES = 20
MISSING = "(missing)"
DATE = re.compile(
    r"\d{4}-(\d{2}|Q\d|W\d{2})(-\d{2})?([ T].*)?"
)  # as ISO 8601 writes days, months, weeks: sorted as texts
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Gap:
    """The prediction for a segment and what happened, with an exact interval; `off` means beyond chance."""

    predicted: float
    happened: float
    low: float
    high: float
    off: bool


@dataclass(frozen=True)
class Segment:
    """One segment; `before` is None where scores are not probabilities, `diagram` for all but the largest ones."""

    name: str
    total: float
    before: Gap | None
    after: Gap | None
    diagram: Reliability | None


def segment_results(
    segments: Mapping[str, Tally], calibrator: Calibrator, level: float, n_folds: int
) -> tuple[Segment, ...]:
    """Judge every segment that has rows: dates and numbers in their order, others with the largest first.

    The calibrated probabilities are cross-fitted: one map for all segments, fitted without the rows that it judges. A
    segment counts as off where Kuiper's test says so after the chance of error is shared out among all segments.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration, Tally
    >>> from calibrant.report.segments import segment_results
    >>> north = Tally.from_arrays([0.2] * 50 + [0.7] * 50, [0, 1] * 25 + [0, 1] * 25)
    >>> segment = segment_results({"north": north}, IsotonicCalibration(), 0.9, 5)[0]
    >>> round(segment.before.predicted, 2), segment.before.happened, segment.before.off
    (0.45, 0.5, True)
    """
    parts = {str(name): part.coarsen(_limits.SEGMENT_CELLS) for name, part in segments.items() if len(part)}
    by_size = sorted(parts, key=lambda name: (-parts[name].total, name))
    drawn = set(by_size[:MOST_CURVES])
    calibrated = calibrated_segments(parts, calibrator, n_folds)
    usable = all(_validation.are_probabilities(part.scores) for part in parts.values())
    results = []
    for name in natural_order(by_size) or by_size:
        part = parts[name]
        shown = part if usable else calibrated.get(name)
        diagram = None if shown is None or name not in drawn else reliability(shown, curve=JUDGE, level=level)
        before, after = (_gap(one, level, len(parts)) for one in (part if usable else None, calibrated.get(name)))
        results.append(Segment(name, part.total, before, after, diagram))
    return tuple(results)


def natural_order(names: Collection[str]) -> list[str] | None:
    """Names that are all dates or all numbers in their order, with missing ones last; None for other names.

    Examples
    --------
    >>> from calibrant.report.segments import natural_order
    >>> natural_order(["10", "9", "(missing)"]), natural_order(["2026-01-31", "2025-12-01"])
    (['9', '10', '(missing)'], ['2025-12-01', '2026-01-31'])
    >>> natural_order(["north", "2025-12-01"])
    """
    known = [name for name in names if name != MISSING]
    rest = [name for name in names if name == MISSING]
    if known and all(DATE.fullmatch(name) for name in known):
        return sorted(known) + rest
    if known and all(NUMBER.fullmatch(name) for name in known):
        return sorted(known, key=lambda name: (float(name), name)) + rest
    return None


def _gap(tally: Tally | None, level: float, tests: int) -> Gap | None:
    if tally is None:
        return None
    point = binned_points(tally, n_bins=1, level=level)[0]
    p_value = kuiper_test(tally).p_value
    predicted, happened, low, high = (float(point[key]) for key in ("mean_score", "fraction", "low", "high"))
    return Gap(predicted, happened, low, high, off=p_value * tests < SOME)


def calibrated_segments(parts: Mapping[str, Tally], calibrator: Calibrator, n_folds: int) -> dict[str, Tally]:
    """The segments with probabilities from fits that did not see their rows; those too small to split are missing."""
    generator = np.random.default_rng(0)
    splits = {name: split_tally(part, n_folds, generator) for name, part in parts.items()}
    judged: dict[str, Tally] = {}
    for fold in range(n_folds):
        now = {name: split[fold] for name, split in splits.items() if fold < len(split)}
        if not now:
            continue
        try:
            fitted = clone(calibrator).fit_tally(_train(parts, now))
        except InvalidInputError:
            continue  # one class only: too few rows to judge by
        for name, one in now.items():
            tested = one.test.rescored(fitted.predict(one.test.scores))
            judged[name] = judged[name] + tested if name in judged else tested
    return judged


def _train(parts: Mapping[str, Tally], now: Mapping[str, Fold]) -> Tally:
    return reduce(add, [now[name].train if name in now else part for name, part in parts.items()])
