"""The sections of every page: before and after, what a score means, the methods and the measures."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from calibrant._numerics import bins
from calibrant._typing import Floats
from calibrant.comparison import MethodResult
from calibrant.comparison.compare import reason_of
from calibrant.displays.forest import Series
from calibrant.reliability.result import Table as Columns
from calibrant.reliability.result import tabulate_map
from calibrant.report.data import Assessment, ReportData
from calibrant.report.figures import COLORS, forest_figure, map_figure, reliability_figures
from calibrant.report.part_sections import scores_section
from calibrant.report.sections import Cell, Figure, Row, Section, Table, estimate_cells, share_cell
from calibrant.report.texts import TEXTS, say
from calibrant.report.wording import count, estimate, outcome_of, percent, sentence_case, short_title
from calibrant.tally import Tally

QUANTILES = np.array([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99])  # of the rows
MOST_METHODS = 8  # that are drawn


def reliability_section(data: ReportData) -> Section:
    """Predicted against happened, before and after calibration."""
    words, level = outcome_of(data.top_label), f"{100 * data.level:g} %"
    alts = {side: _diagram_alt(one, side, words) for side, one in data.assessments.items()}
    drawn, figures = reliability_figures(data, alts), []
    for side, one in data.assessments.items():
        caption = f"{side.capitalize()} calibration" + (f" with {data.title_of(data.name)}" if side == "after" else "")
        numbers = _points_table(f"Numbers of the diagram {side} calibration", one, words.share, level)
        figures.append(Figure(drawn[side], caption, "half", numbers))
    how = say("reliability", "how", words=words, level=level), say("reliability", "judged")
    title = "Before and after" if len(data.assessments) == 2 else f"{next(iter(alts)).capitalize()} calibration"
    return Section("reliability", title, how, tuple(figures))


def _diagram_alt(side: Assessment, name: str, words: SimpleNamespace) -> str:
    gaps = side.diagram.points["mean_score"] - side.diagram.points["fraction"]
    worst = side.diagram.points[abs(gaps).argmax()]
    predicted, happened = percent(worst["mean_score"]), percent(worst["fraction"])
    return say("reliability", "alt", side=name, groups=len(gaps), predicted=predicted, happened=happened, words=words)


def _points_table(caption: str, side: Assessment, share: str, level: str) -> Table:
    """Predicted, happened with its interval, and rows, for each group of a reliability diagram."""
    rows = tuple(
        (percent(p["mean_score"]), share_cell(p["fraction"], p["low"], p["high"]), count(p["total"]))
        for p in side.diagram.points
    )
    return Table(caption, ("Predicted", f"{share.capitalize()}, {level} interval", "Rows"), rows, folded=True)


def meaning_section(data: ReportData) -> Section:
    """The fitted map in a picture and in numbers; of several scores, each by itself."""
    if data.map is None:
        return scores_section(data)
    title, level = data.title_of(data.name), f"{100 * data.level:g} %"
    points = _table_points(data)
    banded = "low" in (points.dtype.names or ())
    sentence = say("meaning", "score" if data.classes is None else "classes", method=title)
    if data.before is not None:
        sentence += say("meaning", "before")
    if banded:
        sentence += say("meaning", "band", level=level)
    rows: list[Row] = []
    for row in points:
        share = row["probability"]
        cell = share_cell(share, row["low"], row["high"]) if banded else Cell(percent(share))
        rows.append((score_text(data, row["score"]), cell))
    becomes = f"means, with its {level} credible interval" if banded else "means"
    table = Table("What a score means", ("A score of", becomes), tuple(rows))
    figure = Figure(map_figure(data, say("meaning", "alt", method=title)))
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
        return say("half", "falls", likely=likely)
    if start == np.inf:
        return say("half", "never", highest=percent(float(np.max(data.calibrator.predict(rows.scores)))))
    if start == -np.inf:
        return say("half", "always", likely=likely)
    return say("half", "start", score=score_text(data, float(f"{start:.3g}")), likely=likely)


def score_text(data: ReportData, score: float) -> str:
    """A score as the page writes it: in percent where scores are probabilities."""
    return f"{100 * score:.4g} %" if data.before is not None else f"{score:.4g}".replace("-", "−")


def methods_section(data: ReportData) -> Section:
    """The methods that were compared."""
    comparison = data.comparison
    results = [one for one in comparison.results if one.log_loss is not None]
    reference = "doing nothing" if comparison.reference == "identity" else data.title_of(comparison.reference)
    parts = {"fitted": comparison.cv - 1, "folds": comparison.cv}
    how = say("methods", "how", **parts, reference=reference, level=f"{100 * comparison.level:g} %")
    figures = (_methods_figure(data, results),) if any(one.log_loss_difference for one in results) else ()
    best = "recommended" if comparison.recommended != comparison.reference else "not beaten beyond chance"
    tags = {data.name: "on this page"} | {comparison.recommended: best}
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
    found = data.comparison
    change = found[found.recommended].log_loss_difference
    gain = "" if change is None else "{} ({})".format(*estimate(-change))
    return sentence_case(reason_of(found.recommended, found.reference, gain, found.tied, data.title_of))


def _methods_figure(data: ReportData, results: list[MethodResult]) -> Figure:
    """The changes of the log-loss: of the best, where there are many, and of the method shown."""
    compared = [one for one in results if one.log_loss_difference is not None]
    shown = [one for i, one in enumerate(compared) if i < MOST_METHODS or one.name == data.name]
    changes: list[Any] = [one.log_loss_difference for one in shown]
    values, low, high = np.array([(change.value, change.low, change.high) for change in changes]).T
    colors = [COLORS["after" if one.name == data.name else "neutral"] for one in shown]
    series = Series("methods", colors, values, low, high)
    names = [sentence_case(data.title_of(one.name)) for one in shown]
    alt = say("methods", "alt", methods=len(shown))
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
        meaning = say("measure", key, words=words) if key in TEXTS["measure"] else ""
        name = Cell(sentence_case(short_title(row.name).partition(",")[0]), meaning)
        found = [{row.key: row.estimates[0] for row in one.rows}.get(key) for one in evaluations.values()]
        rows.append((name, *estimate_cells(found)))
    sentence = say("measures", "top_label") if data.top_label else ""
    sentence += say("measures", "how", level=100 * data.level)
    head = ("Measure", *(side.capitalize() for side in evaluations))
    return Section("measures", "Measures", (sentence,), tables=(Table("Measures", head, tuple(rows)),))


EVERY_PAGE = (reliability_section, meaning_section, methods_section, measures_section)
