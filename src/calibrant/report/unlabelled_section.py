"""The section on rows without labels: what the posterior over maps says of them."""

from __future__ import annotations

from calibrant._typing import HasPosterior
from calibrant.estimates import QUANTITIES, Estimate, estimate_several
from calibrant.report.figures import Figure, error_bars, scatter, titled
from calibrant.report.section import Section, SectionFigure, SectionTable
from calibrant.report.wording import rounded, sentence_case
from calibrant.tally import Tally, row_count

__all__ = ["unlabelled_section"]

SHARES = ("mean", "accuracy", "precision", "recall", "specificity", "f1", "auc")


def unlabelled_section(
    model: HasPosterior, unlabelled: Tally, *, threshold: float = 0.5, level: float = 0.9
) -> Section:
    """Say what a model with a posterior expects of rows without labels.

    Parameters
    ----------
    model : fitted Bayesian calibrator, or a saved one with its posterior
        Fitted to the labelled rows of the page.
    unlabelled : Tally
        The other rows.
    threshold : float
        From which probability on rows are called positive.
    level : float
        Of the intervals.

    Returns
    -------
    Section

    Examples
    --------
    >>> from calibrant import BayesIso, simulate
    >>> from calibrant.report.unlabelled_section import unlabelled_section
    >>> data = simulate.from_truth("D1", 300)
    >>> section = unlabelled_section(BayesIso().fit(data.scores, data.labels), data.tally)
    >>> section.title
    'Rows without labels'
    """
    called = bool((model.predict(unlabelled.scores) >= threshold).any())
    asked = [name for name in QUANTITIES if called or name != "precision"]
    answers = estimate_several(model, unlabelled, asked, threshold=threshold, level=level)
    shares = [answers[name] for name in SHARES if name in answers]
    return Section(
        "unlabelled",
        "Rows without labels",
        _sentences(answers, threshold),
        (SectionFigure(_draw(shares), "Estimates of shares with their intervals, as in the table below."),),
        (_tabulate(list(answers.values())),),
    )


def _sentences(answers: dict[str, Estimate], threshold: float) -> tuple[str, ...]:
    mean, right = answers["mean"], answers["accuracy"]
    answer = (
        f"Of the {row_count(mean.rows)} rows without labels, {_percent(mean)} are positive, and calling positive what "
        f"has a probability of {threshold:g} or more is right for {_percent(right)} "
        f"({100 * mean.level:g} % intervals)."
    )
    condition = (
        "This holds if the same scores mean the same as among the labelled rows; the scores themselves may be "
        "distributed differently."
    )
    return (answer, condition, mean.warning) if mean.warning else (answer, condition)


def _percent(answer: Estimate) -> str:
    return f"{100 * answer.value:.1f} % ({100 * answer.low:.1f} to {100 * answer.high:.1f})"


def _draw(answers: list[Estimate]) -> Figure:
    names = [sentence_case(QUANTITIES[answer.quantity].title) for answer in answers]
    above, below = ([a.high - a.value for a in answers], [a.value - a.low for a in answers])
    trace = scatter("markers", "estimates", [answer.value for answer in answers], []) | {
        "y": names,  # a row for each
        "marker": {"color": "@after", "size": 10},
        "error_x": error_bars(above, below, "@after"),
        "customdata": [[rounded(number, 4) for number in (a.value, a.low, a.high)] for a in answers],
        "hovertemplate": "%{y}<br>%{customdata[0]} (%{customdata[1]} to %{customdata[2]})",
    }
    layout = {"xaxis": titled("Estimate and interval"), "yaxis": {}}
    return {"data": [trace], "layout": layout, "meta": {"short": "Estimate"}}


def _tabulate(answers: list[Estimate]) -> SectionTable:
    def write(answer: Estimate) -> tuple[str, ...]:
        digits = 0 if answer.quantity == "positives" else 4
        return (
            sentence_case(QUANTITIES[answer.quantity].title),
            *(f"{number:.{digits}f}" for number in (answer.value, answer.low, answer.high)),
        )

    level = f"{100 * answers[0].level:g} %"
    return SectionTable(
        "What is to be expected of the rows without labels",
        ("", "estimate", f"from ({level})", "to"),
        tuple(write(answer) for answer in answers),
    )
