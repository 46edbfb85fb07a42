"""The result of `evaluate`: numbers first, with a text and an HTML form."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from calibrant._frames import make_frame
from calibrant._validation import check_choice
from calibrant.intervals import Interval
from calibrant.metrics.verdict import Verdict
from calibrant.tally import row_count

Estimate = Interval | float | None
Estimates = Mapping[str, Interval | float]


@dataclass(frozen=True)
class Row:
    """One measure of every model."""

    key: str
    group: str
    name: str
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """A table of measures; print it, show it in a notebook, or look values up by key.

    Attributes
    ----------
    models : tuple of str
        Names of the models, in the order of the columns.
    rows : tuple of Row
        The measures, proper scores first.
    n_rows, base_rate, level : float
        (Weighted) number of rows, share of positives, and level of the intervals.
    remarks : tuple of str
        What the numbers mean, and what could not be computed.
    verdicts : tuple of Verdict
        Whether each model needs calibration, as far as Kuiper's test can tell.

    Examples
    --------
    >>> import calibrant
    >>> from calibrant import simulate
    >>> data = simulate.from_truth("underconfident", 1000)
    >>> table = calibrant.evaluate(data.labels, data.scores)
    >>> table["log_loss"].value < 0.52, len(table.remarks)
    (True, 1)
    """

    models: tuple[str, ...]
    rows: tuple[Row, ...]
    n_rows: float
    base_rate: float
    level: float
    remarks: tuple[str, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict on the first model."""
        return self.verdicts[0]

    def __getitem__(self, key: str) -> Any:
        """The estimate of a measure: an `Interval` or a p-value; with several models a dict of them by name."""
        check_choice("key", key, [row.key for row in self.rows])
        estimates = next(row.estimates for row in self.rows if row.key == key)
        return estimates[0] if len(self.models) == 1 else dict(zip(self.models, estimates, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "n_rows": self.n_rows,
            "base_rate": self.base_rate,
            "level": self.level,
            "models": {
                name: {row.key: plain(row.estimates[i]) for row in self.rows} for i, name in enumerate(self.models)
            },
            "verdicts": {n: v.to_dict() for n, v in zip(self.models, self.verdicts, strict=True)},
            "remarks": list(self.remarks),
        }

    def to_frame(self) -> Any:
        """A pandas data frame: for each model and measure its value and the ends of its interval."""
        return make_frame(
            [
                {"model": name, "measure": row.key, "group": row.group, "name": row.name} | _value(row.estimates[i])
                for i, name in enumerate(self.models)
                for row in self.rows
            ]
        )

    @property
    def _title(self) -> str:
        rows = f"{row_count(self.n_rows)} rows, {100 * self.base_rate:.3g} % positive"
        return f"{rows}; {100 * self.level:g} % intervals in brackets"

    def _texts(self, indent: str = "") -> list[list[str]]:
        return [[indent + row.name, *map(_text, row.estimates)] for row in self.rows]

    def __repr__(self) -> str:
        header, *texts = align([["", *self.models], *self._texts("  ")])
        lines = [self._title] if len(self.models) == 1 else [self._title, header]
        for group, rows in groupby(zip(self.rows, texts, strict=True), key=lambda pair: pair[0].group):
            lines += [group, *(text for _, text in rows)]
        return "\n".join([*lines, *(f"- {remark}" for remark in self.remarks)])

    def _repr_html_(self) -> str:
        groups = [row.group for row in self.rows]
        return html_table(self._title, ["", *self.models], groups, self._texts()) + html_list(self.remarks)


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of text, whose columns are as wide as their longest text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{text:<{w}}" for text, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def html_table(
    caption: str, headers: Sequence[str], groups: Sequence[str], rows: Sequence[Sequence[str]], strong: str = ""
) -> str:
    """A table whose rows stand under the names of their groups; the row called `strong` stands out."""
    head = "".join(f'<th scope="col" style="{_align(i)}">{escape(text)}</th>' for i, text in enumerate(headers))
    body = ""
    for group, members in groupby(zip(groups, rows, strict=True), key=lambda pair: pair[0]):
        span = f'<th colspan="{len(headers)}" scope="rowgroup" style="{_align(0)}">{escape(group)}</th>'
        title = f"<tr>{span}</tr>" if group else ""
        body += f"<tbody>{title}{''.join(_html_row(row, strong) for _, row in members)}</tbody>"
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>{body}</table>"


def _html_row(texts: Sequence[str], strong: str) -> str:
    style = "; font-weight: bold" if texts[0] == strong else "; font-weight: normal" if strong else ""
    name = f'<th scope="row" style="{_align(0)}{style}">{escape(texts[0])}</th>'
    cells = "".join(f'<td style="{_align(1)}{style}">{escape(text)}</td>' for text in texts[1:])
    return f"<tr>{name}{cells}</tr>"


def _align(column: int) -> str:
    """Names on the left, figures on the right and in one line; notebooks centre the one and break the other."""
    return f"text-align: {'right' if column else 'left'}; white-space: nowrap"


def html_list(texts: Iterable[str]) -> str:
    """The texts as items."""
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"


def _text(estimate: Estimate) -> str:
    if estimate is None:
        return "–"
    if isinstance(estimate, Interval):
        return str(estimate)
    return f"{estimate:.3f}" if estimate >= 0.001 else "< 0.001"


def _value(estimate: Estimate) -> dict[str, Any]:
    return estimate.to_dict() if isinstance(estimate, Interval) else {"value": estimate}


def plain(estimate: Any) -> Any:
    """An interval as a dict, and anything else as it is, ready for JSON."""
    return estimate.to_dict() if isinstance(estimate, Interval) else estimate
