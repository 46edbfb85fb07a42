"""TRIPOD+AI, the checklist for papers on prediction models: the items that a validation answers, and with what."""

import csv
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from calibrant import _validation
from calibrant._tables import Table as TextTable
from calibrant._tables import TableResult
from calibrant._typing import ArrayLike, Floats
from calibrant.adjust.update_choice import UpdateChoice, choose_update
from calibrant.comparison import Comparison
from calibrant.comparison.candidates import RAW, title_of
from calibrant.errors import InvalidInputError
from calibrant.metrics import validation
from calibrant.metrics.folds import predict_folds, split_sample
from calibrant.metrics.pooling import validate_centres
from calibrant.metrics.sample_size import required_rows
from calibrant.metrics.samples import GroupedRows, ScoreSample, Seed, read_sample
from calibrant.metrics.validation import CAPTION, ValidationSummary, measure_named, measure_text
from calibrant.report.sections import Cell, Row, Section, Table
from calibrant.report.texts import say
from calibrant.tally import Tally, row_count

FOLDS = 10
WIDTH = 120  # of printed lines
FEWEST_EVENTS = 10  # in a centre on average: with fewer, its slope and AUC say nothing
MEASURED, POOLED = "metrics.validation_summary", "metrics.validate_centres"


class Item(NamedTuple):
    """An item: what it asks for, what this run answers and by which function, and what is to be added by hand."""

    part: str
    number: str
    asks: str
    add: str
    answer: str = ""
    source: str = ""


@dataclass(frozen=True, repr=False)
class TripodChecklist(TableResult):
    """The checklist, filled as far as labels and probabilities can; it prints itself and writes tables.

    Attributes
    ----------
    items : tuple of Item
        All items in their order, with `number`, `asks`, `answer`, `source` and what is to `add`.
    summary : ValidationSummary
        The performance on all rows.
    subgroups : dict of str to ValidationSummary
        That of each subgroup.
    centres : ValidationSummary or None
        That of the average centre and of a new one.
    update, updated : UpdateChoice or Comparison, ValidationSummary or None
        What chose the update, and the performance with it, each row updated by other rows; None where none is needed.
    remarks : tuple of str
        What to know about groups and what was left out.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.report import fill_tripod
    >>> data = simulate.from_truth("underconfident", 600)
    >>> checklist = fill_tripod(data.labels, data.scores)
    >>> checklist["21"].answer
    'Evaluation: 600 rows, 362 with the outcome.'
    """

    items: tuple[Item, ...]
    summary: ValidationSummary
    subgroups: dict[str, ValidationSummary]
    centres: ValidationSummary | None
    update: UpdateChoice | Comparison
    updated: ValidationSummary | None
    remarks: tuple[str, ...] = ()

    def __getitem__(self, number: str) -> Item:
        """The item of a number such as "23a"."""
        known = {item.number: item for item in self.items}
        return known[_validation.check_choice("number", number, list(known))]

    def table(self) -> TextTable:
        """The texts of the table."""
        done = sum(bool(item.answer) for item in self.items)
        caption = f"TRIPOD+AI: {done} of {len(self.items)} items answered by this run, in whole or in part"
        adds = [f" To add: {one.add}." if one.answer and one.add else "" for one in self.items]
        rows = [[one.number, one.asks, one.answer + add, one.source] for one, add in zip(self.items, adds, strict=True)]
        return TextTable(caption, ["Item", "Asks for", "Answer", "From"], [item.part for item in self.items], rows)

    def __str__(self) -> str:
        table = self.table()
        answered = [f"{number:<4} {answer} [{source}]" for number, _, answer, source in table.rows if answer]
        rest = "; ".join(f"{number} {asks}" for number, asks, answer, _ in table.rows if not answer)
        lines = [*answered, f"Not answered by this run: {rest}.", *(f"- {remark}" for remark in self.remarks)]
        return "\n".join([table.caption, *(textwrap.fill(line, WIDTH, subsequent_indent="     ") for line in lines)])


def fill_tripod(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    subgroups: Mapping[str, ArrayLike] | None = None,
    centres: ArrayLike | None = None,
    thresholds: ArrayLike = (),
    level: float = 0.9,
    alpha: float = 0.05,
    comparison: Comparison | None = None,
    n_resamples: int = 500,
    rng: Seed = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> TripodChecklist:
    """Fill the items of TRIPOD+AI that labels and probabilities answer: performance, centres, updating and utility.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    subgroups : dict of str to array-like of shape (n,), optional
        Columns such as sex and age group, by name; each value is a subgroup.
    centres : array-like of shape (n,), optional
        The centre of each row: all intervals then allow for it, and centres are compared, if they have at least ten
        positive and ten negative rows on average.
    thresholds : array-like of shape (t,)
        Probabilities from which one would act, increasing, for net benefit.
    level : float
        Confidence level of all intervals.
    alpha : float
        Significance level of the closed test between updates.
    comparison : Comparison, optional
        The result of `calibrant.compare` on these rows: the update is then what it recommends, as on the page of a
        report. What a closed test says of the same rows is added, as it may find a wrong level that costs little.
    n_resamples : int
        Number of bootstrap replicates.
    rng : int, numpy.random.Generator or None
        The seed or generator.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, counted as numbers of rows.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    TripodChecklist

    References
    ----------
    Collins, Moons, Dhiman and others 2024, "TRIPOD+AI statement: updated guidance for reporting clinical prediction
    models that use regression or machine learning methods".

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import simulate
    >>> from calibrant.report import fill_tripod
    >>> data = simulate.from_truth("underconfident", 600)
    >>> checklist = fill_tripod(data.labels, data.scores, subgroups={"sex": np.tile(["f", "m"], 300)})
    >>> list(checklist.subgroups)
    ['sex = f', 'sex = m']
    """
    sample = read_sample(y_true, y_prob, sample_weight, pos_label, centres)
    how: dict[str, Any] = {"level": level, "thresholds": thresholds, "n_resamples": n_resamples, "rng": rng}
    summary = validation.summarise_validation(sample, **how)
    rows = [y_true, y_prob, sample_weight, centres]
    parts, lost = validation.summarise_parts(_split(subgroups or {}, rows, pos_label), **how)
    remarks = [*summary.remarks]
    if lost:
        remarks.append(f"Left out, as they have no calibration slope or no two centres: {', '.join(lost)}.")
    pooled = None
    if sample.rows is not None:
        try:
            pooled = _pool(sample.rows, centres, sample_weight is not None, how)
            remarks += pooled.remarks
        except InvalidInputError as error:
            remarks.append(f"Centres are not compared: {error}")
    update = comparison or choose_update(sample, alpha=alpha)
    new = _apply_update(sample, update)
    updated = None if new is None else validation.summarise_validation(new, **how)
    needed = required_rows(sample.tally.scores, sample_weight=sample.tally.totals, level=level).rows
    found = TripodChecklist((), summary, parts, pooled, update, updated, tuple(dict.fromkeys(remarks)))
    answers = _answers(found, needed)
    if comparison is not None and len(sample.tally) >= 5:  # as many as a closed test takes
        tested = say("tripod", "tested", sentence=choose_update(sample, alpha=alpha).sentence)
        answers["24"] = f"{answers['24'][0]} {tested}", f"{answers['24'][1]}, adjust.choose_update"
    lines = csv.DictReader((resources.files(__package__) / "tripod.csv").read_text("utf-8").splitlines())
    items = [Item(one["part"], one["item"], one["asks"], one["add"], *answers.get(one["item"], ())) for one in lines]
    return replace(found, items=tuple(items))


def _pool(rows: GroupedRows, centres: Any, weighted: bool, how: dict[str, Any]) -> ValidationSummary:
    """The comparison of centres, if they are large enough."""
    positives = float(rows.weights @ rows.labels)
    if weighted or min(positives, rows.weights.sum() - positives) < FEWEST_EVENTS * rows.groups.number:
        raise InvalidInputError("it takes ten positive and ten negative rows in each on average, without weights.")
    return validate_centres(rows.labels, rows.scores, centres, **how)


def _split(subgroups: Mapping[str, Any], rows: list[Any], pos_label: Any) -> dict[str, tuple[Any, ...]]:
    """The rows of each value of each column, as `read_sample` takes them."""
    if subgroups and isinstance(rows[0], Tally):
        raise InvalidInputError("`subgroups` needs labels and probabilities of rows; a tally no longer knows its rows.")
    out: dict[str, tuple[Any, ...]] = {}
    for name, column in subgroups.items():
        values = _validation.as_array(column, name).astype(str)
        labels, _ = _validation.encode_labels(rows[0], pos_label, "y_true")
        _validation.check_same_length(len(labels), len(values), name)
        for value in np.unique(values):
            scores, weights, centres = (None if one is None else np.asarray(one)[values == value] for one in rows[1:])
            out[f"{name} = {value}"] = (labels[values == value], scores, weights, True, centres)
    return out


def _apply_update(sample: ScoreSample, update: UpdateChoice | Comparison) -> ScoreSample | None:
    """The rows with their probabilities updated, each by an update of the rows in other folds; None to keep them."""
    if isinstance(update, Comparison):
        return None if update.recommended == RAW else update.fits[update.recommended].out_of_fold.sample()
    if update.chosen.name == "keep":
        return None

    def learn(train: Tally, scores: Floats) -> Floats:
        return choose_update(train, largest=update.chosen.name).updates[-1].map_(scores)

    folds = FOLDS if sample.groups is None else min(FOLDS, sample.groups.number)
    return predict_folds(split_sample(sample, folds), learn).sample()


def _words_of_update(update: UpdateChoice | Comparison) -> tuple[str, str, str]:
    """By which rule it was chosen, what it is, and the function that did it."""
    if isinstance(update, UpdateChoice):
        return say("tripod", "closed_test", alpha=update.alpha), update.sentence, "adjust.choose_update"
    rule = say("tripod", "compared", methods=len(update.fits) - 1, folds=update.cv, level=100 * update.level)
    if update.recommended == RAW:
        return rule, say("tripod", "keep"), "compare"
    method = title_of(update.fits[update.recommended].calibrator, update.recommended)
    return rule, say("tripod", "calibrate", method=method), "compare"


def _size(summary: ValidationSummary) -> str:
    return f"{row_count(summary.rows)} rows, {row_count(summary.positives)} with the outcome"


def _performance(summary: ValidationSummary) -> str:
    """The measures that papers name first, and net benefit, in one line."""
    names = [name for name in summary.measures if name in CAPTION or name.startswith("net_benefit")]
    return "; ".join(f"{measure_named(name).title}: {measure_text(name, summary[name])}" for name in names)


def _answers(found: TripodChecklist, needed: int) -> dict[str, tuple[str, str]]:
    """The answer and its source for each item that has one."""
    summary, parts, (rule, done, source) = found.summary, found.subgroups, _words_of_update(found.update)
    cuts = [name.removeprefix("net_benefit_") for name in summary.measures if name.startswith("net_benefit")]
    titles = ", ".join(measure_named(name).title for name in summary.measures)
    chosen = f"Thresholds: {', '.join(cuts)}." if cuts else "No threshold was given."
    wanted = "Intervals of width 0.2 for O/E and slope and 0.1 for the AUC"
    by_part = "".join(f" {name} ({_size(part)}): {_performance(part)}." for name, part in parts.items())
    after = "" if found.updated is None else f" Each row updated by other rows: {_performance(found.updated)}."
    answers = {
        "10": (f"{_size(summary)}. {wanted} take {needed} rows if the model is calibrated.", "metrics.required_rows"),
        "12e": (f"{titles}. ICI, E50, E90 and Emax are of a flexible (loess) curve.", MEASURED),
        "12f": (rule, source),
        "15": (f"Probabilities of the outcome. {chosen}", "the options of this run"),
        "20a": (f"{_size(summary)}, {row_count(summary.rows - summary.positives)} without it.", MEASURED),
        "21": (f"Evaluation: {_size(summary)}.", MEASURED),
        "23a": (f"{100 * summary.level:g} % intervals. All: {_performance(summary)}.{by_part}", MEASURED),
        "24": (f"{done}{after}", f"{source}, {MEASURED}"),
    }
    sizes = [f"{name}: {_size(part)}" for name, part in parts.items()]
    if found.centres is not None:
        every = found.centres.centres
        sizes += [f"centre {name}: {_size(part)}" for name, part in every.items()]
        answers["6a"] = (f"{len(every)} centres.", "the column of centres")
        answers["12d"] = (say("tripod", "heterogeneity"), POOLED)
        texts = (
            f"{row[0]}: {row[1]}, tau {row[2]}, I² {row[3]}, new centre {row[4]}" for row in found.centres.table().rows
        )
        answers["23b"] = (f"{'; '.join(texts)}.", POOLED)
    return answers | ({"20b": ("; ".join(sizes) + ".", MEASURED)} if sizes else {})


def tripod_section(found: TripodChecklist) -> Section:
    """The checklist with tables of performance in all rows, subgroups and centres.

    Examples
    --------
    >>> from calibrant import simulate
    >>> from calibrant.report import fill_tripod
    >>> from calibrant.report.tripod import tripod_section
    >>> data = simulate.from_truth("underconfident", 600)
    >>> tripod_section(fill_tripod(data.labels, data.scores)).title
    'TRIPOD+AI'
    """
    shown = {"All rows": found.summary, **found.subgroups}
    if found.updated is not None:
        shown["All rows, updated"] = found.updated
    tables = [_performance_table("Performance (items 23a and 24)", shown)]
    if any(name.startswith("net_benefit") for name in found.summary.measures):
        tables.append(_performance_table("Clinical utility (items 23a and 24)", shown, ("net_benefit",)))
    if found.centres is not None:
        head = ("Measure", "Average centre", "Tau between centres", "I²", "New centre")
        tables.append(Table("Centres (item 23b)", head, tuple(map(tuple, found.centres.table().rows))))
        tables.append(_performance_table("Each centre", found.centres.centres, folded=True))
    items = found.table()
    answered = tuple(tuple(row) for row in items.rows if row[2])
    rest = tuple(tuple(row[:2]) for row in items.rows if not row[2])
    tables.append(Table("Items answered", tuple(items.headers), answered))
    tables.append(Table("Items that this run does not answer", ("Item", "Asks for"), rest, folded=True))
    level = f"All intervals of this section are {100 * found.summary.level:g} % intervals."
    sentences = (f"{items.caption}. {level}", *found.remarks)
    return Section("tripod", "TRIPOD+AI", sentences, tables=tuple(tables))


def _performance_table(
    caption: str, parts: Mapping[str, ValidationSummary], chosen: tuple[str, ...] = CAPTION, *, folded: bool = False
) -> Table:
    """The measures of each part whose names begin like some chosen ones."""
    names = [name for name in next(iter(parts.values())).measures if name.startswith(chosen)]
    head = ("Rows", "With the outcome", *(measure_named(name).title.partition(" (")[0] for name in names))
    rows: list[Row] = []
    for title, part in parts.items():
        texts = (measure_text(name, part[name]).partition(" ") for name in names)
        cells = (Cell(value, ends.strip("()")) for value, _, ends in texts)
        rows.append((title, f"{row_count(part.positives)} of {row_count(part.rows)}", *cells))
    return Table(caption, head, tuple(rows), folded=folded)
