"""The result of a comparison: one row for each method, best first, a recommendation in words, and the fits."""

from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

from calibrant._tables import align, html_list, html_table, make_frame
from calibrant._validation import check_choice
from calibrant.comparison.problems import Problem
from calibrant.intervals import Interval, PlainResult, plain
from calibrant.metrics.folds import OutOfFold
from calibrant.metrics.samples import describe_rows
from calibrant.metrics.verdict import Verdict

HEADERS = ("method", "log-loss", "Brier score", "SmoothECE", "log-loss − {}", "Brier − {}", "ms/fit")


@dataclass(frozen=True)
class MethodResult(PlainResult):
    """The scores that one method reached on rows that it had not seen; or why it could not.

    Attributes
    ----------
    name : str
        The name of the method.
    log_loss, brier_score : Interval or None
        Proper scores with their intervals; None where the method failed.
    smooth_error : float or None
        SmoothECE, which is pulled up by chance: compare it between methods, not with 0.
    log_loss_difference, brier_difference : Interval or None
        Against the reference on the same rows; negative is better.
    seconds : float
        Mean time of one fit, with its predictions.
    note : str
        Why the method failed, or what it warned of.
    title : str
        The method in words.

    Examples
    --------
    >>> from calibrant import compare, simulate
    >>> data = simulate.from_truth("underconfident", 500)
    >>> row = compare(data.scores, data.labels, methods=["identity", "platt"])["platt"]
    >>> row.name, row.log_loss_difference.value < 0
    ('platt', True)
    """

    name: str
    log_loss: Interval | None = None
    brier_score: Interval | None = None
    smooth_error: float | None = None
    log_loss_difference: Interval | None = None
    brier_difference: Interval | None = None
    seconds: float = 0.0
    note: str = ""
    title: str = ""

    def texts(self) -> list[str]:
        """The cells of its row in the printed table."""
        return [
            self.name,
            str(self.log_loss),
            str(self.brier_score),
            f"{self.smooth_error:.4f}",
            _difference(self.log_loss_difference),
            _difference(self.brier_difference),
            f"{1e3 * self.seconds:.1f}",
        ]


@dataclass(frozen=True)
class MethodFit:
    """One method of a comparison: the calibrator as given, its predictions for rows not seen, and its fit to all rows.

    Attributes
    ----------
    calibrator : calibrator
        As it was given, not fitted.
    out_of_fold : OutOfFold
        Its cross-fitted predictions.
    problem : Problem
        The rows.
    fitted : calibrator
        A copy that is fitted to all rows when it is first asked for.

    Examples
    --------
    >>> from calibrant import compare, simulate
    >>> data = simulate.from_truth("underconfident", 500)
    >>> fit = compare(data.scores, data.labels, methods=["platt"]).fits["platt"]
    >>> fit.out_of_fold.tally().total, bool(0.0 < fit.fitted.predict([0.5])[0] < 1.0)
    (500.0, True)
    """

    calibrator: Any
    out_of_fold: OutOfFold
    problem: Problem

    @cached_property
    def fitted(self) -> Any:
        """The copy that is fitted to all rows."""
        return self.problem.fit(self.calibrator)


@dataclass(frozen=True, repr=False)
class Comparison:
    """A cross-validated table of methods; print it, show it in a notebook, or look methods up by name.

    Attributes
    ----------
    results : tuple of MethodResult
        Lowest log-loss first; methods that failed come last, with the reason.
    recommended : str
        The method to use; "identity" means to leave the scores as they are.
    reason : str
        Why, in one sentence.
    reference : str
        The method that differences are taken to: "identity", the raw score, wherever scores are probabilities; of
        several scores "panel".
    n_rows, base_rate, level : float
        (Weighted) number of rows, share of positives (of the most frequent class, where there are several), and level
        of the intervals.
    cv, repeats : int
        Number of folds, and of repeated cross-validations.
    over_time : bool
        Whether folds are blocks of time, each judged by fits to the rows before it.
    tied : tuple of str
        Other methods that are not worse than the recommended one by more than chance, in the order of the ranking.
    remarks : tuple of str
        Notes on the ranking and on the scores.
    verdict : Verdict or None
        Whether calibration is needed; `recommended` and it never disagree.
    n_classes : int
        Two or more.
    fits : dict of str to MethodFit
        Calibrators, predictions for rows not seen, and fits by name; not part of `to_dict`.

    Examples
    --------
    >>> from calibrant import compare, simulate
    >>> data = simulate.from_truth("underconfident", 500)
    >>> table = compare(data.scores, data.labels, methods=["identity", "platt"])
    >>> table.recommended, [result.name for result in table.results], table.verdict.state
    ('platt', ['platt', 'identity'], 'needed')
    >>> table.fit()
    PlattScaling()
    """

    results: tuple[MethodResult, ...]
    recommended: str
    reason: str
    reference: str
    n_rows: float
    base_rate: float
    level: float
    cv: int
    repeats: int
    tied: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    verdict: Verdict | None = None
    n_classes: int = 2
    over_time: bool = False
    fits: dict[str, MethodFit] = field(default_factory=dict, compare=False)

    def __getitem__(self, name: str) -> MethodResult:
        """The row of a method."""
        check_choice("name", name, [result.name for result in self.results])
        return next(result for result in self.results if result.name == name)

    def fit(self, name: str | None = None) -> Any:
        """Return the recommended method, or another by name, fitted to all rows.

        More than 32768 distinct scores are joined to as many cells of equal mass for it.
        """
        return self.fits[check_choice("name", name or self.recommended, list(self.fits))].fitted

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {key: plain(value) for key, value in vars(self).items() if key != "fits"}

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each method, lowest log-loss first."""
        return make_frame(
            [result.to_dict() | {"recommended": result.name == self.recommended} for result in self.results]
        )

    @property
    def title(self) -> str:
        """The rows and folds of the comparison, in a line."""
        times = "" if self.repeats == 1 else f", {self.repeats} times"
        rows = describe_rows(self.n_rows, self.base_rate, self.n_classes)
        folds = f"{self.cv}-fold cross-validation{times}"
        if self.over_time:
            folds = f"{self.cv} blocks of time, each judged by fits to the rows before it"
        return f"{rows}; {folds}; {100 * self.level:g} % intervals in brackets"

    @property
    def headers(self) -> tuple[str, ...]:
        """The heads of the columns."""
        name = "raw" if self.reference == "identity" else self.reference
        headers = (header.format(name) for header in HEADERS)
        return tuple("top SmoothECE" if header == "SmoothECE" and self.n_classes > 2 else header for header in headers)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks, warnings of methods, and why some failed."""
        return (*self.remarks, *(f"{result.name}: {result.note}" for result in self.results if result.note))

    @property
    def _texts(self) -> list[list[str]]:
        return [result.texts() for result in self.results if result.log_loss is not None]

    def __repr__(self) -> str:
        return f"Comparison({len(self.results)} methods, recommended {self.recommended}: {self.title})"

    def __str__(self) -> str:
        lines = align([self.headers, *self._texts])
        return "\n".join([self.title, *lines, f"Recommended: {self.reason}", *(f"- {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        table = html_table(self.title, self.headers, [""] * len(self._texts), self._texts, self.recommended)
        return f"{table}<p><strong>Recommended:</strong> {escape(self.reason)}</p>{html_list(self.notes)}"


def _difference(change: Interval | None) -> str:
    if change is None:
        return "–"
    return f"{change.value:+.4f} [{change.low:+.4f}, {change.high:+.4f}]"
