"""Sections on what is done with probabilities: decisions, a gate for rows to accept, and rows without labels."""

from typing import NamedTuple

import numpy as np

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike
from calibrant.calibrators import registry
from calibrant.comparison.candidates import create
from calibrant.decisions import Acceptance, DecisionCurve, acceptance, cost_threshold, decision_curve
from calibrant.decisions.value import value_of_predictions
from calibrant.displays import AcceptanceDisplay
from calibrant.errors import InvalidInputError
from calibrant.estimates import QUANTITIES, Estimate, estimate_several
from calibrant.intervals import Interval
from calibrant.report.data import ReportData
from calibrant.report.figures import decision_figure, open_figure, to_svg
from calibrant.report.sections import Cell, Figure, Row, Section, Table
from calibrant.report.texts import say
from calibrant.report.wording import count, estimate, number, percent, sentence_case
from calibrant.tally import Tally, row_count

PLACES = 81  # thresholds along a curve
TABLE_ROWS = 9
GUARANTEES = {"finite_sample": "Without a model of the truth", "posterior": "By the posterior"}
SHARES = ("mean", "accuracy", "precision", "recall", "specificity", "f1", "auc")
HALF = 0.5  # rows without labels are called positive from this probability on
SPREAD = float(np.log(4.0))  # costs that are known within a factor of four are shown


class DecisionProblem(NamedTuple):
    """The decision to support: the costs of a false positive and a false negative, a range of thresholds, or both.

    Examples
    --------
    >>> from calibrant.report.decision_sections import DecisionProblem
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
    >>> from calibrant.report.decision_sections import DecisionProblem, decision_section
    >>> tally = simulate.from_truth("underconfident", 500).tally
    >>> data = make_report_data(tally, comparison=compare(tally, methods=["platt"]), method="platt")
    >>> print(decision_section(data, DecisionProblem(costs=(1.0, 9.0))).sentences[0])
    A false positive costs 1 and a false negative 9, so it pays to act from a probability of 10.0 % on.
    """
    ends, threshold = problem.ends, problem.threshold
    places = np.linspace(*ends, PLACES)
    cuts = np.union1d(places[~np.isclose(places, threshold)], [threshold])  # the middle of a range is one of the places
    curves = {
        name: decision_curve(side.sample, thresholds=cuts, level=data.level, name=f"{name} calibration")
        for name, side in data.assessments.items()
    }
    at = int(np.searchsorted(cuts, threshold))
    sentences = (
        _threshold_sentence(problem),
        *_worth_of_calibrating(data, problem),
        _worth_of_the_model(curves["after"], at),
        say("decisions", "meaning"),
    )
    low, high = map(percent, ends)
    alt = say("decisions", "alt", sides=" and ".join(curves), low=low, high=high)
    caption = "Net benefit; the dotted upright line is the threshold" if problem.costs else "Net benefit"
    svg = decision_figure(alt, curves, threshold if problem.costs else None)
    return Section("decisions", "Decisions", sentences, (Figure(svg, caption, numbers=_table(curves, at)),))


def _threshold_sentence(problem: DecisionProblem) -> str:
    if problem.costs is None:
        low, high = map(percent, problem.ends)
        return say("decisions", "range", low=low, high=high)
    cost_fp, cost_fn = problem.costs
    return say("decisions", "costs", cost_fp=cost_fp, cost_fn=cost_fn, threshold=percent(problem.threshold))


def _worth_of_calibrating(data: ReportData, problem: DecisionProblem) -> tuple[str, ...]:
    """What calibrating first saves: in the unit of the costs, or else in rows rightly acted on for each 1000."""
    if data.before is None:
        return ()
    threshold = problem.threshold
    # Without costs what is saved is net benefit in 1000 rows: a false negative costs one of its units.
    cost_fp, cost_fn = problem.costs or (1000.0 * threshold / (1.0 - threshold), 1000.0)
    worth = value_of_predictions(data.before.predictions, data.after.predictions, cost_fp, cost_fn, data.level)
    gain, opening, unit = worth.gain, say("value", "saves"), say("value", "in_costs")
    if problem.costs is None:
        opening, unit = say("value", "worth"), say("value", "in_rows", threshold=percent(threshold))
    if not worth.changed:
        return (say("value", "same", threshold=percent(threshold)),)
    if gain.low <= 0.0:
        opening = say("value", "harm" if gain.high < 0.0 else "unsure")
    value, ends = estimate(gain)
    facts = {"opening": opening, "unit": unit, "level": 100 * gain.level, "changed": percent(worth.changed)}
    return (say("value", "answer", gain=value, ends=ends, **facts),)


def _worth_of_the_model(curve: DecisionCurve, at: int) -> str:
    """How the calibrated probabilities do against acting on all rows and on none, there and elsewhere."""
    rival = "treating all rows" if curve.treat_all[at] > 0.0 else "treating none"
    more, better, shown = float(curve.advantage[at]), int((curve.advantage > 0.0).sum()), len(curve.thresholds)
    where = say("model", "everywhere" if better == shown else "somewhere", better=better, shown=shown)
    rest = say("model", "useless" if more <= 0.0 else "better", rival=rival, more=number(more), where=where)
    value, ends = _estimate(curve, at)
    threshold = percent(float(curve.thresholds[at]))
    return say("model", "benefit", threshold=threshold, value=value, ends=ends, rest=rest)


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


def gate_section(data: ReportData, precision: float) -> Section:
    """Say from which score rows keep a precision, with both guarantees.

    Examples
    --------
    >>> from calibrant import compare, simulate
    >>> from calibrant.report.data import make_report_data
    >>> from calibrant.report.decision_sections import gate_section
    >>> tally = simulate.from_truth("underconfident", 800).tally
    >>> data = make_report_data(tally, comparison=compare(tally, methods=["platt"]), method="platt")
    >>> gate_section(data, 0.8).sentences[0].startswith("Accept from a score of")
    True
    """
    rows = data.tally if data.rows is None else data.rows
    space = "decision" if data.rows is not None and data.before is None else "probability"
    whole = not (rows.totals % 1.0).any()  # exact tests count rows
    gates = {
        name: acceptance(rows, precision=precision, confidence=data.level, guarantee=name, space=space)
        for name in GUARANTEES
        if whole or name == "posterior"
    }
    first = next(iter(gates.values()))
    sentences = [line for line in str(first).splitlines() if line]
    if whole and gates["posterior"].threshold is not None:
        gate = gates["posterior"]
        sentences.append(say("gate", "posterior", threshold=gate.threshold, share=percent(gate.share)))
    alt = say("gate", "alt", precision=percent(precision))
    with open_figure(4.6) as figure:
        AcceptanceDisplay(first).plot(figure.subplots())
        svg = to_svg(figure, "gate", alt)
    rows_of_table = tuple(_gate_row(GUARANTEES[name], gate) for name, gate in gates.items())
    head = ("Guarantee", "Accept from", "Rows that pass", "Right among them")
    caption = say("gate", "caption", precision=percent(precision), level=percent(data.level))
    tables = (Table(caption, head, rows_of_table),)
    return Section("gate", "Which rows to accept", tuple(sentences), (Figure(svg, "Precision and share"),), tables)


def _gate_row(title: str, gate: Acceptance) -> Row:
    if gate.threshold is None or gate.precision is None:
        return title, "nothing", percent(0.0), "–"
    return title, f"{gate.threshold:.4g}", percent(gate.share), percent(gate.precision.value)


def unlabelled_section(data: ReportData, scores: ArrayLike | Tally) -> Section:
    """Say what to expect of rows without labels, by the method of the page or, if it has no posterior, by the default.

    Parameters
    ----------
    data : ReportData
        The labelled rows.
    scores : array-like of shape (m,), or Tally
        Of the other rows.

    Returns
    -------
    Section

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.report.data import make_report_data
    >>> from calibrant.report.decision_sections import unlabelled_section
    >>> rows = simulate.from_truth("D1", 300)
    >>> data = make_report_data(rows.scores, rows.labels, methods=["platt", "bayes_iso"], method="bayes_iso")
    >>> unlabelled_section(data, [0.2, 0.7]).title
    'Rows without labels'
    """
    model = data.calibrator
    if not hasattr(model, "sample_maps"):
        space = "decision" if data.before is None else "probability"
        model = create(registry.DEFAULT_METHOD, space=space).fit_tally(data.rows)
    known = scores.scores if isinstance(scores, Tally) else _validation.as_floats(scores, "unlabelled")
    called = bool((model.predict(known) >= HALF).any())
    asked = [name for name in QUANTITIES if called or name != "precision"]
    answers = estimate_several(model, scores, asked, threshold=HALF, level=data.level)
    rows: list[Row] = []
    for name, one in answers.items():
        words = percent if name in SHARES else count if name == "positives" else "{:.4f}".format
        value, low, high = (words(max(end, 0.0)) for end in (one.value, one.low, one.high))
        rows.append((sentence_case(QUANTITIES[name].title), Cell(value, f"{low} to {high}")))
    head = ("Quantity", f"Estimate, {100 * data.level:g} % interval")
    table = Table("What to expect of the rows without labels", head, tuple(rows))
    mean, right = answers["mean"], answers["accuracy"]
    facts = {"rows": row_count(mean.rows), "half": HALF, "level": 100 * mean.level}
    answer = say("unlabelled", "answer", positive=_percent(mean), right=_percent(right), **facts)
    sentences = (answer, say("unlabelled", "condition"), *([mean.warning] if mean.warning else []))
    return Section("unlabelled", "Rows without labels", sentences, tables=(table,))


def _percent(answer: Estimate) -> str:
    return f"{100 * answer.value:.1f} % ({100 * answer.low:.1f} to {100 * answer.high:.1f})"
