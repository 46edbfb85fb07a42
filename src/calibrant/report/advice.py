"""What to do about it: the steps, and what the comparison of methods says."""

from __future__ import annotations

from calibrant.metrics.bootstrap import Interval
from calibrant.report.evidence import (
    behind_best,
    evidence,
    gain,
    improves,
    is_small,
    is_tied,
    one_outcome,
    segments_off,
)
from calibrant.report.study import Study
from calibrant.report.wording import any_of, count, estimate, method_name, named, number, sentence_case

__all__ = ["comparison_result", "next_steps", "worth_calibrating"]

MATERIAL = 0.001  # a share of the log-loss worth a change of method
LEAST = 0.0001


def next_steps(found: Study) -> list[str]:
    """What to do, most important first."""
    comparison, title = found.comparison, method_name(found.name)
    steps = [_first_step(found)]
    behind = behind_best(found)
    if comparison is not None and behind is not None and behind[1] > MATERIAL and not is_tied(found):
        best = method_name(comparison.recommended)
        steps.append(f"Consider {best}: its log-loss was {number(behind[0])} lower than that of {title}.")
    steps += _segment_step(found)
    if found.before is not None and evidence(found) < 2 and not is_small(found.before.error.high, found.base_rate):
        steps.append(f"Four times as many rows as these {count(found.total)} would halve the intervals on this page.")
    steps.append("Repeat this report on new rows from time to time: calibration drifts when the world does.")
    return steps


def worth_calibrating(found: Study) -> bool:
    """Whether calibrating improves on the raw score by more than chance, or the scores are of no use without it."""
    if found.comparison is None:
        return False
    return found.before is None or improves(found)


def _first_step(found: Study) -> str:
    title, proof = method_name(found.name), evidence(found)
    small = found.before is not None and is_small(found.before.error.high, found.base_rate)
    if found.comparison is None and one_outcome(found):
        return "Gather rows of the other outcome as well: while all are alike, no calibration can be judged."
    if found.comparison is None:
        return "Gather more rows, of both outcomes: these are too few to say whether calibrating would help."
    if found.before is None:
        return f"Turn the scores into probabilities with {title}: the code is below. The model stays as it is."
    if worth_calibrating(found):
        if small:
            return f"Calibrating with {title} is optional: the gain is real but small. The code is below."
        return f"Calibrate with {title}: the code is below. The model stays as it is; only its scores change."
    if proof and small:
        return "Leave the scores as they are: their errors are small, and no method improves on them beyond chance."
    if proof == 2:
        return "Do not rely on these probabilities. Gather more rows: so far no method improves on them beyond chance."
    if proof:
        return "Gather more rows before you change anything: so far no method improves the predictions beyond chance."
    if segments_off(found, "before"):
        return "Leave the scores of all rows together as they are, but look into the segments that are off."
    if not small:
        return "Leave the scores as they are for now: these rows show no error, but more rows may."
    return "Leave the scores as they are: these rows give no reason to change them."


def _segment_step(found: Study) -> list[str]:
    calibrate = worth_calibrating(found)
    off = segments_off(found, "after" if calibrate else "before")
    if off:
        when = "after calibration the probabilities still do not fit" if calibrate else "the probabilities do not fit"
        mend = "With enough rows, fit one calibrator for each; or give the model what sets them apart."
        return [f"Look into {named(off)}: {when} there. {mend}"]
    repaired = segments_off(found, "before")
    return [f"One map for all repairs the segments that were off: {named(repaired)}."] if repaired else []


def comparison_result(found: Study) -> str:
    """Which method came out best, how sure that is, and how the method of the page stands to it."""
    comparison = found.comparison
    if comparison is None:
        return ""
    best, reference = comparison.recommended, comparison.reference
    than = "doing nothing" if reference == "identity" else method_name(reference)
    if best == reference:
        methods = sum(r.log_loss_difference is not None for r in comparison.results)
        text = f"None of {methods} methods beats {than} by more than the best of so many would by chance."
        change = gain(found)
        if change is None or change.high >= 0.0:
            return text
        return (
            f"{text} Looked at alone, {method_name(found.name)} is better: its log-loss is {_lower(change, reference)}."
        )
    change = next((r.log_loss_difference for r in comparison.results if r.name == best), None)
    by = f", {_lower(change, reference)}" if change is not None else ""
    text = f"{sentence_case(method_name(best))} has the lowest log-loss{by}."
    if comparison.tied:
        text += f" These rows cannot tell it from {any_of([method_name(name) for name in comparison.tied])}."
    return text + _standing(found)


def _lower(change: Interval, reference: str) -> str:
    than = "without calibration" if reference == "identity" else f"with {method_name(reference)}"
    value, ends = estimate(Interval(-change.value, -change.high, -change.low, change.level))
    return f"{value} lower than {than} ({100 * change.level:g} % confidence interval: {ends})"


def _standing(found: Study) -> str:
    behind = behind_best(found)
    if behind is None:
        return ""
    if is_tied(found):
        return f" This page shows {method_name(found.name)}, one of these."
    by = number(behind[0], 1.0) if behind[0] >= LEAST else f"less than {LEAST}"
    return f" This page shows {method_name(found.name)}, whose log-loss is {by} higher."
