"""What the numbers mean, in plain words that say how certain they are."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant.metrics.bootstrap import Interval
from calibrant.reliability import binned_points
from calibrant.report.study import Side, Study
from calibrant.report.wording import count, estimate, method_name, number, percent, points, points_range

__all__ = ["Verdict", "behind_best", "judge", "next_steps", "worth_calibrating"]

CLEAR, SOME = 0.001, 0.05  # p-values of Kuiper's test
SMALL_POINTS, SMALL_SHARE = 0.01, 0.1  # an average error below both is small
RARE = 0.05
MATERIAL = 0.001  # a share of the log-loss worth a change of method
MOST_NAMED = 5


@dataclass(frozen=True)
class Verdict:
    """An answer and its reasons; `tone` is "good", "fair", "bad" or "open"."""

    tone: str
    answer: str
    sentences: tuple[str, ...]


def judge(found: Study) -> Verdict:
    """Whether the model is calibrated, and whether calibrating it helps."""
    if found.before is None:
        sentences = ("Some scores lie outside 0 to 1, so they rank the rows but cannot be read as probabilities.",)
        return Verdict("open", "These scores are not probabilities yet.", (*sentences, _after(found)))
    tone, answer = _answer(found.before, found)
    if evidence(found) == 0:
        return Verdict(tone, answer, (_possible(found.before), _after(found)))
    return Verdict(tone, answer, (_size(found.before), *_direction(found.before), _after(found)))


def evidence(found: Study) -> int:
    """0 none, 1 some, 2 clear: from Kuiper's test, and from whether any method improves on the raw score."""
    side = found.before
    if side is None:
        return 0
    p_value = side.evaluation["kuiper_p_value"] if _has(side, "kuiper_p_value") else 1.0
    improved = found.comparison is not None and found.comparison.recommended != "identity"
    if p_value < CLEAR or (p_value < SOME and improved):
        return 2
    return int(p_value < SOME or improved)


def is_small(error: float, base_rate: float) -> bool:
    """Whether an average error would hardly matter: under a point and under a tenth of the rarer class."""
    return error < SMALL_POINTS and error < SMALL_SHARE * min(base_rate, 1.0 - base_rate)


def _answer(side: Side, found: Study) -> tuple[str, str]:
    proof, error = evidence(found), side.error
    if proof == 0:
        if is_small(error.high, found.base_rate):
            return "good", "Yes, as far as these rows can tell."
        return "open", "No error shows, but these rows leave room for one."
    if is_small(error.high, found.base_rate):
        return "fair", "Nearly: there are errors, but small ones."
    return ("bad", "No, its probabilities are off.") if proof == 2 else ("fair", "Probably not quite.")


def _possible(side: Side) -> str:
    error = side.error
    # The upper end of a central interval leaves half of the remaining probability above it.
    return (
        f"A calibrated model could well have produced these rows. If there is an error, it is limited: with "
        f"{50 + 50 * error.level:g} % probability a prediction is on average at most {points(error.high)} percentage "
        f"points away from how often the event really happens{_compared(side)}."
    )


def _size(side: Side) -> str:
    error = side.error
    return (
        f"On average a predicted probability is about {points(error.value)} percentage points away from how often the "
        f"event really happens ({100 * error.level:g} % credible interval: {points_range(error)} points)"
        f"{_compared(side)}."
    )


def _compared(side: Side) -> str:
    """A measure for the error where one class is rare."""
    rate = side.evaluation.base_rate
    rarer = min(rate, 1.0 - rate)
    if 0.0 < rarer < RARE:
        of = "the event happens" if rate < 0.5 else "it fails to happen"
        return f"; compare that with how often {of} at all: {percent(rarer)}"
    return ""


def _direction(side: Side) -> list[str]:
    found = []
    mean, rate = _mean(side), side.evaluation.base_rate
    if _has(side, "intercept"):
        line: Interval = side.evaluation["intercept"]
        if line.high < 0.0 or line.low > 0.0:
            word = "high" if mean > rate else "low"
            found.append(
                f"On the whole the predictions are too {word}: {percent(mean)} predicted, {percent(rate)} happened."
            )
    if _has(side, "slope"):
        line = side.evaluation["slope"]
        if line.high < 1.0:
            found.append("They are too extreme: high ones should be lower and low ones higher.")
        if line.low > 1.0:
            found.append("They are too timid: high ones should be higher and low ones lower.")
    return found


def _after(found: Study) -> str:
    error = found.after.error
    title = method_name(found.name)
    how = "and checked on rows that the fit had not seen" if found.unseen else "and looked at on the same rows"
    text = (
        f"Calibrated with {title} {how}, the average error is about "
        f"{points(error.value)} points ({100 * error.level:g} % credible interval: {points_range(error)})"
    )
    if not found.unseen:
        return f"{text}. On new rows it will be larger: these are too few to hold some back for a check."
    gain = _gain(found)
    if gain is None:
        return text + "."
    if gain.high < 0.0:
        value, ends = estimate(Interval(-gain.value, -gain.high, -gain.low, gain.level))
        share = f" or {100 * -gain.value / raw:.2g} %" if (raw := _raw(found)) > 0.0 else ""
        return f"{text}, and the log-loss falls by {value}{share} ({100 * gain.level:g} % confidence interval: {ends})."
    if gain.low > 0.0:
        value, ends = estimate(gain)
        return f"{text}, but the log-loss rises by {value} ({ends}): leave the scores as they are."
    return f"{text}; the log-loss shows no difference beyond chance."


def _gain(found: Study) -> Interval | None:
    """The change of the log-loss against the raw score, paired by row."""
    if found.comparison is None or found.comparison.reference != "identity":
        return None
    return next((r.log_loss_difference for r in found.comparison.results if r.name == found.name), None)


def _raw(found: Study) -> float:
    return float(found.before.evaluation["log_loss"].value) if found.before is not None else 0.0


def next_steps(found: Study) -> list[str]:
    """What to do, most important first."""
    comparison, title = found.comparison, method_name(found.name)
    off_before = [s.name for s in found.segments if s.before is not None and s.before.off]
    off_after = [s.name for s in found.segments if s.after is not None and s.after.off]
    steps = [_first_step(found)]
    behind = behind_best(found)
    if comparison is not None and behind is not None and behind[1] > MATERIAL and not _tied(found):
        best = method_name(comparison.recommended)
        steps.append(f"Consider {best}: its log-loss was {number(behind[0])} lower than that of {title}.")
    if off_after:
        steps.append(
            f"Look into {_listed(off_after)}: after calibration the probabilities still do not fit there. With enough "
            "rows, fit one calibrator for each; or give the model what sets them apart."
        )
    elif off_before:
        steps.append(f"One map for all repairs the segments that were off: {_listed(off_before)}.")
    if found.before is not None and evidence(found) < 2 and not is_small(found.before.error.high, found.base_rate):
        steps.append(f"Four times as many rows as these {count(found.total)} would halve the intervals on this page.")
    steps.append("Repeat this report on new rows from time to time: calibration drifts when the world does.")
    return steps


def worth_calibrating(found: Study) -> bool:
    """Whether some method improves on the raw score by more than chance, or the scores are of no use without one."""
    if found.comparison is None:
        return False
    return found.before is None or found.comparison.recommended != "identity"


def _first_step(found: Study) -> str:
    title, proof = method_name(found.name), evidence(found)
    small = found.before is not None and is_small(found.before.error.high, found.base_rate)
    if found.comparison is None and found.base_rate in (0.0, 1.0):
        return "Gather rows of the other outcome, too: while all rows have the same, no calibration can be judged."
    if found.comparison is None:
        return "Gather more rows, of both outcomes: these are too few to say whether calibrating would help."
    if worth_calibrating(found):
        if small:
            return f"Calibrating with {title} is optional: the gain is real but small. The code is below."
        return f"Calibrate with {title}: the code is below. Keep the model as it is; only its scores change."
    if proof and small:
        return "Leave the scores as they are: their errors are small, and no method improves on them beyond chance."
    if proof:
        return "Gather more rows before you change anything: so far no method improves the predictions beyond chance."
    return "Leave the scores as they are: these rows give no reason to change them."


def behind_best(found: Study) -> tuple[float, float] | None:
    """How much higher the log-loss of the method shown is than that of the recommended one, and as a share of it."""
    comparison = found.comparison
    if comparison is None or comparison.recommended in ("identity", found.name):
        return None
    losses = {r.name: r.log_loss.value for r in comparison.results if r.log_loss is not None}
    if found.name not in losses or losses[comparison.recommended] <= 0.0:
        return None
    difference = losses[found.name] - losses[comparison.recommended]
    return difference, difference / losses[comparison.recommended]


def _tied(found: Study) -> bool:
    """Whether these rows cannot tell the method shown from the recommended one."""
    return found.comparison is not None and found.name in found.comparison.tied


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:MOST_NAMED])
    return shown if len(names) <= MOST_NAMED else f"{shown} and {len(names) - MOST_NAMED} more"


def _mean(side: Side) -> float:
    return float(binned_points(side.tally, n_bins=1)["mean_score"][0])


def _has(side: Side, key: str) -> bool:
    return any(row.key == key and row.estimates[0] is not None for row in side.evaluation.rows)
