"""The result of a comparison: one row for each method, best first, and a recommendation in words."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from calibrant.errors import InvalidInputError
from calibrant.metrics.bootstrap import Interval
from calibrant.tally import row_count

__all__ = ["Comparison", "MethodResult"]

HEADERS = ("method", "log-loss", "Brier score", "SmoothECE", "log-loss − {}", "Brier − {}", "ms/fit")


@dataclass(frozen=True)
class MethodResult:
    """What one method reached on rows that it had not seen; or why it could not.

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

    Examples
    --------
    >>> from calibrant import compare, simulate
    >>> data = simulate.from_truth("underconfident", 500)
    >>> found = compare(data.scores, data.labels, methods=["identity", "platt"])["platt"]
    >>> found.name, found.log_loss_difference.value < 0
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

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {key: _plain(value) for key, value in vars(self).items()}

    def texts(self) -> list[str]:
        """The cells of its row in the printed table."""
        if self.log_loss is None:
            return [self.name]
        return [
            self.name,
            str(self.log_loss),
            str(self.brier_score),
            f"{self.smooth_error:.4f}",
            _difference(self.log_loss_difference),
            _difference(self.brier_difference),
            f"{1e3 * self.seconds:.1f}",
        ]


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
        The method that differences are taken to: "identity", the raw score, wherever scores are probabilities.
    n_rows, base_rate, level : float
        (Weighted) number of rows, share of positives, and level of the intervals.
    n_folds, repeats : int
        How the rows were split.
    tied : tuple of str
        Other methods that are not worse than the recommended one by more than chance, best first.

    Examples
    --------
    >>> from calibrant import compare, simulate
    >>> data = simulate.from_truth("underconfident", 500)
    >>> table = compare(data.scores, data.labels, methods=["identity", "platt"])
    >>> table.recommended, [result.name for result in table.results]
    ('platt', ['platt', 'identity'])
    """

    results: tuple[MethodResult, ...]
    recommended: str
    reason: str
    reference: str
    n_rows: float
    base_rate: float
    level: float
    n_folds: int
    repeats: int
    tied: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> MethodResult:
        """The row of a method."""
        for result in self.results:
            if result.name == name:
                return result
        raise InvalidInputError(f"`name` must be one of {', '.join(r.name for r in self.results)}; got {name!r}.")

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return vars(self) | {"results": [result.to_dict() for result in self.results]}

    @property
    def title(self) -> str:
        """What was compared, in a line."""
        times = "" if self.repeats == 1 else f", {self.repeats} times"
        return (
            f"{row_count(self.n_rows)} rows, {100 * self.base_rate:.3g} % positive; "
            f"{self.n_folds}-fold cross-validation{times}; {100 * self.level:g} % intervals in brackets"
        )

    @property
    def headers(self) -> tuple[str, ...]:
        """The heads of the columns."""
        name = "raw" if self.reference == "identity" else self.reference
        return tuple(header.format(name) for header in HEADERS)

    @property
    def notes(self) -> tuple[str, ...]:
        """What methods warned of, and why some failed."""
        return tuple(f"{result.name}: {result.note}" for result in self.results if result.note)

    def __repr__(self) -> str:
        rows = [list(self.headers)] + [r.texts() for r in self.results if r.log_loss is not None]
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEADERS))]
        lines = ["  ".join(f"{text:<{w}}" for text, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self.title, *lines, f"Recommended: {self.reason}", *(f"- {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{escape(header)}</th>' for header in self.headers)
        body = "".join(_html_row(r.texts(), r.name == self.recommended) for r in self.results if r.log_loss is not None)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return (
            f"<table><caption>{escape(self.title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p><strong>Recommended:</strong> {escape(self.reason)}</p><ul>{notes}</ul>"
        )


def _html_row(texts: list[str], strong: bool) -> str:
    name = f"<strong>{escape(texts[0])}</strong>" if strong else escape(texts[0])
    return f'<tr><th scope="row">{name}</th>' + "".join(f"<td>{escape(text)}</td>" for text in texts[1:]) + "</tr>"


def _difference(found: Interval | None) -> str:
    if found is None:
        return "–"
    return f"{found.value:+.4f} [{found.low:+.4f}, {found.high:+.4f}]"


def _plain(value: Any) -> Any:
    return {"value": value.value, "low": value.low, "high": value.high} if isinstance(value, Interval) else value
