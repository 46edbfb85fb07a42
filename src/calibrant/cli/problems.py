"""The labelled rows that a command is about, read from a table: the one place that knows their shape."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from calibrant.cli.columns import REPAIR, Columns, choose_columns, choose_scores
from calibrant.cli.columns import drop_missing as drop
from calibrant.cli.errors import Refusal, in_options
from calibrant.cli.printing import note, progress, shorten, warn
from calibrant.engines.tables import Table, literal, open_table, quote

if TYPE_CHECKING:
    from calibrant._typing import Floats
    from calibrant.maps.base import FrozenMap
    from calibrant.tally import Tally

MOST_SEGMENTS = 200
YES = ("1", "yes", "true", "y", "t", "positive", "pos")
FIT_FIRST = "Learn a map with `calibrant fit --space decision`, then add --model model.json."
SAY_SPACE = "Margins, logits and other decision scores need --space decision."


class Rows(NamedTuple):
    """Single rows, where a tally does not do: of a matrix, or in groups that must stay together."""

    scores: Any
    labels: Any  # whether a row is positive, or the number of its column
    weights: Floats | None
    groups: Any = None
    by: Any = None  # the columns of segments by name


@dataclass(frozen=True)
class Problem:
    """Labelled rows of one shape, as the library takes them.

    Attributes
    ----------
    shape : {"score", "matrix", "segments", "panel"}
        One score in each row, a column for each class, a score with the segment of its row, or several scores.
    columns : Columns
        Where they were read.
    name : str
        What to call the table.
    tally : Tally or None
        All rows; None with a matrix.
    segments : dict of tuple to Tally
        The rows of each segment, by its keys.
    rows : Rows or None
        Single rows of a matrix, of several scores by name, or of one score in groups.
    classes : tuple
        The labels of the columns of a matrix.
    space : {"probability", "decision"}
        What the scores are.
    positive : label
        The positive one of two labels; None where the labels say it.
    over_time : bool
        Whether the groups of the rows are their times.
    """

    shape: str
    columns: Columns
    tally: Any = None
    segments: Mapping[tuple[Any, ...], Tally] = field(default_factory=dict)
    rows: Any = None
    classes: tuple[Any, ...] = ()
    space: str = "probability"
    name: str = ""
    positive: Any = None
    over_time: bool = False

    @property
    def method_shape(self) -> str:
        """The shape of the methods that are fitted to it: segments share the curve of one score."""
        return "score" if self.shape == "segments" else self.shape

    @property
    def n_rows(self) -> float:
        """The (weighted) number of rows."""
        if self.tally is not None:
            return float(self.tally.total)
        return float(len(self.rows.labels) if self.rows.weights is None else self.rows.weights.sum())

    @property
    def data(self) -> dict[str, Any]:
        """The arguments by which `calibrant.compare` and the report get these rows."""
        if self.rows is None:
            return {"scores": self.tally, "space": self.space}
        scores, labels, weights, groups, _ = self.rows
        of_groups = {"time" if self.over_time else "groups": groups}
        return {"scores": scores, "y": labels, "sample_weight": weights, "space": self.space} | of_groups

    @property
    def parts(self) -> dict[str, Tally]:
        """The tally of each segment by its name, or of each class against the rest by its column."""
        from calibrant.metrics.multiclass import class_tallies
        from calibrant.metrics.samples import read_classes
        from calibrant.monitoring.named_tallies import name_of

        if self.shape != "matrix":
            return {name_of(segment): tally for segment, tally in self.segments.items()}
        sample = read_classes(self.rows.labels, self.rows.scores, self.rows.weights)
        return dict(zip(self.columns.scores, class_tallies(sample), strict=True))

    def fit(self, calibrator: Any) -> None:
        """Fit a calibrator of this shape."""
        if self.shape == "segments":
            calibrator.fit_tallies(self.segments, self.columns.by)
        elif self.shape == "score":
            calibrator.fit_tally(self.tally)
        else:
            # Labels of a matrix are column numbers, because the order of the columns need not be that of the labels.
            calibrator.fit(self.rows.scores, self.rows.labels, self.rows.weights)
        if self.shape == "matrix":
            calibrator.map_ = replace(calibrator.map_, classes=self.classes, columns=self.columns.scores)

    def calibrated(self, map_: FrozenMap | None) -> Problem:
        """Return the same rows with probabilities as scores: those of a map, the softmax of logits, or as they are."""
        from calibrant.metrics.samples import read_classes
        from calibrant.monitoring.named_tallies import ALL, predict_tallies
        from calibrant.tally import Tally

        if self.shape == "matrix" and map_ is None:
            scores = read_classes(self.rows.labels, self.rows.scores, space=self.space).probabilities
            return replace(self, rows=self.rows._replace(scores=scores), space="probability")
        if map_ is None and self.space == "decision":
            raise Refusal(f"'{shorten(self.columns.score)}' is said to hold decision scores. {FIT_FIRST}")
        if map_ is None:
            return self
        rows = self.rows and self.rows._replace(scores=map_(self.rows.scores))
        if self.shape in ("matrix", "panel"):
            return replace(self, rows=rows, space="probability")
        found = predict_tallies(dict(self.segments) or {ALL: self.tally}, map_)
        segments = found if self.segments else {}
        tally = sum(found.values(), Tally.empty())
        return replace(self, tally=tally, segments=segments, rows=rows, space="probability")

    def check_probabilities(self, advice: str = SAY_SPACE) -> None:
        """Refuse one score that is said to be a probability and cannot be one."""
        from calibrant import _validation

        if self.tally is None or self.space == "decision" or _validation.are_probabilities(self.tally.scores):
            return
        name, low, high = shorten(self.columns.score), self.tally.scores[0], self.tally.scores[-1]
        scale = "Divide percentages by 100. " if _validation.may_be_percentages(self.tally.scores) else ""
        raise Refusal(f"'{name}' goes from about {low:.4g} to {high:.4g}: it holds no probabilities. {scale}{advice}")


def read_problem(
    source: list[str] | Table,
    named: Columns,
    *,
    drop_missing: bool = False,
    positive: str | None = None,
    space: str | None = None,
    top_label: bool = False,
    most_segments: int | None = None,
    crossfitted: bool = False,
    panel: bool = False,
    like: Problem | None = None,
    single: bool = False,
) -> Problem:
    """Read the rows of some files or of an open table: the columns named or guessed say what shape they have.

    Rows `like` those of another problem have its positive label, even where only the other label is among them. Single
    rows are kept where they are in groups, or asked for.
    """
    from calibrant import _validation
    from calibrant.tally import Tally

    with nullcontext(source) if isinstance(source, Table) else open_table(source) as table:
        panel = panel or (like is not None and like.shape == "panel")
        columns = choose_columns(table, named, any_scores=panel)
        chosen = _validation.check_choice("space", space or "probability", _validation.SPACES)
        shape = "panel" if panel else "matrix" if len(columns.scores) > 1 and not top_label else "score"
        _refuse_options(shape, columns, chosen, positive, top_label, single=single)
        rows = drop(table, replace(columns, scores=() if panel else columns.scores)) if drop_missing else table
        if crossfitted and columns.weight is not None:
            _warn_of_copies(rows, columns.weight)
        about: dict[str, Any] = {"space": chosen, "name": table.name}
        if shape == "matrix":
            classes = _classes_of(rows, columns)
            return Problem(shape, columns, rows=_fetch(rows, columns, shape, classes=classes), classes=classes, **about)
        view, names = _view_top_label(rows, columns) if top_label else (rows, columns)
        label = like.positive if like is not None else _positive_label(view, names.label, positive)
        about["positive"] = label
        if panel:
            return Problem(shape, columns, rows=_fetch(rows, columns, shape, positive=label), **about)
        if columns.by:
            if most_segments is not None:
                _check_number_of_segments(view, columns.by, most_segments)
            # What is neither text, number nor boolean becomes text.
            others = {name: quote(name) for name in (names.score, names.label, names.weight) if name is not None}
            casts = {name: view.segment(name) for name in columns.by}
            segments = _count(view.select(others | casts), names, label, [*columns.by])
            about["rows"] = _fetch(view, names, shape, positive=label) if single else None
            return Problem("segments", columns, sum(segments.values(), Tally.empty()), segments, **about)
        tally = _count(view, names, label)  # also of single rows: it says in good words what is wrong with them
        about["rows"] = _fetch(view, names, shape, positive=label) if columns.groups or single else None
        return Problem(shape, columns, tally, **about)


def _refuse_options(
    shape: str, columns: Columns, space: str, positive: str | None, top_label: bool, *, single: bool
) -> None:
    """Refuse options that say nothing about rows of this shape."""
    several, panel, by = len(columns.scores) > 1, shape == "panel", columns.by
    refusals = {
        "--by and --top-label are not for several scores of a row; leave them out.": panel and (by or top_label),
        "--top-label needs the score columns of all classes; name them with --score a,b,c.": top_label and not several,
        "--top-label takes probabilities; leave out --space decision.": top_label and space == "decision",
        "--positive is for one score; leave it out with several.": several and not panel and positive is not None,
        "--by with several classes needs --top-label.": shape == "matrix" and by,
        "--groups and --by cannot go together.": by and columns.groups and not single,
    }
    for sentence, applies in refusals.items():
        if applies:
            raise Refusal(sentence)


def read_unlabelled(files: list[str], scores: list[str] | None, weight: str | None = None, map_: Any = None) -> Any:
    """Count the scores of rows without labels, in the engine; those of a map of several scores are fetched by name."""
    with open_table(files) as table:
        if map_ is not None and map_.kind == "panel":
            if scores or weight:
                raise Refusal("A model of several scores finds them by their names; leave out --score and --weight.")
            kinds = _score_kinds(table, [name for name in map_.names if name in table.columns], panel=True)
            found = table.select({f"s{k}": f"{quote(name)}::{kinds[name]}" for k, name in enumerate(kinds)})
            return dict(zip(kinds, _score_arrays(found.relation.fetchnumpy(), kinds), strict=True))
        names = choose_scores(table, scores or [])
        if len(names) > 1:
            raise Refusal("Estimates take one score column; name it with --score.")
        return _count(*_view(table, Columns(names, "", weight), {"score": quote(names[0]), "unknown": "FALSE"}))


def _warn_of_copies(table: Table, weight: str) -> None:
    """Say what weights are taken for: a row that counts three times may be both learnt from and judged by."""
    largest = table.values(f"SELECT max({quote(weight)}) FROM rows")[0][0]
    if largest is not None and largest > 1:
        warn(
            f"Each weight counts as that many rows, so the weights in '{weight}' must be counts. If they are not, "
            "divide them by the largest: otherwise copies of a row are learnt from and judged by, and the comparison "
            "favours methods that follow single rows."
        )


def _count(table: Table, columns: Columns, positive: Any = None, by: list[str] | None = None) -> Any:
    """Count rows in the engine; what is wrong with them is said in terms of the columns."""
    from calibrant import engines
    from calibrant.errors import InvalidInputError

    names: dict[str, Any] = {"score": columns.score, "label": columns.label, "weight": columns.weight}
    with progress(f"reading {table.name}"):
        try:
            return engines.tally(table.relation, pos_label=positive, by=by, **names)
        except InvalidInputError as error:
            lacking = table.describe_missing(columns.scores, columns.label)
            if lacking is not None:
                raise Refusal(f"{lacking} {REPAIR}") from error
            raise Refusal(_in_columns(str(error), table, names)) from error


def _in_columns(text: str, table: Table, known: dict[str, Any]) -> str:
    """Rewrite a message of the engine, which calls columns by their names, with the options that name them."""
    if "`source` must have at least one row" in text:
        return f"{table.name} has no rows."
    for role, name in known.items():
        text = text.replace(f"`{name}`", f"--{role}" if role == name else f"--{role} '{shorten(name or '')}'")
    return in_options(text)


def _positive_label(table: Table, label: str, given: str | None) -> Any:
    """Return the positive label in the type of its column; of two words, one that says yes needs no option."""
    values = [] if given is None and table.is_number(label) else table.distinct(label, 3)
    if given is not None:
        # The engine reads yes as true, and 2 as 2.0.
        typed = table.values(f"SELECT try_cast({literal(given)} AS {table.kind(label)})")[0][0]
        if typed not in values and len(values) < 3:
            known = ", ".join(shorten(str(value)) for value in values)
            raise Refusal(f"--positive must be a label in '{shorten(label)}' ({known}); got {given!r}.")
        return typed
    yes = [value for value in values if str(value).lower() in YES]
    if len(values) == 2 and len(yes) == 1:
        note(f"Rows with {shorten(label)} = {yes[0]!r} count as positive; choose another label with --positive.")
        return yes[0]
    return None


def _check_number_of_segments(table: Table, by: tuple[str, ...], most: int) -> None:
    """Refuse columns with more values than anybody looks at one by one."""
    together = ", ".join(f"{quote(name)}::VARCHAR" for name in by)
    n_segments = table.values(f"SELECT approx_count_distinct(concat_ws(chr(31), {together})) FROM rows")[0][0]
    if n_segments > most:
        names = "' and '".join(by)
        raise Refusal(f"--by '{names}' has about {n_segments} values; choose a column with at most {most}.")


def _fetch(table: Table, columns: Columns, shape: str, *, classes: tuple[Any, ...] = (), positive: Any = None) -> Rows:
    """Fetch single rows: a matrix (n, K) with the columns of its labels, several scores by name, or one score."""
    import numpy as np

    from calibrant._validation import encode_labels

    # Of several scores in a row some may be missing.
    lacking = table.describe_missing(() if shape == "panel" else columns.scores, columns.label)
    if lacking is not None:
        raise Refusal(f"{lacking} {REPAIR}")
    kinds = _score_kinds(table, columns.scores, panel=shape == "panel")
    wanted = {f"s{k}": f"{quote(name)}::{kind}" for k, (name, kind) in enumerate(kinds.items())}
    as_text = shape == "matrix" and not table.is_number(columns.label)
    wanted["label"] = f"{quote(columns.label)}::VARCHAR" if as_text else quote(columns.label)
    wanted |= {} if columns.weight is None else {"weight": f"{quote(columns.weight)}::DOUBLE"}
    wanted |= {} if columns.groups is None else {"group": quote(columns.groups)}
    wanted |= {f"by{k}": f"{table.segment(name)}::VARCHAR" for k, name in enumerate(columns.by)}
    with progress(f"reading {table.name}"):
        found = table.select(wanted).relation.fetchnumpy()
    if not len(found["label"]):
        raise Refusal(f"{table.name} has no rows.")
    missing = int(np.ma.getmaskarray(found["group"]).sum()) if "group" in found else 0
    if missing:
        raise Refusal(f"--groups '{columns.groups}' is missing in {missing} rows; drop them, or give each its own.")
    scores: Any = _score_arrays(found, kinds)
    labels = np.ma.getdata(found["label"])
    if shape == "matrix":
        known, inverse = np.unique(labels, return_inverse=True)
        labels = np.array([classes.index(value) for value in known.tolist()], dtype=np.intp)[inverse]
        scores = np.column_stack(scores)
    else:
        labels, _ = encode_labels(labels, positive, "label")
        scores = dict(zip(columns.scores, scores, strict=True)) if shape == "panel" else scores[0]
    weights = np.ma.filled(found["weight"], np.nan) if "weight" in found else None
    by = {name: np.ma.filled(found[f"by{k}"].astype(object), "missing") for k, name in enumerate(columns.by)}
    return Rows(scores, labels, weights, found.get("group"), by)


def _score_kinds(table: Table, names: Iterable[str], *, panel: bool) -> dict[str, str]:
    """The type to fetch of each score: single precision takes half of the memory where there is no more."""
    number = "FLOAT" if all(table.kind(name) == "FLOAT" for name in names) else "DOUBLE"
    is_level = {name: panel and (not table.is_number(name) or table.kind(name) == "BOOLEAN") for name in names}
    return {name: "VARCHAR" if level else number for name, level in is_level.items()}


def _score_arrays(found: Mapping[str, Any], kinds: Mapping[str, str]) -> list[Any]:
    """The fetched scores, NaN or None where they are missing."""
    import numpy as np

    return [
        np.ma.filled(found[f"s{k}"].astype(object), None) if kind == "VARCHAR" else np.ma.filled(found[f"s{k}"], np.nan)
        for k, kind in enumerate(kinds.values())
    ]


def _classes_of(table: Table, columns: Columns) -> tuple[Any, ...]:
    """Return the label that each score column stands for.

    Labels are the names of the columns, their ends behind a common beginning (``p_cat``, ``p_dog``), or the numbers
    0 … K−1 in the order of the columns.
    """
    names = columns.scores
    labels = set(table.distinct(columns.label, len(names) + 1))
    shared = len(os.path.commonprefix(names))  # noqa: RUF071 - letter by letter is meant
    # What the names share may belong to the labels, too: cat and car in p_cat and p_car.
    ends = [[name[start:] for name in names] for start in range(shared + 1)]
    if table.is_number(columns.label):
        numbers = [[int(text) for text in texts] for texts in ends if all(text.isdigit() for text in texts)]
        candidates: list[list[Any]] = [*numbers, list(range(len(names)))]
    else:
        candidates, labels = ends, {str(label) for label in labels}
    for candidate in candidates:
        if labels <= set(candidate):
            return tuple(candidate)
    got = ", ".join(map(repr, sorted(labels, key=str)[:6]))
    raise Refusal(
        f"The labels in '{columns.label}' must be the names of the score columns ({', '.join(names[:6])}) or 0 … "
        f"{len(names) - 1} in their order; got {got}. Several scores of a row need a --score for each."
    )


def _view_top_label(table: Table, columns: Columns) -> tuple[Table, Columns]:
    """Return the highest score of each row, and whether its class was right; of equal scores the first wins."""
    highest = f"greatest({', '.join(map(quote, columns.scores))})"
    classes = zip(columns.scores, _classes_of(table, columns), strict=True)
    cases = " ".join(f"WHEN {quote(name)} = {highest} THEN {literal(label)}" for name, label in classes)
    return _view(table, columns, {"confidence": highest, "hit": f"(CASE {cases} END = {quote(columns.label)})"})


def _view(table: Table, columns: Columns, expressions: dict[str, str]) -> tuple[Table, Columns]:
    """Return a table of a score, a label and the columns beside them."""
    others = (columns.weight, *columns.by, columns.groups)
    score, label, *_ = expressions
    view = table.select(expressions | {name: quote(name) for name in others if name is not None})
    return view, replace(columns, scores=(score,), label=label)
