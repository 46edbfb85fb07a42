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
from calibrant.errors import InvalidInputError
from calibrant.report.calibration_sections import EVERY_PAGE
from calibrant.report.data import ReportData, check_shape, make_report_data
from calibrant.report.decision_sections import DecisionProblem, decision_section, gate_section, unlabelled_section
from calibrant.report.part_sections import class_sections, segments_section
from calibrant.report.sections import Section
from calibrant.report.texts import say
from calibrant.report.time_section import time_section
from calibrant.report.tripod import fill_tripod, tripod_section
from calibrant.report.verdict import answer, key_figures, next_steps
from calibrant.report.wording import count, outcome_of, percent, sentence_case, short_title
from calibrant.tally import Tally

CALLER = "The report"


def write_report(
    path: str | os.PathLike[str],
    scores: Any,
    y: ArrayLike | None = None,
    *,
    classes: Sequence[Any] | None = None,
    segments: Mapping[Any, Tally] | None = None,
    segment_keys: Sequence[str] = ("segment",),
    comparison: Comparison | None = None,
    method: str | Calibrator | None = None,
    title: str = "Calibration report",
    commands: str | None = None,
    top_label: bool = False,
    costs: tuple[float, float] | None = None,
    thresholds: tuple[float, float] | None = None,
    precision: float | None = None,
    unlabelled: ArrayLike | Tally | None = None,
    tripod: bool | Mapping[str, ArrayLike] = False,
    time: ArrayLike | None = None,
    every: str | None = None,
    **options: Any,
) -> None:
    """Write a report on the scores of a model as one HTML file that needs nothing else, not even a network.

    It says in plain words whether the model is calibrated and how sure that is, draws reliability diagrams before and
    after calibration and the fitted map, and gives measures, a comparison of methods, segments, and the code to go on.
    Of several classes it shows the predicted one, then all of them together, and each by itself.
    Everything after calibration is cross-fitted: no row is judged by a fit that has seen it, so it takes at least two
    rows of each class.

    Parameters
    ----------
    path : path-like
        Where to write; an existing file is replaced only when the new one is complete.
    scores : array-like of shape (n,) or (n, K), Tally, or dict of columns
        Scores, with a column for each of several classes; or a tally in place of scores and labels. A dictionary has
        several scores of each row by name: the page shows what each of them adds to their one probability.
    y : array-like of shape (n,), optional
        Labels; with several classes the columns are the sorted labels, or 0 … K − 1 where some classes have no rows.
    classes : sequence, optional
        Names of the columns of several classes; by default the labels.
    segments : dict of segment to Tally, optional
        Parts of the same rows, each judged by itself: before calibration, with one map for all, and with a map for
        each. With several keys, segments are tuples.
    segment_keys : sequence of str
        Names of the keys.
    comparison : Comparison, optional
        The result of `calibrant.compare` on these rows; by default it is computed. Its fits are not made again.
    method : str or calibrator, optional
        The method to show; by default the one that the comparison recommends. Of several classes, one that is compared.
    title : str
        The heading of the page.
    commands : str, optional
        What the page shows for the command line, with ``{method}`` for the method; by default for any table.
    top_label : bool
        Whether one score a row is the highest of several classes, and a label is positive where that class was right.
        The page then says "right" instead of "happened".
    costs : (float, float), optional
        Of a false positive and of a false negative: adds a section on decisions at the threshold that they imply, and
        on what calibrating first saves.
    thresholds : (float, float), optional
        The lowest and the highest probability from which one might act, for that section.
    precision : float, optional
        The share of right rows that accepted ones must have: adds a section on the scores from which they do.
    unlabelled : array-like of shape (m,), or Tally, optional
        Scores of rows without labels: adds a section on what to expect of them.
    tripod : bool, or dict of str to array-like of shape (n,)
        Whether to add the TRIPOD+AI checklist for papers on clinical models, as `fill_tripod` fills it with groups as
        centres; or its columns of subgroups, by name.
    time : array-like of shape (n,), optional
        The period of each row, such as its month: adds a section on what changed from period to period.
    every : {"day", "week", "month", "quarter", "year"}, optional
        The length of a period, where `time` has dates.
    **options
        Those of `calibrant.compare` that say what the rows are and what is compared: `sample_weight`, `pos_label`,
        `groups`, `space`, `methods`, `progress`. Of one decision score a row the page shows only what comes after
        calibration. The comparison of methods, the measures and decisions allow for groups; the page says which
        intervals do not.

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
    for module in ("jinja2", "matplotlib"):
        require(module, "report", CALLER)
    for_one_score = {"costs": costs, "thresholds": thresholds, "unlabelled": unlabelled, "segments": segments}
    check_shape(scores, **for_one_score, tripod=tripod, time=time, top_label=top_label)
    problem = None if costs is None and thresholds is None else DecisionProblem(costs, thresholds)
    over_time = None if time is None else time_section(scores, y, time, every=every, of_rows=options)
    of_parts: dict[str, Any] = {"classes": classes, "segments": segments, "segment_keys": segment_keys}
    of_parts |= {"comparison": comparison, "method": method, "top_label": top_label}
    data = make_report_data(scores, y, **of_parts, **options)
    checklist = None if tripod is False else _tripod_section(tripod, data.comparison, (scores, y), problem, options)
    about: dict[str, Any] = {"commands": commands, "precision": precision, "unlabelled": unlabelled}
    write_atomically(path, render(data, title, problem, **about, more=[over_time, checklist]))


def _tripod_section(
    tripod: Any, comparison: Comparison, rows: Any, problem: DecisionProblem | None, of_rows: Mapping[str, Any]
) -> Section:
    """The checklist of the page's own rows and recommendation, with the level of medical journals."""
    if of_rows.get("space", "probability") != "probability":
        raise InvalidInputError("`tripod` needs probabilities; got decision scores. Calibrate them first.")
    labels, probabilities = rows if isinstance(rows[0], Tally) else rows[::-1]
    about: dict[str, Any] = {name: of_rows.get(name) for name in ("sample_weight", "pos_label")}
    about |= {"subgroups": None if tripod is True else tripod, "centres": of_rows.get("groups"), "level": 0.95}
    cuts = () if problem is None else sorted({*problem.ends, problem.threshold})
    return tripod_section(fill_tripod(labels, probabilities, thresholds=cuts, comparison=comparison, **about))


def render(
    data: ReportData,
    title: str,
    problem: DecisionProblem | None = None,
    *,
    commands: str | None = None,
    precision: float | None = None,
    unlabelled: ArrayLike | Tally | None = None,
    more: Sequence[Section | None] = (),
) -> str:
    """The page as a string; every text is escaped unless it is one of this package's own files or a drawn figure."""
    jinja2: Any = require("jinja2", "report", CALLER)
    sections = [
        *(section(data) for section in EVERY_PAGE),
        segments_section(data),
        *(class_sections(data.classes) if data.classes is not None else ()),
        decision_section(data, problem) if problem is not None else None,
        gate_section(data, precision) if precision is not None else None,
        unlabelled_section(data, unlabelled) if unlabelled is not None else None,
        *more,
    ]
    folder = resources.files(__package__)
    template, style = ((folder / name).read_text("utf-8") for name in ("template.html.jinja", "style.css"))
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_unbroken,
    )
    outcome = outcome_of(data.top_label)
    weighted = " by weight" if (data.tally.totals % 1.0).any() else ""  # only then can a number of rows be broken
    markup = jinja2.utils.markupsafe.Markup
    page = environment.from_string(template).render(
        title=title,
        data=data,
        version=calibrant.__version__,
        facts=f"{count(data.tally.total)} rows{weighted}, {percent(data.tally.base_rate)} of them {outcome.positive}",
        outcome=outcome,
        answer=answer(data),
        steps=[*_steps_in_time(more), *next_steps(data)],
        key_figures=key_figures(data, problem),
        sections=[section for section in sections if section is not None],
        markup=markup,
        style=markup(style),
        code={name: jinja2.utils.markupsafe.escape(text) for name, text in _code(data, commands).items()},
        notes=[_note(text, data.titles) for text in (*data.notes, *data.comparison.notes)],
    )
    return str(page)


def _steps_in_time(sections: Sequence[Section | None]) -> list[str]:
    """What the replay says, before all else: every other figure of the page takes rows in any order."""
    replays = [section for section in sections if section is not None and section.name == "time"]
    return [say("time", "step", replayed=one.sentences[0]) for one in replays]


def _unbroken(value: Any) -> Any:
    """A text in which no line ends between a number and its percent sign; markup stays as it is."""
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", value) if type(value) is str else value


def _note(text: str, titles: Mapping[str, str]) -> str:
    """A note that begins with names of methods, which readers of the page know by their titles."""
    match = re.match(r"(\w+(?:, \w+)*)(: | is )", text)
    if match is None or not all(name in titles for name in match[1].split(", ")):
        return text
    names = ", ".join(short_title(titles[name]) for name in match[1].split(", "))
    return sentence_case(f"{names}{text[match.end(1) :]}")


def _code(data: ReportData, commands: str | None) -> dict[str, str]:
    """Code that fits the method shown, in Python and, where its name is known there, on the command line."""
    cls, several = type(data.calibrator), data.classes is not None
    known = getattr(calibrant, cls.__name__, None) is cls
    kind = "classes" if several else "panel" if data.map is None else "top_label" if data.top_label else "score"
    banded = hasattr(data.calibrator, "sample_maps") and not several
    python = say(
        "code",
        "python",
        head="import calibrant" if known else f"from {cls.__module__} import {cls.__name__}",
        made=f"{'calibrant.' if known else ''}{data.calibrator!r}",
        rows=say("code", kind),
        predict="predict_proba" if several else "predict",
        interval=say("code", "interval", level=data.level) if banded else "",
    )
    shell = (commands or say("commands", kind.replace("top_label", "score"))).replace("{method}", data.name)
    return {"python": python} | (
        {"shell": shell} if kind in ("classes", "panel") or data.name in registry.names() else {}
    )
