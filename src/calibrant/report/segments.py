"""Segments of the rows: how well probabilities fit each of them as they are, with one map for all, and with many."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant import _limits
from calibrant.calibrators.base import Calibrator
from calibrant.comparison.compare import lower_log_loss
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.maps.keys import name_columns
from calibrant.metrics import kuiper_test
from calibrant.metrics.folds import OutOfFold, split_tally
from calibrant.metrics.verdict import SOME
from calibrant.monitoring.named_tallies import name_of
from calibrant.reliability.result import binned_points
from calibrant.segments.calibrator import SegmentedCalibrator
from calibrant.tally import Tally

MISSING = "(missing)"
DATE = re.compile(r"\d{4}-(\d{2}|Q\d|W\d{2})(-\d{2})?([ T].*)?")  # ISO 8601: days, months, weeks sort as texts
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Segment:
    """One segment.

    Attributes
    ----------
    name : str
        Its keys in words.
    happened : Interval
        The share of positives, with an exact interval.
    tallies : dict of str to Tally
        Probabilities and outcomes "before" calibration (where scores are probabilities), "after" it with one map for
        all segments, and "by_segment" with maps that may differ; those after are from fits that did not see the row.
    off : dict of str to bool
        For each of these, whether the probabilities fit worse than chance explains.
    """

    name: str
    total: float
    happened: Interval
    tallies: dict[str, Tally]
    off: dict[str, bool]

    def predicted(self, side: str) -> float | None:
        """The mean prediction, or None where there is none."""
        tally = self.tallies.get(side)
        return None if tally is None else float(tally.scores @ tally.totals / tally.total)


@dataclass(frozen=True)
class SegmentResults:
    """All segments, dates and numbers in their order, others with the largest first.

    Attributes
    ----------
    segments : tuple of Segment
        Those that have rows.
    in_order : bool
        Whether they are dates or numbers.
    losses : dict of str to float
        The log-loss of all segments together, for each side.
    gain : Interval or None
        How much lower the log-loss is with maps by segment than with one map for all; None where maps by segment
        cannot be fitted.
    summary : str
        Which segments differ, in a sentence.
    """

    segments: tuple[Segment, ...]
    in_order: bool
    losses: dict[str, float]
    gain: Interval | None = None
    summary: str = ""


def judge_segments(
    tallies: Mapping[Any, Tally],
    keys: Sequence[str],
    calibrator: Calibrator,
    level: float,
    n_folds: int,
    *,
    space: str = "probability",
) -> SegmentResults:
    """Judge every segment that has rows.

    A segment counts as off where Kuiper's test says so after the chance of error is shared out among all segments.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration, Tally
    >>> from calibrant.report.segments import judge_segments
    >>> north = Tally.from_arrays([0.2] * 50 + [0.7] * 50, [0, 1] * 25 + [0, 1] * 25)
    >>> segment = judge_segments({"north": north}, ["region"], IsotonicCalibration(), 0.9, 5).segments[0]
    >>> round(segment.predicted("before"), 2), segment.happened.value, segment.off["before"]
    (0.45, 0.5, True)
    """
    parts = {key: part.coarsen(_limits.SEGMENT_CELLS) for key, part in tallies.items() if len(part)}
    template: Any = SegmentedCalibrator(clone(calibrator), missing="segment", space=space)
    try:
        summary = clone(template).fit_tallies(parts, keys).segments_.summary()
    except InvalidInputError:  # too few segments
        template, summary = calibrator, ""
    found = _crossfit(parts, template, keys, n_folds)
    judged = list(found.get("after", ()))
    if space == "probability":
        raw = {key: OutOfFold.of_cells(part.scores, part.positives, part.totals) for key, part in parts.items()}
        found = {"before": raw} | found
    segments = []
    for key, part in parts.items():
        shown = {side: each[key].tally() for side, each in found.items() if key in each}
        segments.append(_judge(key, part, shown, level, len(parts)))
    segments.sort(key=lambda one: (-one.total, one.name))
    order = natural_order([one.name for one in segments])
    if order is not None:
        place = {name: i for i, name in enumerate(order)}
        segments.sort(key=lambda one: place[one.name])
    sides = {side: _join([each[key] for key in judged]) for side, each in found.items()} if judged else {}
    by_segment = sides.get("by_segment")
    return SegmentResults(
        segments=tuple(segments),
        in_order=order is not None,
        losses={side: one.interval(one.losses("log"), level).value for side, one in sides.items()},
        gain=None if by_segment is None else lower_log_loss(by_segment, sides["after"], level),
        summary="" if by_segment is None else summary,
    )


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


def _judge(key: Any, part: Tally, tallies: dict[str, Tally], level: float, n_tests: int) -> Segment:
    point = binned_points(part, n_bins=1, level=level)[0]
    return Segment(
        name=name_of(key),
        total=part.total,
        happened=Interval(float(point["fraction"]), float(point["low"]), float(point["high"]), level),
        tallies=tallies,
        off={side: kuiper_test(one).p_value * n_tests < SOME for side, one in tallies.items()},
    )


def _crossfit(
    parts: Mapping[Any, Tally], template: SegmentedCalibrator | Calibrator, keys: Sequence[str], n_folds: int
) -> dict[str, dict[Any, OutOfFold]]:
    """For each side, the predictions of each segment from fits that did not see the rows."""
    generator = np.random.default_rng(0)
    # Not stratified: a small segment's share of positives in the rows left out must not follow from the others.
    splits = {key: split_tally(part, n_folds, generator, stratified=False) for key, part in parts.items()}
    found: dict[str, dict[Any, list[OutOfFold]]] = {}
    for fold in range(n_folds):
        tested = {key: split[fold] for key, split in splits.items() if fold < len(split)}
        train = {key: tested[key].train if key in tested else part for key, part in parts.items()}
        try:
            if isinstance(template, Calibrator):
                pooled = clone(template).fit_tally(reduce(add, train.values()))
            else:
                map_ = clone(template).fit_tallies(train, keys).map_
        except InvalidInputError:
            continue  # rows of one class only: too few to judge by
        for key, one in tested.items():
            scores = one.test.scores
            if isinstance(template, Calibrator):
                sides = {"after": pooled.predict(scores)}
            else:
                sides = {"after": map_.pooled(scores if map_.first is None else map_.first(scores))}
                sides["by_segment"] = map_(scores, name_columns([key] * len(scores), map_.keys.names))
            for side, probabilities in sides.items():
                judged = OutOfFold.of_cells(probabilities, one.test.positives, one.test.totals)
                found.setdefault(side, {}).setdefault(key, []).append(judged)
    return {side: {key: _join(several) for key, several in each.items()} for side, each in found.items()}


def _join(parts: Sequence[OutOfFold]) -> OutOfFold:
    columns = [(one.probabilities, one.labels, one.counts) for one in parts]
    probabilities, labels, counts = map(np.concatenate, zip(*columns, strict=True))
    return OutOfFold(probabilities, labels, counts)
