"""The section on rows without labels: what the posterior over maps says of them."""

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant.calibrators import registry
from calibrant.comparison.candidates import create
from calibrant.estimates import QUANTITIES, Estimate, estimate_several
from calibrant.report.data import ReportData
from calibrant.report.sections import Cell, Section, Table
from calibrant.report.wording import count, percent, sentence_case
from calibrant.tally import Tally, row_count

SHARES = ("mean", "accuracy", "precision", "recall", "specificity", "f1", "auc")


def unlabelled_section(
    data: ReportData, scores: ArrayLike | Tally, *, threshold: float = 0.5, level: float = 0.9
) -> Section:
    """Say what to expect of rows without labels, by the method of the page or, if it has no posterior, by the default.

    Parameters
    ----------
    data : ReportData
        The labelled rows.
    scores : array-like of shape (m,), or Tally
        Of the other rows.
    threshold : float
        From which probability on rows are called positive.
    level : float
        Of the intervals.

    Returns
    -------
    Section

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.report.data import make_report_data
    >>> from calibrant.report.unlabelled_section import unlabelled_section
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
    called = bool((model.predict(known) >= threshold).any())
    asked = [name for name in QUANTITIES if called or name != "precision"]
    answers = estimate_several(model, scores, asked, threshold=threshold, level=level)
    table = _tabulate(list(answers.values()))
    return Section("unlabelled", "Rows without labels", _sentences(answers, threshold), tables=(table,))


def _sentences(answers: dict[str, Estimate], threshold: float) -> tuple[str, ...]:
    mean, right = answers["mean"], answers["accuracy"]
    answer = (
        f"Of the {row_count(mean.rows)} rows without labels, an estimated {_percent(mean)} are positive. Calling a row "
        f"positive from a probability of {threshold:g} on would be right for {_percent(right)} of them "
        f"({100 * mean.level:g} % intervals in brackets)."
    )
    condition = (
        "This holds if the same scores mean the same as among the labelled rows; the scores themselves may be "
        "distributed differently."
    )
    return (answer, condition, mean.warning) if mean.warning else (answer, condition)


def _percent(answer: Estimate) -> str:
    return f"{100 * answer.value:.1f} % ({100 * answer.low:.1f} to {100 * answer.high:.1f})"


def _tabulate(answers: list[Estimate]) -> Table:
    def write(answer: Estimate) -> tuple[str | Cell, ...]:
        words = percent if answer.quantity in SHARES else count if answer.quantity == "positives" else "{:.4f}".format
        value, low, high = (words(max(number, 0.0)) for number in (answer.value, answer.low, answer.high))
        return sentence_case(QUANTITIES[answer.quantity].title), Cell(value, f"{low} to {high}")

    caption = "What to expect of the rows without labels"
    head = ("Quantity", f"Estimate, {100 * answers[0].level:g} % interval")
    return Table(caption, head, tuple(write(answer) for answer in answers))
