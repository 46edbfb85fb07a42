"""The one reader of labels, scores, weights and groups, and the rows it gives, to be measured and resampled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy import special
from scipy.sparse import coo_array, csr_array

from calibrant import _limits, _validation
from calibrant._numerics import bins
from calibrant._numerics.links import softmax
from calibrant._typing import ArrayLike, Bools, Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.maps.panel_columns import CATEGORY, read_column, space_of
from calibrant.maps.panel_columns import read_columns as read_columns_by_name
from calibrant.tally import Tally, row_count

FEW_GROUPS = 30  # below which what is said of groups rests on few independent numbers
BLOCK = 64  # replicates drawn at a time, to bound the memory
# Unit of numpy's dates, how many of it a period has, and one with which a period begins: 1970-01-05 was a Monday.
EVERY = {"day": ("D", 1, 0), "week": ("D", 7, 4), "month": ("M", 1, 0), "quarter": ("M", 3, 0), "year": ("Y", 1, 0)}

Labels: TypeAlias = ArrayLike | Tally  # labels of the rows, or a tally in place of all data
Column: TypeAlias = ArrayLike | None
Metric: TypeAlias = Callable[[Tally], float]
Seed: TypeAlias = int | np.random.Generator | None


def both_classes(tally: Tally, metric: str) -> None:
    """Refuse rows of one class only, where the metric has no value."""
    if not 0.0 < tally.total_positive < tally.total:
        positive = f"{'all' if tally.total_positive else 'none'} of the {row_count(tally.total)} rows positive"
        raise InvalidInputError(f"{metric} needs rows of both classes; got 1 class, {positive}. It has no value here.")


class Groups(NamedTuple):
    """Which rows belong together, such as those of a patient: the number of each row's group, 0 … number − 1.

    `times`, where rows have an order, is the number of each row's time; folds then follow it.

    Examples
    --------
    >>> from calibrant.metrics.samples import number_groups
    >>> groups = number_groups(["ann", "bob", "ann"], 3)
    >>> groups.codes.tolist(), groups.number
    ([0, 1, 0], 2)
    """

    codes: Ints
    number: int
    times: Ints | None = None

    def deal(self, cv: int, rng: Seed = 0) -> Ints:
        """The fold of each row, one for all rows of a group; groups are dealt at random, evenly up to one.

        In the order of time, rows fall into `cv` + 1 blocks of about as many; the first, −1, is never judged.
        """
        _validation.check_count("cv", cv, 2)
        if self.times is not None:
            rows = np.bincount(self.times)
            if cv >= len(rows):
                said = f"`time` must have more than {cv} different values, for {cv} blocks with rows before them"
                raise InvalidInputError(f"{said}; got {len(rows)}. Lower `cv`, or give the time more finely.")
            middle = (np.cumsum(rows) - 0.5 * rows) / len(self.times)
            return (middle * (cv + 1)).astype(np.intp)[self.times] - 1
        if cv > self.number:
            few = f"`groups` must be {cv} or more, as folds are at most the number of groups; got {self.number}."
            raise InvalidInputError(few)
        return (np.random.default_rng(rng).permutation(self.number) % cv)[self.codes]

    def learnt(self, fold_of_row: Ints, number: int) -> Bools:
        """The rows to fit where a fold is judged: all others; in the order of time, those before it."""
        return fold_of_row != number if self.times is None else fold_of_row < number

    def draw(self, n_resamples: int, rng: np.random.Generator) -> Ints:
        """Number of times that each group occurs in bootstrap replicates, (n_resamples, number)."""
        return rng.multinomial(self.number, np.full(self.number, 1.0 / self.number), size=n_resamples)

    def sum(self, values: Floats) -> Floats:
        """The sum of a column over the rows of each group, (number,)."""
        return np.bincount(self.codes, values, self.number).astype(np.float64)

    def cross(self, values: Floats, cells: Ints, n_cells: int) -> csr_array:
        """The sum of a column over the rows of each group in each cell, (number, n_cells).

        Every bootstrap of groups is a product with it: a group that is drawn twice brings its sums twice.
        """
        return coo_array((values, (self.codes, cells)), shape=(self.number, n_cells)).tocsr()

    @property
    def remark(self) -> str:
        """What a reader of intervals must know about the groups."""
        kept = f"Rows are in {self.number} groups, which are kept together."
        if self.times is not None:
            kept = f"Rows are in {self.number} groups or times; the intervals allow for rows of one that are alike."
        few = " With fewer than 30 groups, intervals and tests are approximate."
        return kept + few if self.number < FEW_GROUPS else kept

    def expansion(self, level: float) -> float:
        """Factor by which a bootstrap interval must be wider where groups are few (Hesterberg 2015).

        Replicates of G groups vary by (G − 1) / G of the true variance, and the tails are those of Student's t.
        """
        upper = 0.5 + 0.5 * level
        tails = float(special.stdtrit(self.number - 1, upper) / special.ndtri(upper))
        return tails * float(np.sqrt(self.number / (self.number - 1)))


def number_times(time: ArrayLike, n_rows: int, every: str | None = None) -> tuple[list[Any], Ints]:
    """The different times in order, and the number of each row's; dates may be joined, `every` month for instance.

    Examples
    --------
    >>> from calibrant.metrics.samples import number_times
    >>> number_times(["May", "April", "May"], 3)[0]
    ['April', 'May']
    >>> number_times(["2026-05-31", "2026-04-01", "2026-05-02"], 3, "month")[0]
    ['2026-04', '2026-05']
    """
    stamps = _validation.as_array(time, "time").ravel()
    _validation.check_same_length(n_rows, len(stamps), "time")
    if every is not None:
        stamps = _join_dates(stamps, _validation.check_choice("every", every, list(EVERY)))
    try:
        times, codes = np.unique(stamps, return_inverse=True)
    except TypeError as error:
        raise InvalidInputError("`time` must be all numbers, all dates or all text, to have an order.") from error
    if any(_validation.is_missing(one) for one in times):
        raise InvalidInputError("`time` must be known for every row; got missing values. Drop these rows first.")
    return [str(one) if times.dtype.kind in "MO" else one.item() for one in times], codes


def _join_dates(stamps: np.ndarray[Any, Any], every: str) -> np.ndarray[Any, Any]:
    """The day, month or year with which the period of each date begins."""
    unit, length, first = EVERY[every]
    try:
        if stamps.dtype.kind not in "MOU":
            raise TypeError("a number is no date")
        dates = stamps.astype(f"datetime64[{unit}]")
        return dates - (dates.astype(np.int64) - first) % length
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"`every` needs dates in `time`, such as 2026-01-31; got {stamps[0]}.") from error


def number_groups(groups: ArrayLike | None, n_rows: int, time: ArrayLike | None = None) -> Groups:
    """Check a column of groups and number them; there must be at least two. Without groups, rows of one time are one.

    Examples
    --------
    >>> from calibrant.metrics.samples import number_groups
    >>> number_groups([7, 3, 7], 3).codes.tolist()
    [1, 0, 1]
    """
    if time is not None:
        order, times = number_times(time, n_rows)
        if groups is None:
            return Groups(times, len(order), times)
        return number_groups(groups, n_rows)._replace(times=times)
    names = _validation.as_array(groups, "groups")
    if names.ndim != 1:
        raise InvalidInputError(f"`groups` must have shape (n,), one group for each row; got shape {names.shape}.")
    _validation.check_same_length(n_rows, len(names), "groups")
    missing = [_validation.is_missing(name) for name in names] if names.dtype.kind in "OfmM" else []
    if any(missing):
        said = f"`groups` must name a group for every row; it is missing at index {missing.index(True)}"
        raise InvalidInputError(f"{said}. Drop these rows, or give each of them a group of its own.")
    distinct, codes = np.unique(names.astype(str) if names.dtype.kind == "O" else names, return_inverse=True)
    if len(distinct) < 2:
        raise InvalidInputError("`groups` must name at least two groups; resampling one group gives the same rows.")
    return Groups(codes, len(distinct))


class GroupedRows(NamedTuple):
    """Rows with the number of their group, for whatever must keep the rows of a group together."""

    scores: Floats
    labels: Bools
    weights: Floats
    groups: Groups

    def tally(self) -> Tally:
        """The tally of all rows."""
        return Tally.from_arrays(self.scores, self.labels, self.weights)

    def cell_of_rows(self, tally: Tally, max_cells: int) -> Ints:
        """The cell of each row, after joining the tally of all rows to at most `max_cells` cells as `coarsen` does."""
        starts = bins.coarse_starts(tally.totals, max_cells)
        # Rows of weight 0 may lie below the first cell; they count for nothing wherever they are put.
        return np.maximum(np.searchsorted(tally.scores[starts], self.scores, side="right") - 1, 0)


class Sample:
    """Checked rows of any shape, in groups where they have some: what is measured, resampled and compared.

    Attributes
    ----------
    shape : {"score", "matrix", "panel"}
        One score in each row, a column for each class, or several scores.
    n_rows, base_rate : float
        (Weighted) number of rows, and share of positives; with several classes that of the most frequent one.
    n_classes : int
        Two or more.
    groups : Groups or None
        Which rows belong together.
    space : {"probability", "decision"}
        What the scores are; of several scores, maybe by name.
    """

    shape: str
    groups: Groups | None

    def widen(self, draws: Floats, value: float | Floats, level: float) -> Floats:
        """Draws further away from the value, as few groups need it; independent rows are left as they are."""
        return draws if self.groups is None else value + self.groups.expansion(level) * (draws - value)

    @property
    def remarks(self) -> list[str]:
        """What a reader of the intervals must know about the rows."""
        alone = self.groups is None or self.groups.number == len(self.groups.codes)  # times that one row has each
        return [] if self.groups is None or alone else [self.groups.remark]


def describe_rows(n_rows: float, base_rate: float, n_classes: int) -> str:
    """The size of the data in words, for the heads of tables."""
    if n_classes == 2:
        return f"{row_count(n_rows)} rows, {100 * base_rate:.3g} % positive"
    return f"{row_count(n_rows)} rows of {n_classes} classes, the largest {100 * base_rate:.3g} %"


class ScoreSample(Sample):
    """The rows of one score: a tally, with the single rows where they are in groups.

    Examples
    --------
    >>> from calibrant.metrics.samples import read_sample
    >>> sample = read_sample([0, 1, 0, 1], [0.1, 0.2, 0.8, 0.9], groups=[0, 0, 1, 1])
    >>> [replicate.total for replicate in sample.replicates(3, rng=0)]
    [4.0, 4.0, 4.0]
    """

    shape = "score"
    n_classes = 2

    def __init__(self, tally: Tally, rows: GroupedRows | None = None, space: str = "probability") -> None:
        self.tally = self.data = tally
        self.rows = rows
        self.space = space
        self.groups = None if rows is None else rows.groups
        self.n_rows, self.base_rate = tally.total, tally.base_rate

    @cached_property
    def cells(self) -> Tally:
        """The tally that replicates are drawn from: more than 512 distinct scores are joined to as many cells."""
        return self.tally.coarsen(_limits.BOOTSTRAP_CELLS)

    def replicates(self, n_resamples: int, rng: Seed) -> Iterator[Tally]:
        """Bootstrap replicates of the cells, of single rows or of whole groups. O(m) for each.

        A replicate in which a class is missing is drawn again, so that metrics that need both classes have a value.
        """
        _validation.check_count("n_resamples", n_resamples)
        has_both = 0.0 < self.cells.total_positive < self.cells.total
        generator = np.random.default_rng(rng)
        made = 0
        while made < n_resamples:
            for counts in self.draw_counts(min(BLOCK, n_resamples - made), generator):
                positives, negatives = np.split(counts, 2)
                totals = positives + negatives
                if not totals.any() or (has_both and not (positives.any() and negatives.any())):
                    continue
                made += 1
                filled = totals > 0.0
                yield Tally(self.cells.scores[filled], positives[filled], totals[filled])

    def draw_counts(self, number: int, generator: np.random.Generator) -> Floats:
        """Numbers of positive, then of negative rows in each cell, for each of a few replicates, (number, 2 m)."""
        if self.groups is not None:
            return np.asarray(self.groups.draw(number, generator) @ self._counts_by_group)
        # Rows of one cell and label are alike, so a replicate is one multinomial draw, whatever the number of rows.
        rows, shares = round(self.cells.total), np.append(self.cells.positives, self.cells.negatives) / self.cells.total
        if rows < 2:
            raise InvalidInputError(
                f"A bootstrap needs at least 2 rows; the weights add up to {row_count(self.cells.total)}. Weights "
                "count as numbers of rows: scale them so that they add up to the number of rows."
            )
        return generator.multinomial(rows, shares / shares.sum(), size=number).astype(np.float64)

    @cached_property
    def _counts_by_group(self) -> csr_array:
        """The rows of each group among the positives, then among the negatives, of every cell, (groups, 2 m)."""
        assert self.rows is not None
        cell = self.rows.cell_of_rows(self.tally, _limits.BOOTSTRAP_CELLS)
        columns = np.where(self.rows.labels, cell, cell + len(self.cells))
        return self.rows.groups.cross(self.rows.weights, columns, 2 * len(self.cells))


@dataclass(frozen=True, eq=False)
class RowSample(Sample):
    """Single rows: their scores, the numbers of their labels, their weights and groups."""

    scores: Any
    labels: Ints
    weights: Floats
    classes: np.ndarray[Any, Any]
    groups: Groups | None = None
    space: Any = "probability"

    @classmethod
    def of(
        cls, scores: Any, labels: Ints, classes: Any, *, sample_weight: Any, groups: Any, time: Any, space: Any
    ) -> Self:
        """Rows whose weights, groups and times are still to be checked."""
        grouped = None if groups is None and time is None else number_groups(groups, len(labels), time)
        return cls(scores, labels, fill_weights(sample_weight, len(labels)), classes, grouped, space)

    @property
    def n_rows(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    def scores_of(self, rows: Ints | Bools) -> Any:
        """The scores of some rows."""
        return self.scores[rows]

    def without_weightless(self) -> Self:
        """The rows that count: those with a weight above 0."""
        if self.weights.all():
            return self
        counts = self.weights > 0.0
        groups = None
        if self.groups is not None:
            times = None if self.groups.times is None else self.groups.times[counts]
            groups = number_groups(self.groups.codes[counts], int(counts.sum()))._replace(times=times)
        labels, weights = self.labels[counts], self.weights[counts]
        return replace(self, scores=self.scores_of(counts), labels=labels, weights=weights, groups=groups)


class ClassSample(RowSample):
    """The rows of a matrix: scores with a column for each class, and the column numbers of the labels.

    Examples
    --------
    >>> from calibrant.metrics.samples import read_classes
    >>> sample = read_classes(["a", "c", "b"], [[0.8, 0.1, 0.1], [0.2, 0.2, 0.6], [0.2, 0.5, 0.3]])
    >>> sample.labels.tolist(), sample.classes.tolist()
    ([0, 2, 1], ['a', 'b', 'c'])
    """

    shape = "matrix"

    @property
    def base_rate(self) -> float:
        """The share of the most frequent class."""
        return float(np.bincount(self.labels, self.weights).max() / self.weights.sum())

    @property
    def n_classes(self) -> int:
        """The number of columns."""
        return int(self.scores.shape[1])

    @cached_property
    def probabilities(self) -> Floats:
        """The matrix as probabilities: as it is, or the softmax of decision scores."""
        if self.space != "probability":
            return softmax(self.scores)
        # Half-precision rows can exceed 1 within the tolerance.
        return np.minimum(np.asarray(self.scores, dtype=np.float64), 1.0)

    @property
    def data(self) -> ClassSample:
        """What measures take."""
        return self

    cells = data

    def score_by(self, scores: Floats, labels: Bools) -> ScoreSample:
        """The same rows with one score each."""
        if self.groups is None:
            return ScoreSample(Tally.from_arrays(scores, labels, self.weights), space=self.space)
        rows = GroupedRows(scores, labels, self.weights, self.groups)
        return ScoreSample(rows.tally(), rows, self.space)

    def mean(self, values: Floats) -> float:
        """The weighted mean of a column."""
        return float(np.average(values, weights=self.weights))

    def replicates(self, n_resamples: int, rng: Seed) -> Iterator[ClassSample]:
        """Bootstrap replicates: how often each row was drawn, or how often its group was, times its weight."""
        _validation.check_count("n_resamples", n_resamples)
        generator = np.random.default_rng(rng)
        rows, shares = max(round(self.n_rows), 1), self.weights / self.weights.sum()
        for _ in range(n_resamples):
            if self.groups is None:
                weights = generator.multinomial(rows, shares).astype(np.float64)
            else:
                weights = self.weights * self.groups.draw(1, generator)[0][self.groups.codes]
            yield replace(self, scores=self.probabilities, weights=weights, space="probability")


class PanelSample(RowSample):
    """The rows of several scores: columns by name, of numbers or of levels, and whether a row is positive.

    Examples
    --------
    >>> from calibrant.metrics.samples import read_panel
    >>> scores = {"anna": [0.1, None, 0.8], "verdict": ["no", "yes", "yes"]}
    >>> beside = {"sample_weight": None, "groups": None, "time": None, "space": "probability"}
    >>> sample = read_panel([0, 1, 1], scores, names=("y", "scores"), **beside)
    >>> sample.shape, sample.scores["anna"].tolist(), sample.n_rows
    ('panel', [0.1, nan, 0.8], 3.0)
    """

    shape, n_classes = "panel", 2

    @property
    def base_rate(self) -> float:
        """The share of positives."""
        return float(np.average(self.labels, weights=self.weights))

    def scores_of(self, rows: Ints | Bools) -> dict[str, Any]:
        """The scores of some rows, by name."""
        return {name: column[rows] for name, column in self.scores.items()}


def read_sample(
    y_true: Labels | ScoreSample,
    y_prob: Column = None,
    sample_weight: Column = None,
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    *,
    time: ArrayLike | None = None,
    space: str = "probability",
    names: tuple[str, str] = ("y_true", "y_prob"),
) -> ScoreSample:
    """Read one score: labels and scores, which the caller calls `names`, maybe in groups or in time; or a tally.

    What was read before is taken as it is.
    """
    if isinstance(y_true, ScoreSample):
        return y_true
    in_groups = groups is not None or time is not None
    if in_groups and (isinstance(y_true, Tally) or y_prob is None):
        name = "time" if groups is None else "groups"
        raise InvalidInputError(f"`{name}` needs labels and scores of rows; a tally no longer knows its rows.")
    if isinstance(y_true, Tally):
        if y_prob is not None or sample_weight is not None or pos_label is not None:
            raise InvalidInputError(f"A tally holds all: pass it alone, without `{names[1]}`, weights or `pos_label`.")
        if len(y_true) == 0:
            raise InvalidInputError("A metric needs at least one row; the tally is empty.")
        scores = y_true.scores
    elif y_prob is None:
        raise InvalidInputError(f"`{names[1]}` must be given together with `{names[0]}`; or pass a Tally alone.")
    else:
        scores, labels, weights = read_columns(y_true, y_prob, sample_weight, pos_label, names=names)
    if space == "probability":
        _validation.check_unit_interval(scores, names[1])
    if not in_groups:
        tally = y_true if isinstance(y_true, Tally) else Tally.from_arrays(scores, labels, sample_weight)
        return ScoreSample(tally, space=space)
    rows = GroupedRows(scores, labels, weights, number_groups(groups, len(scores), time))
    return ScoreSample(rows.tally(), rows, space)


def read_columns(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    sample_weight: Column = None,
    pos_label: Any = None,
    *,
    names: tuple[str, str] = ("y_true", "y_prob"),
) -> tuple[Floats, Bools, Floats]:
    """Scores, labels and weights of single rows, of equal length; at least one row."""
    scores = _validation.check_scores(y_prob, names[1])
    labels, _ = _validation.encode_labels(y_true, pos_label, names[0])
    _validation.check_same_length(len(scores), len(labels), names[0])
    if len(scores) == 0:
        raise InvalidInputError("A metric needs at least one row; got none.")
    return scores, labels, fill_weights(sample_weight, len(scores))


def fill_weights(sample_weight: Column, n_rows: int) -> Floats:
    """The weights, or 1 for each row."""
    weights = _validation.check_weights(sample_weight, n_rows)
    return np.ones(n_rows) if weights is None else weights


def read_classes(
    y_true: ArrayLike | ClassSample,
    scores: Column = None,
    sample_weight: Column = None,
    groups: ArrayLike | None = None,
    *,
    time: ArrayLike | None = None,
    space: str = "probability",
    names: tuple[str, str] = ("y_true", "scores"),
) -> ClassSample:
    """Read a matrix of class probabilities or decision scores, with labels that the caller calls `name`.

    What was read before is taken as it is.
    """
    if isinstance(y_true, ClassSample):
        return y_true
    matrix = _validation.read_matrix(scores, space)
    labels, classes = _validation.encode_classes(_validation.as_numpy(y_true), matrix.shape[1])
    _validation.check_same_length(len(matrix), len(labels), names[0])
    return ClassSample.of(matrix, labels, classes, sample_weight=sample_weight, groups=groups, time=time, space=space)


def read_panel(
    y_true: ArrayLike, scores: Mapping[str, Any], pos_label: Any = None, *, names: tuple[str, str], **beside: Any
) -> PanelSample:
    """Read several scores of each row from a dictionary of columns; in a column of levels, None is missing."""
    columns = {}
    labels, classes = _validation.encode_labels(y_true, pos_label, names[0])
    for name, column in read_columns_by_name(scores).items():
        kind = space_of(name, column, beside["space"])
        columns[name] = np.asarray(read_column(name, column, kind), dtype=object if kind == CATEGORY else np.float64)
        _validation.check_same_length(len(columns[name]), len(labels), names[0])
    return PanelSample.of(columns, labels.astype(np.intp), np.array(classes), **beside)


def read_problem(
    y_true: Labels,
    scores: Column = None,
    sample_weight: Column = None,
    pos_label: Any = None,
    groups: Column = None,
    **how: Any,
) -> ScoreSample | ClassSample:
    """Read rows of any shape: a column for each of three or more classes is a matrix, all else is one score.

    Examples
    --------
    >>> from calibrant.metrics.samples import read_problem
    >>> read_problem([0, 1, 2], [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.2, 0.2, 0.6]]).shape
    'matrix'
    """
    if scores is not None and not isinstance(y_true, Tally) and _validation.is_class_matrix(scores):
        if pos_label is not None:
            raise InvalidInputError("`pos_label` is for scores of two classes; got a column for each of several.")
        return read_classes(y_true, scores, sample_weight, groups, **how)
    return read_sample(y_true, scores, sample_weight, pos_label, groups, **how)
