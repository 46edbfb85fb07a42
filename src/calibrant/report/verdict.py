"""The answer of the page in plain words that say how certain it is, the key figures beside it, and the next steps."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from calibrant.intervals import Interval
from calibrant.report.calibration_sections import score_reaching, score_text
from calibrant.report.data import Assessment, ReportData
from calibrant.report.decision_sections import DecisionProblem
from calibrant.report.texts import say
from calibrant.report.wording import count, named, number, outcome_of, percent, points_estimate, sentence_case

RARE = 0.05
MATERIAL = 0.001  # a share of the log-loss worth a change of method
NOTABLE = 0.25  # a share of the average error


class Answer(NamedTuple):
    """A headline and its reasons; `tone` is "good", "fair", "bad" or "open"."""

    tone: str
    headline: str
    sentences: tuple[str, ...]


class KeyFigure(NamedTuple):
    """A figure with what it is above it, and a remark below it."""

    label: str
    value: str
    remark: str = ""


def answer(data: ReportData) -> Answer:
    """Answer whether the model is calibrated, and whether calibrating it helps."""
    side, words = data.before, outcome_of(data.top_label)
    if side is None:
        sentences = [say("answer", "scores" if data.map is not None else "panel")]
    elif data.verdict.strength:
        sentences = [_size(side, words), *_direction(side, words)]
    else:
        sentences = [_possible(side, words), *_direction(side, words)]
        if len(sentences) > 1:  # a level or a slope of which the test says nothing
            sentences.insert(1, say("answer", "yet", level=100 * data.level))
    rest = [_after(data), *_segments(data)] if data.calibrate else [*_segments(data), _after(data)]
    case = _conclude(data)
    return Answer(say("tone", case), say("headline", case), (*sentences, *rest))


def _conclude(data: ReportData) -> str:
    """The name of the conclusion, from the verdict alone, but for segments that it does not see."""
    verdict = data.verdict
    if not verdict.probabilities:
        return "scores"
    if verdict.strength == 0:
        return "segments" if data.segments_off("before") else "fits" if verdict.small else "perhaps"
    if verdict.small:
        return "small"
    if verdict.strength == 1:
        return "probably"
    return "far_off" if verdict.large else "off"


def _first_step(data: ReportData) -> str:
    step = _conclude(data).removeprefix("far_")
    if data.verdict.calibrate and step in ("small", "probably", "off"):
        step = "optional" if step == "small" else "mend"
    return say("step", step, method=data.title_of(data.name))


def _segments(data: ReportData) -> list[str]:
    off = data.segments_off("after" if data.calibrate else "before")
    if not off:
        return []
    when = " even after calibration" if data.calibrate else ""
    n_segments = len(data.segments.segments) if data.segments is not None else 0
    every = len(off) == n_segments > 1
    where = f"all {len(off)}" if every else f"{len(off)} of {n_segments}"
    return [say("answer", "segments", where=where, when=when, names=named(off))]


def _possible(side: Assessment, words: SimpleNamespace) -> str:
    error = side.error
    most, _ = points_estimate(Interval(error.high, error.low, error.high, error.level))
    # The upper end of a central interval leaves half of the remaining probability above it.
    facts = {"most": most, "sure": 50 + 50 * error.level, "words": words}
    return say("answer", "possible", compared=_compared(side, words), **facts)


def _size(side: Assessment, words: SimpleNamespace) -> str:
    value, ends = points_estimate(side.error)
    facts = {"value": value, "ends": ends, "level": 100 * side.error.level, "words": words}
    return say("answer", "size", compared=_compared(side, words), **facts)


def _compared(side: Assessment, words: SimpleNamespace) -> str:
    """A measure for the error where one class is rare."""
    rate = side.evaluation.base_rate
    rarer = min(rate, 1.0 - rate)
    if 0.0 < rarer < RARE:
        of = f"{words.subject} {words.happens}" if rate < 0.5 else words.fails
        return say("answer", "compared", rare=of, rate=percent(rarer))
    return ""


def _direction(side: Assessment, words: SimpleNamespace) -> list[str]:
    """Sentences on predictions that are too high or low as a whole, and too extreme or timid."""
    sentences = []
    mean, rate = side.mean, side.evaluation.base_rate
    measures = {row.key: row.estimates[0] for row in side.evaluation.rows}
    intercept, slope = measures.get("intercept"), measures.get("slope")
    certain = isinstance(intercept, Interval) and (intercept.high < 0.0 or intercept.low > 0.0)
    shifted = certain and abs(mean - rate) > NOTABLE * side.error.value
    if shifted:
        word = "high" if mean > rate else "low"
        facts = {"mean": percent(mean), "rate": percent(rate), "words": words}
        sentences.append(say("answer", "shifted", word=word, **facts))
    # Where all are shifted, the low ones, or the high ones, may be wrong the other way round.
    if isinstance(slope, Interval) and slope.high < 1.0:
        sentences.append(say("answer", "also_extreme" if shifted else "extreme"))
    if isinstance(slope, Interval) and slope.low > 1.0:
        sentences.append(say("answer", "also_timid" if shifted else "timid"))
    return sentences


def _after(data: ReportData) -> str:
    value, ends = points_estimate(data.after.error)
    # Of the log-loss by the method shown against the raw score, paired by row.
    results = data.comparison.results if data.comparison.reference == "identity" else ()
    change = next((one.log_loss_difference for one in results if one.name == data.name), None)
    gain = ""
    if change is not None:
        gain = say("answer", "better" if change.high < 0.0 else "worse" if change.low > 0.0 else "no_better")
    facts = {"value": value, "ends": ends, "level": 100 * data.after.error.level}
    return say("answer", "after", method=data.title_of(data.name), gain=gain, **facts)


def key_figures(data: ReportData, problem: DecisionProblem | None = None) -> list[KeyFigure]:
    """The figures beside the answer."""
    after, _ = points_estimate(data.after.error)
    error = KeyFigure("Average error after calibration", f"{after} points")
    if data.before is not None:
        before, ends = points_estimate(data.before.error)
        remark = f"{after} points after calibration" if data.calibrate else f"{100 * data.level:g} % interval: {ends}"
        error = KeyFigure("Average error", f"{before} points", remark)
    side, when = (data.before, "before") if data.before is not None else (data.after, "after")
    happened = f"{percent(data.tally.base_rate)} {outcome_of(data.top_label).past}"
    mean = KeyFigure("Mean of all rows", f"{percent(side.mean)} predicted", f"{happened}; {when} calibration")
    method = KeyFigure("Method", sentence_case(data.title_of(data.name)), "checked on rows that it had not seen")
    if not data.calibrate:
        needed = "None needed" if data.verdict.small else "None yet"
        method = KeyFigure("Method", needed, "none is better beyond chance")
    costs = [] if problem is None or problem.costs is None or data.rows is None else [_threshold_figure(data, problem)]
    return [error, mean, method, *costs]


def _threshold_figure(data: ReportData, problem: DecisionProblem) -> KeyFigure:
    """The raw score from which on it pays to act: that of the map, or where none is needed the threshold itself."""
    wanted, label = percent(problem.threshold), "Act from a score of"
    if not data.calibrate:
        return KeyFigure(label, wanted, "by the costs given, with the scores as they are")
    score, means = score_reaching(data, problem.threshold), f"a calibrated probability of {wanted}"
    if score is None:
        return KeyFigure("Act from", wanted, "of the calibrated probability: no single score parts the rows")
    if abs(score) == np.inf:
        who, has = ("No row", "none has") if score > 0.0 else ("All rows", "each has at least")
        return KeyFigure("Act on", who, f"{has} {means}")
    return KeyFigure(label, score_text(data, float(f"{score:.3g}")), f"which means {means}")


def next_steps(data: ReportData) -> list[str]:
    """The steps to take, most important first."""
    steps = [_first_step(data), *_other_method(data), *_segment_step(data)]
    verdict = data.verdict
    if verdict.probabilities and verdict.strength < 2 and not verdict.small:
        steps.append(say("next", "more_rows", rows=count(data.tally.total)))
    steps.append(say("next", "repeat"))
    return steps


def _other_method(data: ReportData) -> list[str]:
    """The recommended method, where the page was asked to show one that is clearly worse."""
    comparison = data.comparison
    if comparison.recommended in ("identity", data.name) or data.name in comparison.tied:
        return []
    losses = {one.name: one.log_loss.value for one in comparison.results if one.log_loss is not None}
    best = losses[comparison.recommended]
    behind = losses.get(data.name, best) - best
    if behind <= MATERIAL * best:
        return []
    better, method = data.title_of(comparison.recommended), data.title_of(data.name)
    return [say("next", "other", better=better, lower=number(behind), method=method)]


def _segment_step(data: ReportData) -> list[str]:
    off = data.segments_off("after" if data.calibrate else "before")
    if off:
        when = say("next", "still" if data.calibrate else "misfit")
        return [say("next", "segments", names=named(off), when=when)]
    repaired = data.segments_off("before")
    return [say("next", "repaired", names=named(repaired))] if repaired else []
