"""The page: numbers, words and figures put into one HTML file."""

import os
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

import calibrant
from calibrant._files import write_atomically
from calibrant._optional import require
from calibrant.calibrators import registry
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.matrix_base import MatrixCalibrator
from calibrant.comparison import Comparison
from calibrant.report import figures, interval_plots, tables
from calibrant.report.advice import comparison_result, next_steps
from calibrant.report.answer import answer
from calibrant.report.decision_section import Question, decision_section
from calibrant.report.section import Section
from calibrant.report.study import Side, Study, make_study
from calibrant.report.wording import Outcome, count, outcome_of, percent, sentence_case, short_title
from calibrant.tally import Tally

CALLER = "The report"
CROWDED = 0.03  # probabilities this close to an end cannot be told apart on even axes
COMMANDS = (
    "calibrant fit data.parquet --method {method} -o calibration.json\n"
    "calibrant apply calibration.json new.parquet -o calibrated.parquet"
)
MOST_SEGMENTS = 40  # at once; the others are behind a click


def write_report(
    path: str | os.PathLike[str],
    tally: Tally,
    *,
    segments: Mapping[str, Tally] | None = None,
    comparison: Comparison | None = None,
    method: str | Calibrator | None = None,
    title: str = "Calibration report",
    commands: str | None = None,
    top_label: bool = False,
    sections: Sequence[Section] = (),
    costs: tuple[float, float] | None = None,
    thresholds: tuple[float, float] | None = None,
) -> None:
    """Write a report on the scores of a model as one HTML file that needs nothing else, not even a network.

    It says in plain words whether the model is calibrated and how sure that is, draws reliability diagrams before and
    after calibration and the fitted map, and gives measures, a comparison of methods, segments, and the code to go on.
    Everything after calibration is cross-fitted: no row is judged by a fit that has seen it. Where a class has too few
    rows for that, the page says so.

    Parameters
    ----------
    path : path-like
        Where to write; an existing file is replaced only when the new one is complete.
    tally : Tally
        Scores and labels. Scores outside [0, 1] are taken as mere scores: the page then shows only what comes after.
    segments : dict of str to Tally, optional
        Parts of the same rows, each judged by itself.
    comparison : Comparison, optional
        The result of `calibrant.compare` on these rows; by default it is computed. Its fits are not made again.
    method : str or calibrator, optional
        The method to show; by default the one that the comparison recommends.
    title : str
        The heading of the page.
    commands : str, optional
        What the page shows for the command line, with ``{method}`` for the method; by default for any table.
    top_label : bool
        Whether the rows are about several classes: scores are the highest of each row, and a label is positive where
        that class was right. The page then says "right" instead of "happened".
    sections : sequence of Section
        What the page shows beyond that, before what to do next.
    costs : (float, float), optional
        Of acting in vain and of not acting where it was needed: adds a section on decisions at the threshold that they
        imply, and on what calibrating first saves.
    thresholds : (float, float), optional
        The lowest and the highest probability from which one might act, for that section.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant import Tally, compare, simulate
    >>> from calibrant.report import write_report
    >>> data = simulate.from_truth("underconfident", 500)
    >>> tally = Tally.from_arrays(data.scores, data.labels)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report.html"
    ...     write_report(path, tally, method="bayes_iso", comparison=compare(tally, methods=["platt"]))
    ...     "credible interval" in path.read_text(encoding="utf-8")
    True
    """
    study = make_study(tally, segments=segments, comparison=comparison, method=method, top_label=top_label)
    if costs is not None or thresholds is not None:
        sections = (*sections, decision_section(study, Question(costs, thresholds)))
    write_study(path, study, title, commands=commands or COMMANDS, sections=sections)


def write_study(
    path: str | os.PathLike[str], study: Study, title: str, *, commands: str, sections: Sequence[Section]
) -> None:
    """Write the page of a study, whole or not at all."""
    jinja2 = require("jinja2", "report", CALLER)
    script = require("plotly.offline", "report", CALLER).get_plotlyjs()
    write_atomically(path, render(study, title, jinja2, script, commands=commands, sections=sections))


def render(
    study: Study,
    title: str,
    jinja2: Any,
    script: str,
    *,
    commands: str = COMMANDS,
    sections: Sequence[Section] = (),
) -> str:
    """The page as a string; every text is escaped unless it is one of this package's own files."""
    own = {name: (resources.files(__package__) / name).read_text("utf-8") for name in ("style.css", "page.js")}
    template = (resources.files(__package__) / "template.html.jinja").read_text("utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined, finalize=_unbroken
    )
    # A script ends at the first end tag, wherever it stands; inside a string the escaped one means the same.
    safe = {"style": own["style.css"], "script": own["page.js"], "plotly": script.replace("</script", "<\\/script")}
    text: str = environment.from_string(template).render(
        **{name: jinja2.utils.markupsafe.Markup(value) for name, value in safe.items()},
        **_context(study, title, sections),
        code={name: jinja2.utils.markupsafe.escape(text) for name, text in _code(study, commands).items()},
    )
    return text


def _unbroken(value: Any) -> Any:
    """A text in which no line ends between a number and its percent sign; markup stays as it is."""
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", value) if type(value) is str else value


def _context(study: Study, title: str, sections: Sequence[Section]) -> dict[str, Any]:
    comparison = study.comparison
    return {
        "title": title,
        "study": study,
        "version": calibrant.__version__,
        "level": f"{100 * study.level:g} %",
        "total": count(study.total),
        "weighted": _weighted(study),
        "positive": percent(study.base_rate),
        "outcome": outcome_of(study.top_label),
        "answer": answer(study),
        "steps": next_steps(study),
        "method": study.title_of(study.name),
        "chips": [
            {"name": name, "title": sentence_case(study.titles[name]), "line": _line(place)}
            for place, name in enumerate(study.maps)
        ],
        "sides": [
            _side_context(side, name, outcome_of(study.top_label))
            for side, name in ((study.before, "before"), (study.after, "after"))
            if side is not None
        ],
        "probabilities": study.before is not None,
        "map_rows": tables.map_rows(study.maps[study.name], study.before is not None),
        "groups": tables.measure_groups(study),
        "methods": tables.method_rows(study),
        "result": comparison_result(study),
        "reference": interval_plots.reference_title(comparison) if comparison is not None else "",
        "segments": tables.segment_rows(study.segments),
        "segment_choices": [one.name for one in study.segments if one.diagram is not None],
        "segments_shown": MOST_SEGMENTS,
        "notes": [
            _note(text, study.titles) for text in (*study.notes, *(comparison.notes if comparison is not None else ()))
        ],
        "sections": sections,
        "data": _data(study, sections),
    }


def _note(text: str, titles: Mapping[str, str]) -> str:
    """A note that begins with the name of a method, which readers of the page know by its title."""
    name, colon, rest = text.partition(": ")
    return f"{sentence_case(short_title(titles[name]))}{colon}{rest}" if colon and name in titles else text


def _weighted(study: Study) -> bool:
    """Whether rows were counted by weight: only then can a number of rows be broken."""
    totals = (study.before or study.after).tally.totals
    return bool(np.any(totals != np.rint(totals)))


def _line(place: int) -> str:
    """The classes of a sample of the line that the map draws for the method at this place."""
    color, dash = figures.line_of(place)
    return f"{color[1:]} line-{dash}"


def _side_context(side: Side, name: str, words: Outcome) -> dict[str, Any]:
    gaps = side.linear.points["mean_score"] - side.linear.points["fraction"]
    worst = side.linear.points[abs(gaps).argmax()]
    return {
        "name": name,
        "alt": f"Reliability diagram {name} calibration, {len(gaps)} groups of rows. The widest gap is where "
        f"{percent(worst['mean_score'])} was predicted and {percent(worst['fraction'])} {words.past}. "
        "All values are in the table below the figure.",
        "points": tables.point_rows(side.linear.points),
        "bars": tables.histogram_rows(side.linear.histogram),
    }


def _data(study: Study, sections: Sequence[Section]) -> dict[str, Any]:
    """The data of the page's script."""
    scale, words = figures.shared_scale(study), outcome_of(study.top_label)
    drawn = {
        "after": figures.reliability_figure(study.after, "@after", scale, words),
        "map": figures.map_figure(study, scale),
        "scores": figures.scores_figure(study, scale),
    }
    if study.before is not None:
        drawn["before"] = figures.reliability_figure(study.before, "@before", scale, words)
    if study.comparison is not None:
        drawn["comparison"] = interval_plots.comparison_figure(study.comparison, study.name)
    if study.segments:
        drawn["segments"] = interval_plots.segments_figure(study.segments[:MOST_SEGMENTS], words)
    for section in sections:
        drawn |= {f"{section.name}-{place}": one.figure for place, one in enumerate(section.figures)}
    return {
        "figures": drawn,
        "segments": figures.segment_diagrams(study, scale),
        "segment_rows": [tables.point_rows(one.diagram.points) for one in study.segments if one.diagram is not None],
        "scale": _default_scale(study),
    }


def _default_scale(study: Study) -> str:
    """Stretched where half of the rows have probabilities that crowd at the ends of even axes."""
    scores = (study.before or study.after).linear.points["mean_score"]
    return "logit" if np.median(np.minimum(scores, 1.0 - scores)) < CROWDED else "linear"


def _code(study: Study, commands: str) -> dict[str, str]:
    """Code that fits the method shown, in Python and, where its name is known there, on the command line."""
    shell = commands.replace("{method}", study.name)
    if isinstance(study.calibrator, MatrixCalibrator):
        return {"python": _matrix_code(study.calibrator), "shell": shell}
    banded = hasattr(study.calibrator, "sample_maps")
    interval = f"low, high = calibrator.predict_interval(new_scores, level={study.level:g})\n" if banded else ""
    what = "the highest score of each row, and whether its class was right" if study.top_label else ""
    python = (
        f"{_constructor(study.calibrator)}"
        f"calibrator.fit(scores, labels)  # {what or 'rows whose outcome is known'}\n"
        "probabilities = calibrator.predict(new_scores)\n"
        f"{interval}"
        'calibrator.save("calibration.json")  # calibrant.load reads it back'
    )
    known = study.name in registry.names()
    return {"python": python, "shell": shell if known else ""}


def _matrix_code(calibrator: MatrixCalibrator) -> str:
    return (
        f"{_constructor(calibrator)}"
        "calibrator.fit(scores, labels)  # (n, K), a column for each class\n"
        "probabilities = calibrator.predict_proba(new_scores)\n"
        'calibrator.save("calibration.json")  # calibrant.load reads it back'
    )


def _constructor(calibrator: Calibrator | MatrixCalibrator) -> str:
    cls = type(calibrator)
    if getattr(calibrant, cls.__name__, None) is cls:
        return f"import calibrant\n\ncalibrator = calibrant.{calibrator!r}\n"
    return f"from {cls.__module__} import {cls.__name__}\n\ncalibrator = {calibrator!r}\n"
