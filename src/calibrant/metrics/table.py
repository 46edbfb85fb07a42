"""The result of `evaluate`: numbers first, with a text and an HTML form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from calibrant._validation import check_choice
from calibrant.metrics.bootstrap import Interval
from calibrant.metrics.verdict import Verdict
from calibrant.tally import row_count

__all__ = ["Column", "Evaluation", "Row"]

Estimate = Interval | float | None
Column = Mapping[str, Interval | float]


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
                name: {row.key: _plain(row.estimates[i]) for row in self.rows} for i, name in enumerate(self.models)
            },
            "verdicts": {n: v.to_dict() for n, v in zip(self.models, self.verdicts, strict=True)},
            "remarks": list(self.remarks),
        }

    @property
    def _title(self) -> str:
        rows = f"{row_count(self.n_rows)} rows, {100 * self.base_rate:.3g} % positive"
        return f"{rows}; {100 * self.level:g} % intervals in brackets"

    def __repr__(self) -> str:
        names = [row.name for row in self.rows]
        left = max(len(name) for name in names) + 4
        cells = [[_text(estimate) for estimate in row.estimates] for row in self.rows]
        widths = [max(len(c[i]) for c in [*cells, list(self.models)]) for i in range(len(self.models))]
        lines = [self._title]
        if len(self.models) > 1:
            lines.append(" " * left + "  ".join(f"{m:<{w}}" for m, w in zip(self.models, widths, strict=True)).rstrip())
        at = 0
        for group, rows in groupby(self.rows, key=lambda row: row.group):
            lines.append(group)
            for row in rows:
                shown = "  ".join(f"{text:<{w}}" for text, w in zip(cells[at], widths, strict=True))
                lines.append(f"  {row.name:<{left - 2}}{shown}".rstrip())
                at += 1
        return "\n".join([*lines, *(f"- {remark}" for remark in self.remarks)])

    def _repr_html_(self) -> str:
        span = 1 + len(self.models)
        parts = [f"<table><caption>{escape(self._title)}</caption><thead><tr><th></th>"]
        parts += [f'<th scope="col">{escape(name)}</th>' for name in self.models]
        parts.append("</tr></thead>")
        for group, rows in groupby(self.rows, key=lambda row: row.group):
            parts.append(f'<tbody><tr><th colspan="{span}" scope="rowgroup">{escape(group)}</th></tr>')
            for row in rows:
                values = "".join(f"<td>{escape(_text(estimate))}</td>" for estimate in row.estimates)
                parts.append(f'<tr><th scope="row">{escape(row.name)}</th>{values}</tr>')
            parts.append("</tbody>")
        remarks = "".join(f"<li>{escape(remark)}</li>" for remark in self.remarks)
        return "".join(parts) + f"</table><ul>{remarks}</ul>"


def _text(estimate: Estimate) -> str:
    if estimate is None:
        return "–"
    if isinstance(estimate, Interval):
        return str(estimate)
    return f"{estimate:.3f}" if estimate >= 0.001 else "< 0.001"


def _plain(estimate: Estimate) -> Any:
    return estimate.to_dict() if isinstance(estimate, Interval) else estimate
