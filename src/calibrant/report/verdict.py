"""What the numbers mean, in plain words that say how certain they are."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant.metrics.bootstrap import Interval
from calibrant.reliability import binned_points
from calibrant.report.advice import worth_calibrating
from calibrant.report.evidence import evidence, gain, has, is_large, is_small, one_outcome, segments_off
from calibrant.report.outcome import Outcome, outcome_of
from calibrant.report.study import Side, Study
from calibrant.report.wording import count, estimate, method_title, named, percent, points_estimate

__all__ = ["Verdict", "judge"]

RARE = 0.05
NOTABLE = 0.25  # a share of the average error
HARDLY = 0.001  # a share of the log-loss
EXTREME = "too extreme: high ones should be lower and low ones higher"
TIMID = "too timid: high ones should be higher and low ones lower"


@dataclass(frozen=True)
class Verdict:
    """An answer and its reasons; `tone` is "good", "fair", "bad" or "open"."""

    tone: str
    answer: str
    sentences: tuple[str, ...]


def judge(found: Study) -> Verdict:
    """Whether the model is calibrated, and whether calibrating it helps."""
    if found.before is None:
        sentences = ["Some scores lie outside 0 to 1, so they rank the rows but cannot be read as probabilities."]
        answer = ("open", "These scores are not probabilities yet.")
    elif one_outcome(found):
        return Verdict(*_answer(found.before, found), _alike(found.before, found))
    else:
        answer = _answer(found.before, found)
        sentences = _reasons(found.before, found)
    if worth_calibrating(found):
        return Verdict(*answer, (*sentences, _after(found), *_segments(found)))
    return Verdict(*answer, (*sentences, *_segments(found), _after(found)))


def _reasons(side: Side, found: Study) -> list[str]:
    words = outcome_of(found.top_label)
    return [_size(side, words), *_direction(side, words)] if evidence(found) else [_possible(side, words)]


def _answer(side: Side, found: Study) -> tuple[str, str]:
    proof, small = evidence(found), is_small(side.error.high, found.base_rate)
    if proof == 0 and one_outcome(found):
        return "open", "These rows cannot tell."
    if proof == 0 and segments_off(found, "before"):
        return "fair", "On the whole no error shows, but some segments are off."
    if proof == 0:
        sure = ("good", "Yes, as far as these rows can tell.")
        return sure if small else ("open", "Perhaps: no error shows, but these rows leave room for one.")
    if small:
        return "fair", "Nearly: there are errors, but small ones."
    if proof == 2:
        return "bad", f"No, its probabilities are {'far off' if is_large(side.error.low) else 'off'}."
    return "fair", "Probably not quite."


def _alike(side: Side, found: Study) -> tuple[str, ...]:
    words = outcome_of(found.top_label)
    often = "never" if found.base_rate == 0.0 else "always"
    how = f"{words.subject} was {often} right" if found.top_label else f"{words.subject} {often} {words.happened}"
    mean = percent(_mean(side))
    same = f"All {count(found.total)} rows turned out the same: {how}, while on average {mean} was predicted."
    return same, "What calibrating would bring cannot be judged from one outcome."


def _segments(found: Study) -> list[str]:
    calibrate = worth_calibrating(found)
    off = segments_off(found, "after" if calibrate else "before")
    if not off:
        return []
    when = " even after calibration" if calibrate else ""
    every = len(off) == len(found.segments) > 1
    where = f"all {len(off)}" if every else f"{len(off)} of {len(found.segments)}"
    return [f"In {where} segments the probabilities do not fit{when}: {named(off)}."]


def _possible(side: Side, words: Outcome) -> str:
    error = side.error
    most, _ = points_estimate(Interval(error.high, error.low, error.high, error.level))
    # The upper end of a central interval leaves half of the remaining probability above it.
    return (
        f"A calibrated model could well have produced these rows. If there is an error, it is limited: with "
        f"{50 + 50 * error.level:g} % probability a prediction is on average at most {most} percentage "
        f"points away from how often {words.often}{_compared(side, words)}."
    )


def _size(side: Side, words: Outcome) -> str:
    value, ends = points_estimate(side.error)
    return (
        f"On average a predicted probability is about {value} percentage points away from how often {words.often} "
        f"({100 * side.error.level:g} % credible interval: {ends} points){_compared(side, words)}."
    )


def _compared(side: Side, words: Outcome) -> str:
    """A measure for the error where one class is rare."""
    rate = side.evaluation.base_rate
    rarer = min(rate, 1.0 - rate)
    if 0.0 < rarer < RARE:
        of = f"{words.subject} {words.happens}" if rate < 0.5 else words.fails
        return f"; compare that with how often {of} at all: {percent(rarer)}"
    return ""


def _direction(side: Side, words: Outcome) -> list[str]:
    found = []
    mean, rate = _mean(side), side.evaluation.base_rate
    if has(side, "intercept"):
        line: Interval = side.evaluation["intercept"]
        certain = line.high < 0.0 or line.low > 0.0
        if certain and abs(mean - rate) > NOTABLE * side.error.value:
            word = "high" if mean > rate else "low"
            found.append(
                f"On the whole the predictions are too {word}: {percent(mean)} predicted, {percent(rate)} {words.past}."
            )
    if has(side, "slope"):
        line = side.evaluation["slope"]
        shifted = bool(found)  # then the low ones, or the high ones, may be wrong the other way round
        if line.high < 1.0:
            how = "also too extreme: spread too wide" if shifted else EXTREME
            found.append(f"They are {how}.")
        if line.low > 1.0:
            how = "also too timid: spread too narrowly" if shifted else TIMID
            found.append(f"They are {how}.")
    return found


def _after(found: Study) -> str:
    error = found.after.error
    value, ends = points_estimate(error)
    how = "and checked on rows that the fit had not seen" if found.unseen else "and looked at on the same rows"
    text = (
        f"Calibrated with {method_title(found.name)} {how}, the average error is about {value} points "
        f"({100 * error.level:g} % credible interval: {ends})"
    )
    if not found.unseen:
        return f"{text}. On new rows it will be larger: these are too few to hold some back for a check."
    change = gain(found)
    if change is None:
        return text + "."
    percents = f"{100 * change.level:g} % confidence interval"
    if change.high < 0.0:
        value, ends = estimate(Interval(-change.value, -change.high, -change.low, change.level))
        share = f" or {100 * -change.value / raw:.2g} %" if (raw := _raw(found)) > 0.0 else ""
        return f"{text}, and the log-loss falls by {value}{share} ({percents}: {ends})."
    if max(-change.low, change.high) < HARDLY * _raw(found):
        return f"{text}; the log-loss hardly changes."
    if change.low > 0.0:
        value, ends = estimate(change)
        return f"{text}, but the log-loss rises by {value} ({percents}: {ends})."
    return f"{text}; the log-loss shows no difference beyond chance."


def _raw(found: Study) -> float:
    return float(found.before.evaluation["log_loss"].value) if found.before is not None else 0.0


def _mean(side: Side) -> float:
    return float(binned_points(side.tally, n_bins=1)["mean_score"][0])
