"""What a score means: the calibrated probability of some round scores, and the score that reaches one half."""

import numpy as np

from calibrant._typing import Floats
from calibrant.report.data import ReportData
from calibrant.report.sections import Cell, Section, Table
from calibrant.report.wording import outcome_of, percent
from calibrant.tally import Tally

ROUND = np.array([0.2, 0.5, 0.8, 0.9])
QUANTILES = np.array([0.1, 0.5, 0.9, 0.99])  # of the rows, where round scores are not among them


def meaning_section(data: ReportData) -> Section | None:
    """What some scores mean after calibration; None where rows are too few, or where other classes have a say in it."""
    if data.comparison is None or data.rows is None:
        return None
    probabilities, fitted = data.before is not None, data.calibrator
    known = weighted_quantiles(data.rows, np.linspace(0.0, 1.0, 1001))
    scores = pick_scores(known, probabilities=probabilities)
    intervals = [""] * len(scores)
    if hasattr(fitted, "sample_maps"):
        ends = zip(*fitted.predict_interval(scores, level=data.level), strict=True)
        intervals = [f"{percent(low).removesuffix(' %')} to {percent(high)}" for low, high in ends]
    rows = tuple(
        (_score(score, probabilities=probabilities), Cell(percent(mean), interval))
        for score, mean, interval in zip(scores, fitted.predict(scores), intervals, strict=True)
    )
    interval = f", with its {100 * data.level:g} % interval" if any(intervals) else ""
    how = f"Calibrated with {data.title_of(data.name)}, fitted to all rows{interval}."
    table = Table("What a score means", ("A score of", "means"), rows)
    return Section("meaning", "What a score means", (f"{_half(data, known)} {how}",), tables=(table,))


def weighted_quantiles(tally: Tally, at: Floats) -> Floats:
    """Quantiles of the scores of a tally by the number of rows."""
    below = np.cumsum(tally.totals) / tally.total
    return np.asarray(tally.scores[np.minimum(np.searchsorted(below, at - 1e-12), len(tally) - 1)])


def pick_scores(scores: Floats, *, probabilities: bool) -> Floats:
    """Round scores, if most of them lie among the given ones; else some that are typical of these, rounded.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.report.score_meaning import pick_scores
    >>> pick_scores(np.linspace(0.05, 0.85, 101), probabilities=True).tolist()
    [0.2, 0.5, 0.8]
    >>> pick_scores(np.linspace(0.0, 0.04, 101), probabilities=True).tolist()
    [0.004, 0.02, 0.036, 0.04]
    >>> pick_scores(np.linspace(-3.2, 4.1, 101), probabilities=False).tolist()
    [-2.0, 0.0, 2.0, 4.0]
    """
    low, high = float(scores[0]), float(scores[-1])
    if not probabilities:
        return _even_scores(low, high)
    inside = ROUND[(low <= ROUND) & (high >= ROUND)]
    typical = [float(f"{value:.2g}") for value in np.quantile(scores, QUANTILES)]
    return inside if len(inside) >= 3 else np.unique(typical)


def _half(data: ReportData, scores: Floats) -> str:
    """The score from which on the event is more likely than not."""
    words, reached = outcome_of(data.top_label), data.calibrator.predict(scores) >= 0.5
    likely = f"{words.subject} is more likely {words.than_not}"
    if reached.all():
        return f"At every score in these rows, {likely}."
    if not reached.any():
        top = percent(float(np.max(data.calibrator.predict(scores))))
        return f"No score in these rows reaches one half: the highest probability is {top}."
    start = float(data.calibrator.map_.inverse(np.array([0.5]))[0])
    return f"From a score of {_score(float(f'{start:.3g}'), probabilities=data.before is not None)} up, {likely}."


def _score(score: float, *, probabilities: bool) -> str:
    return f"{100 * score:.6g} %" if probabilities else f"{score:.4g}".replace("-", "−")


def _even_scores(low: float, high: float) -> Floats:
    """Some round numbers between two ends, at steps of 1, 2 or 5 times a power of ten."""
    if low == high:
        return np.array([low])
    rough = (high - low) / 6.0
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * min((m for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough), default=10.0)
    return np.asarray(np.arange(np.ceil(low / step), np.floor(high / step) + 1.0) * step).round(12)
