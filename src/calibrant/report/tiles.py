"""The three figures beside the answer: the error, what was predicted and what happened, and the method."""

from dataclasses import dataclass

from calibrant.reliability import binned_points
from calibrant.report.study import Side, Study
from calibrant.report.wording import outcome_of, percent, points_estimate, sentence_case


@dataclass(frozen=True)
class Tile:
    """A figure with what it is above it, and a remark below it."""

    label: str
    value: str
    remark: str = ""


def make_tiles(study: Study) -> list[Tile]:
    """The tiles of a page; rows of one outcome have no error after calibration, and no method."""
    if study.one_outcome:
        return [_predicted(study)] if study.before is not None else []
    return [_error(study), _predicted(study), _method(study)]


def mean_prediction(side: Side) -> float:
    """The mean of all probabilities."""
    return float(binned_points(side.tally, n_bins=1)["mean_score"][0])


def _error(study: Study) -> Tile:
    after, _ = points_estimate(study.after.error)
    if study.before is None:
        return Tile("Average error after calibration", f"{after} points")
    before, ends = points_estimate(study.before.error)
    if study.calibrate:
        return Tile("Average error", f"{before} → {after} points", "before → after calibration")
    return Tile("Average error", f"{before} points", f"{100 * study.level:g} % interval: {ends}")


def _predicted(study: Study) -> Tile:
    words = outcome_of(study.top_label)
    side, when = (study.before, "before") if study.before is not None else (study.after, "after")
    value = f"{percent(mean_prediction(side))} → {percent(study.base_rate)}"
    return Tile(f"Predicted → {words.past}", value, f"mean of all rows, {when} calibration")


def _method(study: Study) -> Tile:
    if study.comparison is None:
        return Tile("Method", "None yet", "too few rows to compare methods")
    if not study.calibrate:
        open_question = study.verdict.strength and not study.verdict.small
        return Tile("Method", "None yet" if open_question else "None needed", "none is better beyond chance")
    remark = "checked on rows that it had not seen" if study.unseen else "not checked: too few rows"
    return Tile("Method", sentence_case(study.title_of(study.name)), remark)
