"""The tables of the page, as rows of texts: the measures, the methods, the segments, and the numbers of each figure."""

from typing import Any

import numpy as np

from calibrant.comparison import Comparison, MethodResult
from calibrant.intervals import Interval
from calibrant.metrics.evaluation_table import Evaluation
from calibrant.reliability.tables import Table
from calibrant.report import wording
from calibrant.report.segments import Gap, Segment
from calibrant.report.study import Study
from calibrant.report.wording import count, outcome_of, percent, sentence_case, short_title

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
MAP_ROWS = 17
FEW, MOST_TIED = 2, 6  # methods that need not be folded away


def measure_groups(study: Study) -> list[dict[str, Any]]:
    """Groups of measures, each with a value and an interval before and after."""
    after = study.after.evaluation
    before = study.before.evaluation if study.before is not None else None
    keys = {row.key: row for row in (*(before.rows if before else ()), *after.rows)}
    words = outcome_of(study.top_label)
    groups: dict[str, list[dict[str, Any]]] = {}
    for key, row in keys.items():
        entry = {
            "name": sentence_case(short_title(row.name).partition(",")[0]),
            "meaning": MEANING.get(key, "").replace("POSITIVES", words.positives).replace("NEGATIVES", words.negatives),
            "before": _estimate(before, key, after),
            "after": _estimate(after, key, before),
        }
        groups.setdefault(row.group, []).append(entry)
    return [{"name": sentence_case(name), "rows": rows} for name, rows in groups.items()]


def _estimate(evaluation: Evaluation | None, key: str, other: Evaluation | None) -> tuple[str, str]:
    """The value, and its interval or nothing; as many decimals as on the other side, if that has nearly as many."""
    own, beside = value_of(evaluation, key), value_of(other, key)
    if own is None:
        return "–", ""
    if not isinstance(own, Interval):
        return (f"{own:.3f}" if own >= 0.001 else "below 0.001"), ""
    decimals = [wording.estimate_decimals(one) for one in (own, beside) if isinstance(one, Interval)]
    return wording.estimate(own, decimals=min(decimals) if np.ptp(decimals) == 1 else decimals[0])


def value_of(evaluation: Evaluation | None, key: str) -> Interval | float | None:
    """The estimate of a measure, where it could be computed."""
    rows = evaluation.rows if evaluation is not None else ()
    return next((row.estimates[0] for row in rows if row.key == key), None)


def method_rows(study: Study) -> list[dict[str, Any]]:
    """One row for each method that could be fitted: first those that may be the best, then the `others`, best first.

    A method that is drawn but was not compared has a row without a change.
    """
    if study.comparison is None:
        return []
    results = [r for r in study.comparison.results if r.log_loss is not None and r.brier_score is not None]
    near = {study.comparison.recommended, study.comparison.reference, study.name, *study.comparison.tied[:MOST_TIED]}
    if sum(r.name not in near for r in results) <= FEW:
        near.update(r.name for r in results)
    results.sort(key=lambda result: result.name not in near)  # stable: the ranking stays
    names = {result.name for result in study.comparison.results}
    alone = [MethodResult(name, title=study.titles[name]) for name in study.maps if name not in names]
    results = [*alone, *results]
    columns: dict[str, Any] = {
        "key": [r.name for r in results],
        "name": [sentence_case(short_title(r.title or r.name)) for r in results],
        "title": [sentence_case(r.title or r.name) for r in results],
        "shown": [r.name == study.name for r in results],
        "other": [r.name in names and r.name not in near for r in results],
        "tags": [_tags(r.name, study.comparison, study.name) for r in results],
        "interval": [r.log_loss_difference for r in results],
        "change": _column([r.log_loss_difference for r in results], "+"),
        "log_loss": _column([r.log_loss for r in results]),
        "brier": _column([r.brier_score for r in results]),
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _column(estimates: list[Interval | None], sign: str = "") -> list[tuple[str, str]]:
    """Estimates below each other, with the decimals that most of them deserve."""
    decimals = [wording.estimate_decimals(one) for one in estimates if one is not None]
    usual = int(np.median(decimals)) if decimals else 4
    return [("–", "") if one is None else wording.estimate(one, sign, usual) for one in estimates]


def _tags(name: str, comparison: Comparison, shown: str) -> list[str]:
    marks = {"recommended": comparison.recommended, "on this page": shown}
    return [mark for mark, holder in marks.items() if name == holder][:1]


def segment_rows(segments: tuple[Segment, ...]) -> list[dict[str, Any]]:
    """Rows, what happened, and what was predicted before and after."""
    rows = []
    for one in segments:
        seen = one.before or one.after
        happened = (percent(seen.happened), f"{percent(seen.low)} to {percent(seen.high)}") if seen else ("–", "")
        sides = {side: _gap(getattr(one, side)) for side in ("before", "after")}
        rows.append({"name": one.name, "rows": count(one.total), "happened": happened} | sides)
    return rows


def _gap(gap: Gap | None) -> dict[str, Any]:
    if gap is None:
        return {"predicted": "–", "gap": "", "off": False}
    difference = gap.predicted - gap.happened
    size, _ = wording.points_estimate(Interval(abs(difference), gap.low, gap.high, 0.0), least=1)
    sign = "" if float(size) == 0.0 else "+" if difference > 0 else "−"
    return {"predicted": percent(gap.predicted), "gap": f"{sign}{size} points", "off": gap.off}


def point_rows(table: Table) -> list[tuple[str, ...]]:
    """Predicted, happened, its interval, rows: for each group of a reliability diagram."""
    return [
        (
            percent(p["mean_score"]),
            percent(p["fraction"]),
            f"{percent(p['low'])} to {percent(p['high'])}",
            count(p["total"]),
        )
        for p in table
    ]


def map_rows(table: Table, probabilities: bool) -> list[tuple[str, ...]]:
    """Some scores along the map, evenly spaced, and what becomes of them."""
    at = np.unique(np.searchsorted(table["score"], np.linspace(table["score"][0], table["score"][-1], MAP_ROWS)))
    banded = "low" in (table.dtype.names or ())
    return [
        (
            percent(row["score"]) if probabilities else f"{row['score']:.4g}",
            percent(row["probability"]),
            f"{percent(row['low'])} to {percent(row['high'])}" if banded else "–",
        )
        for row in table[at]
    ]


def histogram_rows(table: Table) -> list[tuple[str, ...]]:
    """From, to, rows, share of positives: for each bar that has rows."""
    return [
        (percent(bar["left"]), percent(bar["right"]), count(bar["total"]), percent(bar["positives"] / bar["total"]))
        for bar in table[table["total"] > 0]
    ]
