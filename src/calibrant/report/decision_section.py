"""The section on decisions: from which probability to act, what the model is worth there, and what calibrating adds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calibrant import _limits
from calibrant._numerics import links
from calibrant.decisions import DecisionCurve, cost_threshold, decision_curve, value_of_calibration
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.report.decision_figure import decision_figure
from calibrant.report.section import Section, SectionFigure, SectionTable
from calibrant.report.study import Study
from calibrant.report.wording import estimate, number, percent

__all__ = ["Question", "decision_section"]

PLACES = 81  # thresholds along a curve
TABLE_ROWS = 9
MEANING = (
    "Net benefit is the share of rows that are rightly acted on, less the share acted on in vain at the price that the "
    "threshold implies. Probabilities are worth acting on where their curve lies above the dashed line, acting on all "
    "rows, and above the dotted one, acting on none."
)
SPREAD = float(np.log(4.0))  # costs that are known within a factor of four are shown


class Question(NamedTuple):
    """What the reader decides: the costs of both mistakes, a range of thresholds, or both.

    Examples
    --------
    >>> from calibrant.report.decision_section import Question
    >>> Question(costs=(1.0, 9.0)).threshold
    0.1
    """

    costs: tuple[float, float] | None = None
    thresholds: tuple[float, float] | None = None

    @property
    def threshold(self) -> float:
        """The threshold that the costs imply, or the middle of the range."""
        if self.costs is not None:
            return cost_threshold(*self.costs)
        low, high = self.ends
        return 0.5 * (low + high)

    @property
    def ends(self) -> tuple[float, float]:
        """The thresholds to show: as given, or those of costs that are four times smaller and larger."""
        if self.thresholds is None:
            middle = float(links.logit(np.array(self.threshold)))
            low, high = links.expit(np.array([middle - SPREAD, middle + SPREAD]))
            return float(low), float(high)
        low, high = self.thresholds
        if not 0.0 < low < high < 1.0:
            raise InvalidInputError(
                f"`thresholds` must be two shares between 0 and 1, the lower first; got {low}, {high}."
            )
        return low, high


def decision_section(study: Study, question: Question) -> Section:
    """The decision curve before and after calibration, with what follows from it in words.

    Examples
    --------
    >>> from calibrant import compare, simulate
    >>> from calibrant.report.decision_section import Question, decision_section
    >>> from calibrant.report.study import make_study
    >>> tally = simulate.from_truth("underconfident", 500).tally
    >>> study = make_study(tally, comparison=compare(tally, methods=["platt"]), method="platt")
    >>> print(decision_section(study, Question(costs=(1.0, 9.0))).sentences[0])
    Acting in vain costs 1, not acting where it was needed costs 9: it pays to act from a probability of 10.0 % on.
    """
    ends, threshold = question.ends, question.threshold
    cuts = np.union1d(np.linspace(*ends, PLACES), [threshold])
    sides = {"before": study.before, "after": study.after}
    curves = {
        name: decision_curve(side.tally, thresholds=cuts, level=study.level, name=name)
        for name, side in sides.items()
        if side is not None
    }
    at = int(np.searchsorted(cuts, threshold))
    sentences = (
        _threshold_sentence(question),
        *_worth_of_calibrating(study, question),
        _worth_of_the_model(curves["after"], at),
        MEANING,
    )
    alt = (
        f"Decision curves {' and '.join(curves)} calibration, with acting on all rows and on none, for thresholds from "
        f"{percent(ends[0])} to {percent(ends[1])}. The values are in the table below the figure."
    )
    upright = "; the upright line is the threshold" if question.costs else ""
    caption = f"Net benefit with {100 * study.level:g} % intervals{upright}"
    legend = tuple((name, f"{name} calibration") for name in curves)
    figure = SectionFigure(decision_figure(curves, threshold if question.costs else None), alt, caption, legend=legend)
    return Section("decisions", "Decisions", sentences, (figure,), (_table(curves, at),))


def _threshold_sentence(question: Question) -> str:
    if question.costs is None:
        low, high = question.ends
        return f"Decisions are made somewhere between probabilities of {percent(low)} and {percent(high)}."
    in_vain, missed = question.costs
    return (
        f"Acting in vain costs {in_vain:,g}, not acting where it was needed costs {missed:,g}: it pays to act from a "
        f"probability of {percent(question.threshold)} on."
    )


def _worth_of_calibrating(study: Study, question: Question) -> tuple[str, ...]:
    """What calibrating first saves: in the unit of the costs, or else in rows rightly acted on for each 1000."""
    if study.before is None or not study.unseen:
        return ()
    threshold = question.threshold
    # Without costs a missed row is the unit, and what is saved is net benefit.
    in_vain, missed = question.costs or (threshold / (1.0 - threshold), 1.0)
    rows = study.before.tally.coarsen(_limits.COMPARISON_CELLS)
    worth = value_of_calibration(study.calibrator, rows, cost_fp=in_vain, cost_fn=missed, level=study.level)
    gain, verb, unit = worth.gain, "saves", "for each row, in the unit of these costs"
    if question.costs is None:
        gain = Interval(1000.0 * gain.value, 1000.0 * gain.low, 1000.0 * gain.high, gain.level)
        verb, unit = "is worth", f"true positives in 1000 rows, acting from {percent(threshold)} on"
    if not worth.changed:
        return (f"From {percent(threshold)} on, calibrating first changes no decision.",)
    value, ends = estimate(gain)
    facts = f"({100 * gain.level:g} % interval {ends}); {percent(worth.changed)} of the rows are decided differently."
    if gain.low <= 0.0 <= gain.high:
        return (f"These rows cannot tell whether calibrating first pays: the gain is {value} {unit} {facts}",)
    if gain.high < 0.0:
        return (f"Calibrating first does harm: the gain is {value} {unit} {facts}",)
    return (f"Calibrating first {verb} {value} {unit} {facts}",)


def _worth_of_the_model(curve: DecisionCurve, at: int) -> str:
    """How the calibrated probabilities do against acting on all rows and on none."""
    rival = "acting on all rows" if curve.treat_all[at] > 0.0 else "acting on none"
    where, more = percent(float(curve.thresholds[at])), float(curve.advantage[at])
    text = f"From {where} on, the calibrated probabilities have a net benefit of {_cell(curve, at)}, "
    if more <= 0.0:
        return f"{text}no more than that of {rival}: the model does not help to decide there."
    return f"{text}{number(more)} more than that of {rival}. {_range_sentence(curve)}"


def _range_sentence(curve: DecisionCurve) -> str:
    """Where the curve lies above both strategies that need no model."""
    better = np.flatnonzero(curve.advantage > 0.0)
    if len(better) == len(curve.thresholds):
        return "It is above both strategies that need no model over the whole range shown."
    if (np.diff(better) == 1).all():
        low, high = (percent(float(curve.thresholds[place])) for place in (better[0], better[-1]))
        return f"It is above both strategies that need no model from {low} to {high}."
    return f"It is above both strategies that need no model at {len(better)} of {len(curve.thresholds)} thresholds."


def _table(curves: dict[str, DecisionCurve], at: int) -> SectionTable:
    after = curves["after"]
    places = np.union1d(np.linspace(0, len(after.thresholds) - 1, TABLE_ROWS).round().astype(int), [at])
    rows = []
    for place in places:
        cells = [_cell(curve, place) for curve in curves.values()]
        rows.append((percent(float(after.thresholds[place])), *cells, number(float(after.treat_all[place]))))
    head = ("Threshold", *(f"{name.capitalize()} calibration" for name in curves), "Acting on all")
    return SectionTable("Net benefit; acting on none has 0", head, tuple(rows), folded=True)


def _cell(curve: DecisionCurve, place: int) -> str:
    value, ends = estimate(Interval(curve.net_benefit[place], curve.low[place], curve.high[place], curve.level))
    return f"{value} ({ends})"
