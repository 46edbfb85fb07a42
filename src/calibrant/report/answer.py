"""The answer of the page, in plain words that say how certain it is."""

from dataclasses import dataclass

from calibrant.intervals import Interval
from calibrant.report.study import Side, Study
from calibrant.report.tables import value_of
from calibrant.report.tiles import mean_prediction
from calibrant.report.wording import Outcome, count, named, outcome_of, percent, points_estimate

RARE = 0.05
NOTABLE = 0.25  # a share of the average error
HARDLY = 0.001  # a share of the log-loss
EXTREME = "too close to 0 % and 100 %: high ones should be lower and low ones higher"
TIMID = "too far from 0 % and 100 %: high ones should be higher and low ones lower"


@dataclass(frozen=True)
class Answer:
    """A headline and its reasons; `tone` is "good", "fair", "bad" or "open"."""

    tone: str
    headline: str
    sentences: tuple[str, ...]


def answer(study: Study) -> Answer:
    """Answer whether the model is calibrated, and whether calibrating it helps."""
    side, words = study.before, outcome_of(study.top_label)
    if side is None:
        sentences = ["Some scores lie outside 0 to 1, so they rank the rows but cannot be read as probabilities."]
    elif study.one_outcome:
        return Answer(*_headline(study), _alike(side, study))
    elif study.verdict.strength:
        sentences = [_size(side, words), *_direction(side, words)]
    else:
        sentences = [_possible(side, words)]
    rest = [_after(study), *_segments(study)] if study.calibrate else [*_segments(study), _after(study)]
    return Answer(*_headline(study), (*sentences, *rest))


def _headline(study: Study) -> tuple[str, str]:
    """The tone and the headline, from the verdict alone, but for segments that it does not see."""
    verdict = study.verdict
    if not verdict.probabilities:
        return "open", "These scores are not probabilities yet."
    if study.one_outcome:
        off = "Not on these rows" if verdict.strength else "These rows cannot tell"
        return ("fair" if verdict.strength else "open"), f"{off}: all of them turned out the same."
    if verdict.strength == 0 and study.segments_off("before"):
        return "fair", "On the whole no error shows, but some segments are off."
    if verdict.strength == 0:
        sure = ("good", "Yes, as far as these rows can tell.")
        return sure if verdict.small else ("open", "Perhaps: no error shows, but these rows leave room for one.")
    if verdict.small:
        return "fair", "Nearly: there are errors, but small ones."
    if verdict.strength == 2:
        return "bad", f"No, its probabilities are {'far off' if verdict.large else 'off'}."
    return "fair", "Probably not quite."


def _alike(side: Side, study: Study) -> tuple[str, ...]:
    words = outcome_of(study.top_label)
    often = "never" if study.base_rate == 0.0 else "always"
    how = f"{words.subject} was {often} right" if study.top_label else f"{words.subject} {often} {words.happened}"
    mean = percent(mean_prediction(side))
    chance = ", more than chance explains" if study.verdict.strength else ", which may be chance"
    same = f"In all {count(study.total)} rows {how}, while on average {mean} was predicted{chance}."
    return same, "Rows of one outcome cannot show how to repair that: no method can be fitted and compared."


def _segments(study: Study) -> list[str]:
    off = study.segments_off("after" if study.calibrate else "before")
    if not off:
        return []
    when = " even after calibration" if study.calibrate else ""
    every = len(off) == len(study.segments) > 1
    where = f"all {len(off)}" if every else f"{len(off)} of {len(study.segments)}"
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
        f"({100 * side.error.level:g} % interval: {ends} points){_compared(side, words)}."
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
    """Sentences on predictions that are too high or low as a whole, and too extreme or timid."""
    sentences = []
    mean, rate = mean_prediction(side), side.evaluation.base_rate
    intercept, slope = (value_of(side.evaluation, key) for key in ("intercept", "slope"))
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


def _change(study: Study) -> Interval | None:
    """The change of the log-loss by the method shown against the raw score, paired by row."""
    if study.comparison is None or study.comparison.reference != "identity":
        return None
    return next((r.log_loss_difference for r in study.comparison.results if r.name == study.name), None)


def _after(study: Study) -> str:
    error = study.after.error
    value, ends = points_estimate(error)
    how = "and checked on rows that the fit had not seen" if study.unseen else "and looked at on the same rows"
    text = (
        f"Calibrated with {study.title_of(study.name)} {how}, the average error is about {value} points "
        f"({100 * error.level:g} % interval: {ends})"
    )
    if not study.unseen:
        return f"{text}. On new rows it will be larger: these are too few to hold some back for a check."
    change = _change(study)
    if change is None:
        return text + "."
    if change.high < 0.0:
        return f"{text}, and the predictions as a whole are better by more than chance explains."
    if max(-change.low, change.high) < HARDLY * _raw(study):
        return f"{text}; the predictions as a whole hardly change."
    if change.low > 0.0:
        return f"{text}, but the predictions as a whole are worse by more than chance explains."
    return f"{text}; the predictions as a whole are not better beyond chance."


def _raw(study: Study) -> float:
    if study.comparison is not None and study.comparison.n_classes > 2:  # whose log-loss is of all classes
        raw = study.comparison[study.comparison.reference].log_loss
        return 0.0 if raw is None else raw.value
    return float(study.before.evaluation["log_loss"].value) if study.before is not None else 0.0
