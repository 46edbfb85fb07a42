"""The sections of every page: before and after, what a score means, the methods and the measures."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from calibrant._numerics import bins
from calibrant._typing import Floats
from calibrant.comparison import MethodResult
from calibrant.displays.forest import Series
from calibrant.reliability.result import Table as Columns
from calibrant.reliability.result import tabulate_map
from calibrant.report.data import Assessment, ReportData
from calibrant.report.figures import COLORS, forest_figure, map_figure, reliability_figures
from calibrant.report.sections import Cell, Figure, Row, Section, Table, estimate_cells
from calibrant.report.wording import any_of, count, estimate, outcome_of, percent, sentence_case, short_title
from calibrant.tally import Tally

MEANING = {
    "log_loss": "the main score: punishes confident mistakes hardest",
    "brier_score": "mean squared error of the probabilities",
    "refinement": "what recalibration on other rows cannot remove; compare models by it that are calibrated anyway",
    "roc_auc": "how well POSITIVES rank above NEGATIVES; calibrating is not meant to change it",
    "miscalibration": "the part of the Brier score that the best rising map of these very rows removes",
    "recalibration": "what a recalibration by two numbers, learnt from other rows, takes off the Brier score",
    "ece": "average gap between predicted and observed, in 15 groups; above 0 by chance alone",
    "debiased": "the same with the part due to chance taken off; can fall below 0",
    "smooth": "average gap without groups",
    "ks": "largest surplus or deficit of POSITIVES, added up along the scores",
    "slope": "1 is right; below 1 the probabilities are too extreme, above 1 too timid",
    "intercept": "0 is right; below 0 the probabilities are too high, above 0 too low",
    "kuiper_p_value": "small values are hard to explain by chance if the model is calibrated",
}
QUANTILES = np.array([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99])  # of the rows
MOST_METHODS = 8  # that are drawn
NO_MATTER = "All values are in the table below the figure."


def reliability_section(data: ReportData) -> Section:
    """Predicted against happened, before and after calibration."""
    words, level = outcome_of(data.top_label), f"{100 * data.level:g} %"
    alts = {side: _diagram_alt(one, side, words) for side, one in data.assessments.items()}
    drawn, figures = reliability_figures(data, alts), []
    for side, one in data.assessments.items():
        caption = f"{side.capitalize()} calibration" + (f" with {data.title_of(data.name)}" if side == "after" else "")
        numbers = _points_table(f"Numbers of the diagram {side} calibration", one, words.share, level)
        figures.append(Figure(drawn[side], caption, "half", numbers))
    how = (
        f"Each point is a group of rows: what was predicted, and how often it {words.happened}. On the dashed line the "
        "two agree; below it the predictions are too high, above it too low. The shaded band holds the true curve with "
        f"about {level} probability at each place. Upright lines are {level} intervals of single groups. The bars "
        "below count the rows."
    )
    judged = "After calibration, every row is judged by a fit that has not seen it."
    title = "Before and after" if len(data.assessments) == 2 else f"{next(iter(alts)).capitalize()} calibration"
    return Section("reliability", title, (how, judged), tuple(figures))


def _diagram_alt(side: Assessment, name: str, words: SimpleNamespace) -> str:
    gaps = side.diagram.points["mean_score"] - side.diagram.points["fraction"]
    worst = side.diagram.points[abs(gaps).argmax()]
    return (
        f"Reliability diagram {name} calibration, {len(gaps)} groups of rows. The widest gap is where "
        f"{percent(worst['mean_score'])} was predicted and {percent(worst['fraction'])} {words.past}. {NO_MATTER}"
    )


def _points_table(caption: str, side: Assessment, share: str, level: str) -> Table:
    """Predicted, happened with its interval, and rows, for each group of a reliability diagram."""
    rows = tuple(
        (
            percent(p["mean_score"]),
            Cell(percent(p["fraction"]), f"{percent(p['low'])} to {percent(p['high'])}"),
            count(p["total"]),
        )
        for p in side.diagram.points
    )
    return Table(caption, ("Predicted", f"{share.capitalize()}, {level} interval", "Rows"), rows, folded=True)


def meaning_section(data: ReportData) -> Section:
    """The fitted map in a picture and in numbers."""
    title, level = data.title_of(data.name), f"{100 * data.level:g} %"
    points = _table_points(data)
    banded = "low" in (points.dtype.names or ())
    what = "each score" if data.classes is None else "the probability of the predicted class"
    sentence = f"What {what} becomes with {title}, fitted to all rows{'' if data.classes is None else ', on average'}."
    if data.before is not None:
        sentence += " On the dashed line it stays as it is; the grey points are the rows before calibration, in groups."
    if banded:
        sentence += f" Shaded: where the true probability lies with {level} probability."
    rows = tuple(
        (
            score_text(data, row["score"]),
            Cell(percent(row["probability"]), f"{percent(row['low'])} to {percent(row['high'])}" if banded else ""),
        )
        for row in points
    )
    becomes = f"means, with its {level} credible interval" if banded else "means"
    table = Table("What a score means", ("A score of", becomes), rows)
    figure = Figure(map_figure(data, f"The fitted map of {title}: calibrated probability over score."))
    half = () if data.rows is None else (_half(data, data.rows),)
    return Section("meaning", "What a score means", (*half, sentence), (figure,), (table,))


def _table_points(data: ReportData) -> Columns:
    """Scores that are typical of the rows, rounded, and what they become."""
    if data.rows is None:
        return np.asarray(data.map[np.unique(np.linspace(0, len(data.map) - 1, len(QUANTILES)).astype(int))])
    scores = data.rows.scores
    typical = [float(f"{score:.2g}") for score in bins.weighted_quantiles(scores, data.rows.totals, QUANTILES)]
    return tabulate_map(data.calibrator, np.unique(np.clip(typical, scores[0], scores[-1])), data.level)


def score_reaching(data: ReportData, probability: float) -> float | None:
    """The score from which on the calibrated probability is at least `probability`.

    It is infinite where no score of the rows reaches that, and minus infinity where all do; None where the map falls,
    so that no single score parts the rows.
    """
    scores: Floats = data.rows.scores if data.rows is not None else np.empty(0)
    reached = data.calibrator.predict(scores) >= probability
    if reached.all() or not reached.any():
        return -np.inf if reached.all() else np.inf
    start = float(data.calibrator.map_.inverse(probability))
    return start if (reached == (scores >= start)).all() else None


def _half(data: ReportData, rows: Tally) -> str:
    """The score from which on the event is more likely than not."""
    words, start = outcome_of(data.top_label), score_reaching(data, 0.5)
    likely = f"{words.subject} is more likely {words.than_not}"
    if start is None:
        return f"No single score parts the rows where {likely} from the others: the map falls in places."
    if start == np.inf:
        top = percent(float(np.max(data.calibrator.predict(rows.scores))))
        return f"No score in these rows reaches one half: the highest probability is {top}."
    if start == -np.inf:
        return f"At every score in these rows, {likely}."
    return f"From a score of {score_text(data, float(f'{start:.3g}'))} up, {likely}."


def score_text(data: ReportData, score: float) -> str:
    """A score as the page writes it: in percent where scores are probabilities."""
    return f"{100 * score:.4g} %" if data.before is not None else f"{score:.4g}".replace("-", "−")


def methods_section(data: ReportData) -> Section:
    """The methods that were compared."""
    comparison = data.comparison
    results = [one for one in comparison.results if one.log_loss is not None]
    reference = "doing nothing" if comparison.reference == "identity" else data.title_of(comparison.reference)
    level = f"{100 * comparison.level:g} %"
    how = (
        "Log-loss is a score of predictions that punishes confident mistakes hardest; lower is better. Each method was "
        f"fitted to {comparison.cv - 1} of {comparison.cv} parts of the rows and judged on the other, in "
        f"turn. Changes are against {reference}, row by row, with {level} intervals."
    )
    figures = (_methods_figure(data, results),) if any(one.log_loss_difference for one in results) else ()
    tags = {data.name: "on this page"} | {comparison.recommended: "recommended"}
    columns = (
        [Cell(sentence_case(one.title or one.name), tag=tags.get(one.name, "")) for one in results],
        estimate_cells([one.log_loss for one in results]),
        estimate_cells([one.log_loss_difference for one in results], "+"),
        estimate_cells([one.brier_score for one in results]),
    )
    head = ("Method", "Log-loss", "Change of log-loss", "Brier score")
    table = Table("Numbers of the methods", head, tuple(zip(*columns, strict=True)), folded=True)
    return Section("methods", "Methods compared", (comparison_result(data), how), figures, (table,))


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


def _methods_figure(data: ReportData, results: list[MethodResult]) -> Figure:
    """The changes of the log-loss: of the best, where there are many, and of the method shown."""
    compared = [one for one in results if one.log_loss_difference is not None]
    shown = [one for i, one in enumerate(compared) if i < MOST_METHODS or one.name == data.name]
    changes: list[Any] = [one.log_loss_difference for one in shown]
    values, low, high = np.array([(change.value, change.low, change.high) for change in changes]).T
    colors = [COLORS["after" if one.name == data.name else "neutral"] for one in shown]
    series = Series("methods", colors, values, low, high)
    names = [sentence_case(data.title_of(one.name)) for one in shown]
    alt = f"Change of the log-loss by {len(shown)} methods, with intervals. {NO_MATTER}"
    svg, _ = forest_figure("methods", alt, names, [series], "Change of log-loss (lower is better)")
    hidden = len(compared) - len(shown)
    few = {0: "", 1: "; one other is in the table"}.get(hidden, f"; {hidden} others are in the table")
    return Figure(svg, f"Change of the log-loss{few}")


def measures_section(data: ReportData) -> Section:
    """The measures, before and after."""
    evaluations = {side: one.evaluation for side, one in data.assessments.items()}
    keys = {row.key: row for evaluation in evaluations.values() for row in evaluation.rows}
    words, group = outcome_of(data.top_label), ""
    rows: list[Row] = []
    for key, row in keys.items():
        if row.group != group:
            group = row.group
            rows.append((Cell(sentence_case(group)),))
        meaning = MEANING.get(key, "").replace("POSITIVES", words.positives).replace("NEGATIVES", words.negatives)
        name = Cell(sentence_case(short_title(row.name).partition(",")[0]), meaning)
        found = [{row.key: row.estimates[0] for row in one.rows}.get(key) for one in evaluations.values()]
        rows.append((name, *estimate_cells(found)))
    sentence = (
        f"Smaller numbers are {100 * data.level:g} % confidence intervals. The average error of the answer is found by "
        "a smooth curve through the outcomes, less what chance adds; the calibration errors here have other rules, "
        "which count chance in or leave it out, so that they differ from it. Their intervals leave it out, so that an "
        "error made by chance may be the upper end of its own interval."
    )
    if data.top_label:
        sentence = f"Of the predicted class: its probability, and whether it was right. {sentence}"
    sentence += " The column “after” is for rows that the fit had not seen."
    head = ("Measure", *(side.capitalize() for side in evaluations))
    return Section("measures", "Measures", (sentence,), tables=(Table("Measures", head, tuple(rows)),))


EVERY_PAGE = (reliability_section, meaning_section, methods_section, measures_section)
