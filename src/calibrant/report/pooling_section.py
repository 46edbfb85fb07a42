"""A section on segments: before calibration, with one map for all, and with maps by segment, partially pooled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant import _limits, _validation
from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.calibrators.base import Calibrator
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.maps.keys import name_columns
from calibrant.metrics.folds import Fold, split_tally
from calibrant.report.figures import Figure, listed, scatter, titled
from calibrant.report.section import Section, SectionFigure, SectionTable
from calibrant.report.wording import count, estimate, percent
from calibrant.segments.calibrator import SegmentedCalibrator
from calibrant.tally import Tally

MOST_DRAWN = 20
MOST_LISTED = 200
CAPTION = "Predicted minus happened, for rows that the fit did not see"
SIDES = {"before": "before calibration", "pooled": "one map for all", "segmented": "by segment"}
COLOURS = {"before": ("before", "circle-open"), "pooled": ("neutral", "square"), "segmented": ("after", "circle")}


@dataclass(frozen=True)
class PooledSegment:
    """One segment: its rows, its share of positives, and for each side the mean prediction for rows not seen."""

    name: str
    rows: float
    happened: float
    predicted: dict[str, float]


@dataclass(frozen=True)
class PoolingResult:
    """What maps by segment are worth on rows that they were not fitted to.

    Attributes
    ----------
    segments : tuple of PooledSegment
        The largest first.
    losses : dict of str to float
        Log-loss before calibration (where scores are probabilities), with one map for all, and by segment.
    gain, low, high : float
        How much the log-loss is lower by segment than with one map for all, and its interval.
    summary : str
        Which segments differ, in a sentence.
    """

    segments: tuple[PooledSegment, ...]
    losses: dict[str, float]
    gain: float
    low: float
    high: float
    summary: str

    def verdict(self, level: float) -> str:
        """What maps by segment are worth, in a sentence."""
        change = f"from {self.losses['pooled']:.4f} to {self.losses['segmented']:.4f}"
        gain, ends = estimate(Interval(self.gain, self.low, self.high, level))
        interval = f"{100 * level:g} % interval of the gain: {ends}"
        if self.low > 0.0:
            return f"On rows that no fit has seen, maps by segment lower the log-loss {change}, by {gain} ({interval})."
        if self.high < 0.0:
            return (
                f"On rows that no fit has seen, maps by segment raise the log-loss {change} ({interval}): "
                "one map for all is better here."
            )
        return (
            f"On rows that no fit has seen, maps by segment are worth no more than chance: the log-loss goes {change} "
            f"({interval})."
        )


def pooling_section(
    tallies: Mapping[Any, Tally],
    keys: Sequence[str],
    calibrator: Calibrator,
    *,
    level: float = 0.9,
    n_folds: int = 5,
) -> Section | None:
    """The section for `write_report`; None where segments cannot be fitted.

    Parameters
    ----------
    tallies : dict of segment to Tally
        Named by a tuple where there are several keys.
    keys : sequence of str
        The names of the keys.
    calibrator : Calibrator
        The method of the pooled curve.
    level : float
        Of the interval of the gain.
    n_folds : int
        Into how many parts rows are split, each judged by a fit to the others.
    """
    try:
        result = judge_pooling(tallies, keys, calibrator, level=level, n_folds=n_folds)
    except InvalidInputError:
        return None
    shown = result.segments[:MOST_LISTED]
    sides = list(result.losses)
    head = ("Segment", "Rows", "Happened", *(f"Predicted, {SIDES[side]}" for side in sides))
    rows = tuple(
        (one.name, count(one.rows), percent(one.happened), *(percent(one.predicted[side]) for side in sides))
        for one in shown
    )
    legend = tuple((COLOURS[side][0], SIDES[side]) for side in sides)
    losses = tuple((SIDES[side].capitalize(), f"{loss:.4f}") for side, loss in result.losses.items())
    return Section(
        "pooling",
        "Maps by segment",
        (result.verdict(level), result.summary),
        (SectionFigure(_figure(result), _alt(result), _caption(result), legend=legend),),
        (
            SectionTable("Log-loss of rows that the fit did not see", ("Calibration", "Log-loss"), losses),
            SectionTable("Each segment", head, rows, folded=True),
        ),
    )


def judge_pooling(
    tallies: Mapping[Any, Tally],
    keys: Sequence[str],
    calibrator: Calibrator,
    *,
    level: float = 0.9,
    n_folds: int = 5,
) -> PoolingResult:
    """Cross-fit one map for all and maps by segment.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import PlattScaling, Tally
    >>> from calibrant.report.pooling_section import judge_pooling
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(2000)
    >>> tallies = {k: Tally.from_arrays(scores, rng.random(2000) < scores**k) for k in (1, 2)}
    >>> judge_pooling(tallies, ["power"], PlattScaling()).low > 0
    True
    """
    parts = {key: part.coarsen(_limits.SEGMENT_CELLS) for key, part in tallies.items() if len(part)}
    usable = all(_validation.are_probabilities(part.scores) for part in parts.values())
    space = "probability" if usable else "decision"
    whole = SegmentedCalibrator(clone(calibrator), missing="segment", space=space).fit_tallies(parts, keys)
    judged = _crossfit(parts, whole, keys, n_folds)
    if not judged:
        raise InvalidInputError("`tallies` must have rows of both classes in every part of the cross-fit.")
    if not usable:
        judged = {key: one | {"before": one["pooled"]} for key, one in judged.items()}
    sides = [side for side in SIDES if usable or side != "before"]
    gain, error = _mean_difference(*([one[side] for one in judged.values()] for side in ("pooled", "segmented")))
    half = NormalDist().inv_cdf(0.5 + 0.5 * level) * error
    segments = sorted((_segment(key, one, sides) for key, one in judged.items()), key=lambda one: (-one.rows, one.name))
    losses = {side: _mean_loss([one[side] for one in judged.values()]) for side in sides}
    return PoolingResult(tuple(segments), losses, gain, gain - half, gain + half, whole.segments_.summary())


@dataclass(frozen=True)
class _Judged:
    """Predictions for rows of one segment that the fit did not see."""

    probabilities: Floats
    positives: Floats
    totals: Floats

    def mean(self, values: Floats) -> float:
        return float(self.totals @ values / self.totals.sum())


def _crossfit(
    parts: Mapping[Any, Tally], whole: SegmentedCalibrator, keys: Sequence[str], n_folds: int
) -> dict[Any, dict[str, _Judged]]:
    """The predictions of each side for each segment, from fits that did not see the rows."""
    generator = np.random.default_rng(0)
    # Not stratified: a small segment's share of positives in the rows left out must not follow from the others.
    splits = {key: split_tally(part, n_folds, generator, stratified=False) for key, part in parts.items()}
    found: dict[Any, list[dict[str, _Judged]]] = {}
    for fold in range(n_folds):
        now = {key: split[fold] for key, split in splits.items() if fold < len(split)}
        if not now:
            continue
        train = {key: now[key].train if key in now else part for key, part in parts.items()}
        try:
            fitted = clone(whole).fit_tallies(train, keys)
        except InvalidInputError:
            continue  # one class or one segment only: too few rows to judge by
        for key, one in now.items():
            found.setdefault(key, []).append(_predict(fitted, key, one))
    return {key: {side: _stack([one[side] for one in several]) for side in SIDES} for key, several in found.items()}


def _predict(fitted: SegmentedCalibrator, key: Any, fold: Fold) -> dict[str, _Judged]:
    scores, map_ = fold.test.scores, fitted.map_
    segment = {name: np.repeat(x, len(scores)) for name, x in name_columns([key], map_.keys.names).items()}
    pooled = map_.pooled(scores if map_.first is None else map_.first(scores))
    predictions = {"before": scores, "pooled": pooled, "segmented": map_(scores, segment)}
    return {side: _Judged(p, fold.test.positives, fold.test.totals) for side, p in predictions.items()}


def _stack(parts: list[_Judged]) -> _Judged:
    names = ("probabilities", "positives", "totals")
    return _Judged(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _segment(key: Any, judged: Mapping[str, _Judged], sides: Sequence[str]) -> PooledSegment:
    one = judged["pooled"]
    words = key if isinstance(key, tuple) else (key,)
    name = " · ".join("(missing)" if word is None else str(word) for word in words)
    rows = float(one.totals.sum())
    predicted = {side: judged[side].mean(judged[side].probabilities) for side in sides}
    return PooledSegment(name, rows, float(one.positives.sum()) / rows, predicted)


def _losses(judged: Sequence[_Judged]) -> tuple[Floats, Floats]:
    """The log-loss of each positive, then of each negative row, and how many of them there are."""
    p = links.clip(np.concatenate([one.probabilities for one in judged]))
    positives, totals = (np.concatenate([getattr(one, name) for one in judged]) for name in ("positives", "totals"))
    return np.concatenate((-np.log(p), -np.log1p(-p))), np.concatenate((positives, totals - positives))


def _mean_loss(judged: Sequence[_Judged]) -> float:
    losses, counts = _losses(judged)
    return float(counts @ losses / counts.sum())


def _mean_difference(judged: Sequence[_Judged], others: Sequence[_Judged]) -> tuple[float, float]:
    """How much higher the log-loss of `judged` is than that of `others`, and its standard error."""
    (losses, counts), (other, _) = _losses(judged), _losses(others)
    total, gaps = float(counts.sum()), losses - other
    mean = float(counts @ gaps) / total
    return mean, float(np.sqrt(counts @ np.square(gaps - mean)) / total)


def _figure(result: PoolingResult) -> Figure:
    """Predicted minus happened in each of the largest segments, a mark for each side."""
    shown = result.segments[:MOST_DRAWN]
    traces = []
    for side in result.losses:
        colour, symbol = COLOURS[side]
        gaps = [100.0 * (one.predicted[side] - one.happened) for one in shown]
        look = {"marker": {"color": f"@{colour}", "size": 9, "symbol": symbol}, "y": [one.name for one in shown]}
        hover = {"hovertemplate": f"%{{y}}<br>{SIDES[side]}: %{{x:.2f}} points off"}
        traces.append(scatter("markers", SIDES[side], gaps, []) | look | hover)
    reach = 1.1 * max(abs(value) for trace in traces for value in trace["x"]) or 1.0
    axis = titled("Predicted − happened, percentage points", zeroline=True, range=listed([-reach, reach]))
    return {"data": traces, "layout": {"xaxis": axis, "yaxis": {}}, "meta": {"short": "Points off"}}


def _caption(result: PoolingResult) -> str:
    hidden = len(result.segments) > MOST_DRAWN
    return f"{CAPTION}: the {MOST_DRAWN} largest of {len(result.segments)} segments" if hidden else CAPTION


def _alt(result: PoolingResult) -> str:
    sides = {side: max(abs(one.predicted[side] - one.happened) for one in result.segments) for side in result.losses}
    worst = ", ".join(f"{percent(gap)} {SIDES[side]}" for side, gap in sides.items())
    return f"How far predictions are off in each segment. The widest gap is {worst}. All values are in the table below."
