"""What a score means: the calibrated probability of some round scores, and the score that reaches one half."""

from dataclasses import dataclass

import numpy as np

from calibrant._typing import Floats
from calibrant.multiclass.base import MatrixCalibrator
from calibrant.report.axis import even_ticks
from calibrant.report.hover import format_value
from calibrant.report.study import Study
from calibrant.report.wording import outcome_of, percent
from calibrant.tally import Tally

ROUND = np.array([0.2, 0.5, 0.8, 0.9])
QUANTILES = np.array([0.1, 0.5, 0.9, 0.99])  # of the rows, where round scores are not among them


@dataclass(frozen=True)
class Meaning:
    """A column for each score: itself, its probability, and an interval, or nothing for methods without one.

    `half` says which score reaches one half, `how` where all this comes from.
    """

    scores: tuple[str, ...]
    probabilities: tuple[str, ...]
    intervals: tuple[str, ...]
    half: str
    how: str


def score_meaning(study: Study) -> Meaning | None:
    """What some scores mean after calibration; None where rows are too few, or where other classes have a say in it."""
    if study.comparison is None or isinstance(study.calibrator, MatrixCalibrator):
        return None
    probabilities, fitted = study.before is not None, study.calibrator
    known = fitted_scores(study)
    scores = pick_scores(known, probabilities=probabilities)
    intervals: tuple[str, ...] = ()
    if hasattr(fitted, "sample_maps") and not isinstance(fitted, MatrixCalibrator):
        ends = zip(*fitted.predict_interval(scores, level=study.level), strict=True)
        intervals = tuple(f"{percent(low).removesuffix(' %')} to {percent(high)}" for low, high in ends)
    texts = tuple(_score(score, probabilities=probabilities) for score in scores)
    meanings = tuple(map(percent, _calibrate(study, scores)))
    return Meaning(texts, meanings, intervals, _half(study, known), _how(study))


def _how(study: Study) -> str:
    if isinstance(study.calibrator, MatrixCalibrator):
        return f"Calibrated with {study.title_of(study.name)}, on average: the scores of the other classes matter, too."
    return f"Calibrated with {study.title_of(study.name)}, fitted to all rows."


def _calibrate(study: Study, scores: Floats) -> Floats:
    """What scores become; with several classes on average, since the other classes matter as well."""
    if isinstance(study.calibrator, MatrixCalibrator):
        table = study.maps[study.name]
        return np.asarray(np.interp(scores, table["score"], table["probability"]))
    return np.asarray(study.calibrator.predict(scores))


def fitted_scores(study: Study) -> Floats:
    """The scores that the map was fitted to, each as often as it has rows."""
    if study.before is not None:
        return weighted_quantiles(study.before.tally, np.linspace(0.0, 1.0, 1001))
    scores: Floats = study.maps[study.name]["score"]
    return scores


def weighted_quantiles(tally: Tally, at: Floats) -> Floats:
    """Quantiles of the scores of a tally by the number of rows."""
    below = np.cumsum(tally.totals) / tally.total
    return np.asarray(tally.scores[np.minimum(np.searchsorted(below, at - 1e-12), len(tally) - 1)])


def pick_scores(scores: Floats, *, probabilities: bool) -> Floats:
    """Round scores, if most of them lie among the given ones; else some that are typical of these, rounded.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.report.meaning import pick_scores
    >>> pick_scores(np.linspace(0.05, 0.85, 101), probabilities=True).tolist()
    [0.2, 0.5, 0.8]
    >>> pick_scores(np.linspace(0.0, 0.04, 101), probabilities=True).tolist()
    [0.004, 0.02, 0.036, 0.04]
    >>> pick_scores(np.linspace(-3.2, 4.1, 101), probabilities=False).tolist()
    [-2.0, 0.0, 2.0, 4.0]
    """
    low, high = float(scores[0]), float(scores[-1])
    if not probabilities:
        return np.array(even_ticks(low, high, 5))
    inside = ROUND[(low <= ROUND) & (high >= ROUND)]
    typical = [float(f"{value:.2g}") for value in np.quantile(scores, QUANTILES)]
    return inside if len(inside) >= 3 else np.unique(typical)


def _half(study: Study, scores: Floats) -> str:
    """The score from which on the event is more likely than not."""
    words, reached = outcome_of(study.top_label), _calibrate(study, scores) >= 0.5
    likely = f"{words.subject} is more likely {words.than_not}"
    if reached.all():
        return f"At every score in these rows, {likely}."
    if not reached.any():
        top = percent(float(np.max(_calibrate(study, scores))))
        return f"No score in these rows reaches one half: the highest probability is {top}."
    if isinstance(study.calibrator, MatrixCalibrator):
        start = float(scores[reached.argmax()])
    else:
        start = float(study.calibrator.map_.inverse(np.array([0.5]))[0])
    return f"From a score of {_score(float(f'{start:.3g}'), probabilities=study.before is not None)} up, {likely}."


def _score(score: float, *, probabilities: bool) -> str:
    return f"{100 * score:.6g} %" if probabilities else format_value(score, ".4g")
