"""The result of `evaluate`: numbers first, with a text and an HTML form."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from calibrant._frames import make_frame
from calibrant._tables import align, html_list, html_table
from calibrant._validation import check_choice
from calibrant.intervals import Interval, plain
from calibrant.metrics.samples import describe_rows
from calibrant.metrics.verdict import Verdict

Estimate = Interval | float | None
Estimates = Mapping[str, Interval | float]


@dataclass(frozen=True)
class MeasureRow:
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
    rows : tuple of MeasureRow
        The measures, proper scores first.
    n_rows, base_rate, level : float
        (Weighted) number of rows, share of positives (of the most frequent class, where there are several), and level
        of the intervals.
    remarks : tuple of str
        What the numbers mean, and what could not be computed.
    verdicts : tuple of Verdict
        Whether each model needs calibration, as far as a test can tell.
    n_classes : int
        Two or more.

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
    rows: tuple[MeasureRow, ...]
    n_rows: float
    base_rate: float
    level: float
    remarks: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    n_classes: int = 2

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
        rows = describe_rows(self.n_rows, self.base_rate, self.n_classes)
        return f"{rows}; {100 * self.level:g} % intervals in brackets"

    def _texts(self, indent: str = "") -> list[list[str]]:
        return [[indent + row.name, *map(_text, row.estimates)] for row in self.rows]

    def __repr__(self) -> str:
        return f"Evaluation({', '.join(self.models)}: {self._title})"

    def __str__(self) -> str:
        header, *texts = align([["", *self.models], *self._texts("  ")])
        lines = [self._title] if len(self.models) == 1 else [self._title, header]
        for group, rows in groupby(zip(self.rows, texts, strict=True), key=lambda pair: pair[0].group):
            lines += [group, *(text for _, text in rows)]
        return "\n".join([*lines, *(f"- {remark}" for remark in self.remarks)])

    def _repr_html_(self) -> str:
        groups = [row.group for row in self.rows]
        return html_table(self._title, ["", *self.models], groups, self._texts()) + html_list(self.remarks)


def _text(estimate: Estimate) -> str:
    if estimate is None:
        return "–"
    if isinstance(estimate, Interval):
        return str(estimate)
    return f"{estimate:.3f}" if estimate >= 0.001 else "< 0.001"


def _value(estimate: Estimate) -> dict[str, Any]:
    return estimate.to_dict() if isinstance(estimate, Interval) else {"value": estimate}
