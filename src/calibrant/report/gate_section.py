"""The section on a gate: from which score rows can be accepted without being looked at."""

from calibrant.decisions import Acceptance, acceptance
from calibrant.displays import AcceptanceDisplay
from calibrant.report.data import ReportData
from calibrant.report.figures import open_figure, to_svg
from calibrant.report.sections import Figure, Row, Section, Table
from calibrant.report.wording import percent

__all__ = ["gate_section"]

TITLES = {"finite_sample": "For every truth", "posterior": "By the posterior"}


def gate_section(data: ReportData, precision: float) -> Section:
    """Say from which score rows keep a precision, with both guarantees.

    Examples
    --------
    >>> from calibrant import compare, simulate
    >>> from calibrant.report.data import make_report_data
    >>> from calibrant.report.gate_section import gate_section
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
        for name in TITLES
        if whole or name == "posterior"
    }
    first = next(iter(gates.values()))
    sentences = [line for line in str(first).splitlines() if line]
    if whole and gates["posterior"].threshold is not None:
        more = gates["posterior"]
        sentences.append(
            f"Whoever trusts the posterior of Blend can accept from a score of {more.threshold:.4g}, "
            f"{percent(more.share)} of the rows, with as high a chance of keeping the precision; that is so on average "
            "over the maps which the posterior draws, and not for every truth."
        )
    alt = f"The precision of rows from each score up, over their share; {percent(precision)} is wanted."
    with open_figure(4.6) as figure:
        AcceptanceDisplay(first).plot(figure.subplots())
        svg = to_svg(figure, "gate", alt)
    rows_of_table = tuple(_row(TITLES[name], gate) for name, gate in gates.items())
    head = ("Guarantee", "Accept from", "Rows that pass", "Right among them")
    caption = f"At least {percent(precision)} right, with a confidence of {percent(data.level)}"
    tables = (Table(caption, head, rows_of_table),)
    return Section("gate", "Which rows to accept", tuple(sentences), (Figure(svg, "Precision and share"),), tables)


def _row(title: str, gate: Acceptance) -> Row:
    if gate.threshold is None or gate.precision is None:
        return title, "nothing", percent(0.0), "–"
    return title, f"{gate.threshold:.4g}", percent(gate.share), percent(gate.precision.value)
