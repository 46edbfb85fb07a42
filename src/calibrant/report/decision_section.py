"""The section on decisions: from which probability to act, what the model is worth there, and what calibrating adds."""

from typing import NamedTuple

import numpy as np

from calibrant import _limits
from calibrant._numerics import links
from calibrant.decisions import DecisionCurve, cost_threshold, decision_curve, value_of_calibration
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.report.data import ReportData
from calibrant.report.figures import decision_figure
from calibrant.report.sections import Cell, Figure, Row, Section, Table
from calibrant.report.wording import estimate, number, percent

PLACES = 81  # thresholds along a curve
TABLE_ROWS = 9
MEANING = (
    "Net benefit is the share of true positives, less the share of false positives times the odds of the threshold. "
    "Probabilities are worth acting on where their curve lies above both grey lines: treating all rows, and treating "
    "none."
)
SPREAD = float(np.log(4.0))  # costs that are known within a factor of four are shown


class DecisionProblem(NamedTuple):
    """The decision to support: the costs of a false positive and a false negative, a range of thresholds, or both.

    Examples
    --------
    >>> from calibrant.report.decision_section import DecisionProblem
    >>> DecisionProblem(costs=(1.0, 9.0)).threshold
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


def decision_section(data: ReportData, problem: DecisionProblem) -> Section:
    """The decision curve before and after calibration, with what follows from it in words.

    Examples
    --------
    >>> from calibrant import compare, simulate
    >>> from calibrant.report.data import make_report_data
    >>> from calibrant.report.decision_section import DecisionProblem, decision_section
    >>> tally = simulate.from_truth("underconfident", 500).tally
    >>> data = make_report_data(tally, comparison=compare(tally, methods=["platt"]), method="platt")
    >>> print(decision_section(data, DecisionProblem(costs=(1.0, 9.0))).sentences[0])
    A false positive costs 1 and a false negative 9, so it pays to act from a probability of 10.0 % on.
    """
    ends, threshold = problem.ends, problem.threshold
    cuts = np.union1d(np.linspace(*ends, PLACES), [threshold])
    curves = {
        name: decision_curve(side.tally, thresholds=cuts, level=data.level, name=f"{name} calibration")
        for name, side in data.assessments.items()
    }
    at = int(np.searchsorted(cuts, threshold))
    sentences = (
        _threshold_sentence(problem),
        *_worth_of_calibrating(data, problem),
        _worth_of_the_model(curves["after"], at),
        MEANING,
    )
    alt = (
        f"Decision curves {' and '.join(curves)} calibration, with treating all rows and none, for thresholds from "
        f"{percent(ends[0])} to {percent(ends[1])}. The values are in the table below the figure."
    )
    caption = "Net benefit; the dotted upright line is the threshold" if problem.costs else "Net benefit"
    svg = decision_figure(alt, curves, threshold if problem.costs else None)
    return Section("decisions", "Decisions", sentences, (Figure(svg, caption, numbers=_table(curves, at)),))


def _threshold_sentence(problem: DecisionProblem) -> str:
    if problem.costs is None:
        low, high = problem.ends
        return f"Decisions are made somewhere between probabilities of {percent(low)} and {percent(high)}."
    cost_fp, cost_fn = problem.costs
    return (
        f"A false positive costs {cost_fp:,g} and a false negative {cost_fn:,g}, so it pays to act from a "
        f"probability of {percent(problem.threshold)} on."
    )


def _worth_of_calibrating(data: ReportData, problem: DecisionProblem) -> tuple[str, ...]:
    """What calibrating first saves: in the unit of the costs, or else in rows rightly acted on for each 1000."""
    if data.before is None:
        return ()
    threshold = problem.threshold
    # Without costs a false negative is the unit, and what is saved is net benefit.
    cost_fp, cost_fn = problem.costs or (threshold / (1.0 - threshold), 1.0)
    rows = data.before.tally.coarsen(_limits.COMPARISON_CELLS)
    worth = value_of_calibration(data.calibrator, rows, cost_fp=cost_fp, cost_fn=cost_fn, level=data.level)
    gain, verb, unit = worth.gain, "saves", "for each row, in the unit of these costs"
    if problem.costs is None:
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
    """How the calibrated probabilities do against acting on all rows and on none, there and elsewhere."""
    rival = "treating all rows" if curve.treat_all[at] > 0.0 else "treating none"
    where, more = percent(float(curve.thresholds[at])), float(curve.advantage[at])
    value, ends = _estimate(curve, at)
    text = f"At a threshold of {where}, the calibrated probabilities have a net benefit of {value} ({ends}), "
    if more <= 0.0:
        return f"{text}no more than that of {rival}: the model does not help to decide there."
    better, shown = int((curve.advantage > 0.0).sum()), len(curve.thresholds)
    range_shown = "over the whole range shown" if better == shown else f"at {better} of the {shown} thresholds shown"
    return f"{text}{number(more)} more than that of {rival}. They beat both strategies without a model {range_shown}."


def _table(curves: dict[str, DecisionCurve], at: int) -> Table:
    after = curves["after"]
    places = np.union1d(np.linspace(0, len(after.thresholds) - 1, TABLE_ROWS).round().astype(int), [at])
    rows: list[Row] = []
    for place in places:
        cells = [Cell(*_estimate(curve, place)) for curve in curves.values()]
        rows.append((percent(float(after.thresholds[place])), *cells, number(float(after.treat_all[place]))))
    head = ("Threshold", *(f"{name.capitalize()} calibration" for name in curves), "Treating all")
    return Table("Net benefit; that of treating none is 0", head, tuple(rows), folded=True)


def _estimate(curve: DecisionCurve, place: int) -> tuple[str, str]:
    return estimate(Interval(curve.net_benefit[place], curve.low[place], curve.high[place], curve.level))
