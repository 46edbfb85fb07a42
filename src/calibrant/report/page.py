"""The page: numbers, words and figures put into one HTML file."""

import os
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import calibrant
from calibrant._files import write_atomically
from calibrant._optional import require
from calibrant._typing import ArrayLike
from calibrant.calibrators import registry
from calibrant.calibrators.base import Calibrator
from calibrant.comparison import Comparison
from calibrant.multiclass.base import MatrixCalibrator
from calibrant.report.context import draw_study, method_context, page_context, segment_context
from calibrant.report.decision_section import Question, decision_section
from calibrant.report.section import Section
from calibrant.report.study import Study, make_study
from calibrant.report.svg import draw_figure
from calibrant.tally import Tally, to_tally

CALLER = "The report"
COMMANDS = (
    "calibrant fit data.parquet --method {method} -o calibration.json\n"
    "calibrant apply calibration.json new.parquet -o calibrated.parquet"
)
OWN_FILES = ("figures.css", "style.css", "figures.js", "page.js")
TEMPLATES = ("template.html.jinja", "macros.html.jinja")


def write_report(
    path: str | os.PathLike[str],
    scores: ArrayLike | Tally,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
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
    scores : array-like of shape (n,), or Tally
        Scores; or a tally in place of scores and labels. Scores outside [0, 1] are taken as mere scores: the page then
        shows only what comes after.
    y : array-like of shape (n,), optional
        Labels.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class.
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
    >>> from calibrant import compare, simulate
    >>> from calibrant.report import write_report
    >>> data = simulate.from_truth("underconfident", 500)
    >>> comparison = compare(data.scores, data.labels, methods=["platt"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report.html"
    ...     write_report(path, data.scores, data.labels, method="bayes_iso", comparison=comparison)
    ...     "credible interval" in path.read_text(encoding="utf-8")
    True
    """
    tally = to_tally(scores, y, sample_weight, pos_label)
    study = make_study(tally, segments=segments, comparison=comparison, method=method, top_label=top_label)
    if costs is not None or thresholds is not None:
        sections = (*sections, decision_section(study, Question(costs, thresholds)))
    write_study(path, study, title, commands=commands or COMMANDS, sections=sections)


def write_study(
    path: str | os.PathLike[str], study: Study, title: str, *, commands: str, sections: Sequence[Section]
) -> None:
    """Write the page of a study, whole or not at all."""
    jinja2 = require("jinja2", "report", CALLER)
    write_atomically(path, render(study, title, jinja2, commands=commands, sections=sections))


def render(study: Study, title: str, jinja2: Any, *, commands: str = COMMANDS, sections: Sequence[Section] = ()) -> str:
    """The page as a string; every text is escaped unless it is one of this package's own files or a drawn figure."""
    folder = resources.files(__package__)
    own = {name: (folder / name).read_text("utf-8") for name in (*OWN_FILES, *TEMPLATES)}
    environment = jinja2.Environment(
        loader=jinja2.DictLoader({name: own[name] for name in TEMPLATES}),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_unbroken,
    )
    markup = jinja2.utils.markupsafe.Markup
    drawn = draw_study(study) | _draw_sections(sections)
    text: str = environment.get_template("template.html.jinja").render(
        **page_context(study, title),
        sections=sections,
        style=markup(own["figures.css"] + own["style.css"]),
        script=markup(own["figures.js"] + own["page.js"]),
        drawn={name: markup(svg) for name, svg in drawn.items()},
        methods=method_context(study, markup),
        segments=segment_context(study, markup),
        code={name: jinja2.utils.markupsafe.escape(text) for name, text in _code(study, commands).items()},
    )
    return text


def _unbroken(value: Any) -> Any:
    """A text in which no line ends between a number and its percent sign; markup stays as it is."""
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", value) if type(value) is str else value


def _draw_sections(sections: Sequence[Section]) -> dict[str, str]:
    return {
        f"{section.name}-{place}": draw_figure(one.figure)
        for section in sections
        for place, one in enumerate(section.figures)
    }


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
