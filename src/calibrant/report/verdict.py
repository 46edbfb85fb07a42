"""The answer of the page in plain words that say how certain it is, the key figures beside it, and the next steps."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from calibrant.intervals import Interval
from calibrant.report.calibration_sections import score_reaching, score_text
from calibrant.report.data import Assessment, ReportData
from calibrant.report.decision_sections import DecisionProblem
from calibrant.report.wording import count, named, number, outcome_of, percent, points_estimate, sentence_case

RARE = 0.05
MATERIAL = 0.001  # a share of the log-loss worth a change of method
NOTABLE = 0.25  # a share of the average error
EXTREME = "too close to 0 % and 100 %: high ones should be lower and low ones higher"
TIMID = "too far from 0 % and 100 %: high ones should be higher and low ones lower"


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
        sentences = ["The scores are decision scores: they rank the rows, but cannot be read as probabilities."]
    elif data.verdict.strength:
        sentences = [_size(side, words), *_direction(side, words)]
    else:
        sentences = [_possible(side, words)]
    rest = [_after(data), *_segments(data)] if data.calibrate else [*_segments(data), _after(data)]
    tone, headline, _ = _conclude(data)
    return Answer(tone, headline, (*sentences, *rest))


def _conclude(data: ReportData) -> tuple[str, str, str]:
    """The tone, the headline and the first step, from the verdict alone, but for segments that it does not see."""
    verdict, title = data.verdict, data.title_of(data.name)
    if not verdict.probabilities:
        step = f"Turn the scores into probabilities with {title}. The model stays as it is."
        return "open", "These scores are not probabilities yet.", step
    if verdict.strength == 0 and data.segments_off("before"):
        step = "Leave the scores of all rows together as they are, but look into the segments that are off."
        return "fair", "On the whole no error shows, but some segments are off.", step
    if verdict.strength == 0 and verdict.small:
        step = "Leave the scores as they are: these rows give no reason to change them."
        return "good", "Yes, as far as these rows can tell.", step
    if verdict.strength == 0:
        step = "Leave the scores as they are for now: these rows show no error, but more rows may."
        return "open", "Perhaps: no error shows, but these rows leave room for one.", step
    if verdict.small:
        step = "Leave the scores as they are: their errors are small, and no method improves on them beyond chance."
        optional = f"Calibrating with {title} is optional: the gain is real but small."
        return "fair", "Nearly: there are errors, but small ones.", optional if verdict.calibrate else step
    mend = f"Calibrate the scores with {title}. The model stays as it is; only its scores change."
    if verdict.strength == 2:
        step = "Do not rely on these probabilities. Gather more rows: so far no method improves on them beyond chance."
        headline = f"No, its probabilities are {'far off' if verdict.large else 'off'}."
        return "bad", headline, mend if verdict.calibrate else step
    step = "Gather more rows before you change anything: so far no method improves the predictions beyond chance."
    return "fair", "Probably not quite.", mend if verdict.calibrate else step


def _segments(data: ReportData) -> list[str]:
    off = data.segments_off("after" if data.calibrate else "before")
    if not off:
        return []
    when = " even after calibration" if data.calibrate else ""
    n_segments = len(data.segments.segments) if data.segments is not None else 0
    every = len(off) == n_segments > 1
    where = f"all {len(off)}" if every else f"{len(off)} of {n_segments}"
    return [f"In {where} segments the probabilities do not fit{when}: {named(off)}."]


def _possible(side: Assessment, words: SimpleNamespace) -> str:
    error = side.error
    most, _ = points_estimate(Interval(error.high, error.low, error.high, error.level))
    # The upper end of a central interval leaves half of the remaining probability above it.
    return (
        f"A calibrated model could well have produced these rows. If there is an error, it is limited: with "
        f"{50 + 50 * error.level:g} % probability a prediction is on average at most {most} percentage "
        f"points away from how often {words.often}{_compared(side, words)}."
    )


def _size(side: Assessment, words: SimpleNamespace) -> str:
    value, ends = points_estimate(side.error)
    return (
        f"On average a predicted probability is about {value} percentage points away from how often {words.often} "
        f"({100 * side.error.level:g} % interval: {ends} points){_compared(side, words)}."
    )


def _compared(side: Assessment, words: SimpleNamespace) -> str:
    """A measure for the error where one class is rare."""
    rate = side.evaluation.base_rate
    rarer = min(rate, 1.0 - rate)
    if 0.0 < rarer < RARE:
        of = f"{words.subject} {words.happens}" if rate < 0.5 else words.fails
        return f"; compare that with how often {of} at all: {percent(rarer)}"
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
        sentences.append(
            f"On the whole the predictions are too {word}: {percent(mean)} predicted, {percent(rate)} {words.past}."
        )
    # Where all are shifted, the low ones, or the high ones, may be wrong the other way round.
    if isinstance(slope, Interval) and slope.high < 1.0:
        sentences.append(f"They are {'also too close to 0 % and 100 %' if shifted else EXTREME}.")
    if isinstance(slope, Interval) and slope.low > 1.0:
        sentences.append(f"They are {'also too far from 0 % and 100 %' if shifted else TIMID}.")
    return sentences


def _after(data: ReportData) -> str:
    error = data.after.error
    value, ends = points_estimate(error)
    text = (
        f"Calibrated with {data.title_of(data.name)} and checked on rows that the fit had not seen, the average error "
        f"is about {value} points ({100 * error.level:g} % interval: {ends})"
    )
    # Of the log-loss by the method shown against the raw score, paired by row.
    results = data.comparison.results if data.comparison.reference == "identity" else ()
    change = next((one.log_loss_difference for one in results if one.name == data.name), None)
    if change is None:
        return text + "."
    if change.high < 0.0:
        return f"{text}, and the predictions as a whole are better by more than chance explains."
    if change.low > 0.0:
        return f"{text}, but the predictions as a whole are worse by more than chance explains."
    return f"{text}; the predictions as a whole are not better beyond chance."


def key_figures(data: ReportData, problem: DecisionProblem | None = None) -> list[KeyFigure]:
    """The figures beside the answer."""
    after, _ = points_estimate(data.after.error)
    error = KeyFigure("Average error after calibration", f"{after} points")
    if data.before is not None:
        before, ends = points_estimate(data.before.error)
        remark = f"{after} points after calibration" if data.calibrate else f"{100 * data.level:g} % interval: {ends}"
        error = KeyFigure("Average error", f"{before} points", remark)
    side, when = (data.before, "before") if data.before is not None else (data.after, "after")
    happened = f"{percent(data.base_rate)} {outcome_of(data.top_label).past}"
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
    steps = [_conclude(data)[2], *_other_method(data), *_segment_step(data)]
    verdict = data.verdict
    if verdict.probabilities and verdict.strength < 2 and not verdict.small:
        steps.append(
            f"Four times as many rows as these {count(data.tally.total)} would about halve the intervals on this page."
        )
    steps.append("Repeat this report on new rows from time to time: calibration drifts when the world does.")
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
    title = data.title_of(comparison.recommended)
    return [f"Consider {title}: its log-loss was {number(behind)} lower than that of {data.title_of(data.name)}."]


def _segment_step(data: ReportData) -> list[str]:
    off = data.segments_off("after" if data.calibrate else "before")
    if off:
        after = data.calibrate
        when = "after calibration the probabilities still do not fit" if after else "the probabilities do not fit"
        mend = "Fit a map for each with SegmentedCalibrator, or give the model what sets them apart."
        return [f"Look into {named(off)}: {when} there. {mend}"]
    repaired = data.segments_off("before")
    return [f"One map for all repairs the segments that were off: {named(repaired)}."] if repaired else []
