"""What a score means: the map, what some scores become, and from which score on a probability is reached."""

import numpy as np

from calibrant._typing import Floats
from calibrant.reliability.result import Table as Columns
from calibrant.reliability.result import tabulate_map
from calibrant.report.data import ReportData
from calibrant.report.figures import map_figure
from calibrant.report.sections import Cell, Figure, Section, Table
from calibrant.report.wording import outcome_of, percent
from calibrant.tally import Tally

QUANTILES = np.array([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99])  # of the rows


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
    typical = [float(f"{score:.2g}") for score in weighted_quantiles(data.rows, QUANTILES)]
    return tabulate_map(data.calibrator, np.unique(np.clip(typical, scores[0], scores[-1])), data.level)


def weighted_quantiles(tally: Tally, at: Floats) -> Floats:
    """Quantiles of the scores of a tally by the number of rows."""
    below = np.cumsum(tally.totals) / tally.total
    return np.asarray(tally.scores[np.minimum(np.searchsorted(below, at - 1e-12), len(tally) - 1)])


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
