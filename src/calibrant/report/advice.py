"""Advice: the next steps, and the result of the comparison of methods in words."""

from calibrant.report.data import ReportData
from calibrant.report.wording import any_of, count, estimate, named, number, sentence_case

MATERIAL = 0.001  # a share of the log-loss worth a change of method


def next_steps(data: ReportData) -> list[str]:
    """The steps to take, most important first."""
    steps = [_first_step(data), *_other_method(data), *_segment_step(data)]
    verdict = data.verdict
    if verdict.probabilities and verdict.strength < 2 and not verdict.small:
        steps.append(
            f"Four times as many rows as these {count(data.tally.total)} would about halve the intervals on this page."
        )
    steps.append("Repeat this report on new rows from time to time: calibration drifts when the world does.")
    return steps


def _first_step(data: ReportData) -> str:
    verdict, title = data.verdict, data.title_of(data.name)
    if not verdict.probabilities:
        return f"Turn the scores into probabilities with {title}. The model stays as it is."
    if verdict.calibrate and verdict.small:
        return f"Calibrating with {title} is optional: the gain is real but small."
    if verdict.calibrate:
        return f"Calibrate the scores with {title}. The model stays as it is; only its scores change."
    if verdict.strength and verdict.small:
        return "Leave the scores as they are: their errors are small, and no method improves on them beyond chance."
    if verdict.strength == 2:
        return "Do not rely on these probabilities. Gather more rows: so far no method improves on them beyond chance."
    if verdict.strength:
        return "Gather more rows before you change anything: so far no method improves the predictions beyond chance."
    if data.segments_off("before"):
        return "Leave the scores of all rows together as they are, but look into the segments that are off."
    if not verdict.small:
        return "Leave the scores as they are for now: these rows show no error, but more rows may."
    return "Leave the scores as they are: these rows give no reason to change them."


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


def comparison_result(data: ReportData) -> str:
    """The recommended method, and how sure that is."""
    comparison = data.comparison
    best, reference = comparison[comparison.recommended], comparison.reference
    change = best.log_loss_difference
    if change is None:
        than = "doing nothing" if reference == "identity" else data.title_of(reference)
        methods = sum(one.log_loss_difference is not None for one in comparison.results)
        return f"None of {methods} methods beats {than} by more than the best of so many would by chance."
    than = "without calibration" if reference == "identity" else f"with {data.title_of(reference)}"
    value, ends = estimate(-change)
    interval = f"{100 * change.level:g} % confidence interval: {ends}"
    title = sentence_case(data.title_of(best.name))
    text = f"{title} is recommended: its log-loss is {value} lower than {than} ({interval})."
    if comparison.tied:
        text += f" These rows cannot tell it from {any_of([data.title_of(name) for name in comparison.tied])}."
    return text
