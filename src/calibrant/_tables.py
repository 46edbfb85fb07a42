"""Tables of results: as aligned text, HTML for notebooks, Markdown and LaTeX for papers, and as data frames."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from itertools import groupby
from typing import Any, NamedTuple

from calibrant.errors import MissingExtraError


class Table(NamedTuple):
    """The texts of a table; a group is the title that stands above its rows, or empty."""

    caption: str
    headers: Sequence[str]
    groups: Sequence[str]
    rows: Sequence[Sequence[str]]

    def lines(self) -> list[Sequence[str]]:
        """All rows below the headers; the title of a group is a row of one text."""
        out: list[Sequence[str]] = []
        for group, members in groupby(zip(self.groups, self.rows, strict=True), key=lambda pair: pair[0]):
            out += [[group]] if group else []
            out += [row for _, row in members]
        return out


class TableResult(ABC):
    """A result that is a table, with remarks below it: printed, in a notebook, and for a paper."""

    remarks: tuple[str, ...]

    @abstractmethod
    def table(self) -> Table:
        """The texts of the table."""

    def __str__(self) -> str:
        table = self.table()
        indent = "  " if any(table.groups) else ""
        header, *texts = align([table.headers, *([indent + row[0], *row[1:]] for row in table.rows)])
        aligned = iter(texts)
        body = [row[0] if len(row) == 1 else next(aligned) for row in table.lines()]
        return "\n".join(
            [table.caption, *([header] if header else []), *body, *(f"- {remark}" for remark in self.remarks)]
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.table().caption})"

    def _repr_html_(self) -> str:
        return html_table(*self.table()) + (html_list(self.remarks) if self.remarks else "")

    def to_html(self) -> str:
        """The table as HTML."""
        return self._repr_html_()

    def to_markdown(self) -> str:
        """The table as Markdown."""
        table = self.table()
        rows = [table.headers, ["---", *["--:"] * (len(table.headers) - 1)]]
        rows += [[f"**{row[0]}**", *[""] * (len(table.headers) - 1)] if len(row) == 1 else row for row in table.lines()]
        body = ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in rows]
        return "\n\n".join([table.caption, "\n".join(body), *self.remarks])

    def to_latex(self) -> str:
        """The table as LaTeX, for the packages booktabs and longtable."""
        table = self.table()
        width = len(table.headers)
        body = [
            rf"\multicolumn{{{width}}}{{l}}{{\textit{{{_latex(row[0])}}}}} \\"
            if len(row) == 1
            else " & ".join(map(_latex, row)) + r" \\"
            for row in table.lines()
        ]
        caption, head = rf"\caption{{{_latex(table.caption)}}}", " & ".join(map(_latex, table.headers)) + r" \\"
        # Columns with texts of more than some forty letters wrap, and their table goes on over pages.
        lengths = [max(map(len, column)) for column in zip(table.headers, *table.rows, strict=True)]
        long = {i: math.log(length) for i, length in enumerate(lengths) if length > 40}
        shares = {i: f"p{{{0.8 * log / sum(long.values()):.2f}\\textwidth}}" for i, log in long.items()}
        kinds = "".join(shares.get(i, "lr"[i > 0]) for i in range(width))
        above, below = [r"\begin{table}", caption, rf"\begin{{tabular}}{{{kinds}}}"], [r"\end{tabular}", r"\end{table}"]
        if long:
            above, below = [rf"\begin{{longtable}}{{{kinds}}}", caption + r" \\"], [r"\end{longtable}"]
        note = [rf"\par {_latex(remark)}" for remark in self.remarks]
        rules = [r"\toprule", head, r"\midrule", *[r"\endhead"] * bool(long)]
        return "\n".join([*above, *rules, *body, r"\bottomrule", below[0], *note, *below[1:]])


def _latex(text: str) -> str:
    """Text with what LaTeX would take for commands made plain."""
    escaped = re.sub(r"([%&_#$])", r"\\\1", text).replace(r"\_", r"\_\allowbreak{}")
    escaped = re.sub(r"(?<![\w)])-(?=\d)", "$-$", escaped)
    return escaped.replace("²", "$^2$").replace("τ", r"$\tau$").replace("−", "$-$").replace("–", "--")


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
    style = f"; font-weight: {'bold' if texts[0] == strong else 'normal'}"  # headings of groups are bold
    name = f'<th scope="row" style="{_align(0)}{style}">{escape(texts[0])}</th>'
    cells = "".join(f'<td style="{_align(1)}{style}">{escape(text)}</td>' for text in texts[1:])
    return f"<tr>{name}{cells}</tr>"


def _align(column: int) -> str:
    """Names on the left, figures on the right and in one line; notebooks centre the one and break the other."""
    return f"text-align: {'right' if column else 'left'}; white-space: nowrap"


def html_list(texts: Iterable[str]) -> str:
    """The texts as items."""
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"


def make_frame(rows: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> Any:
    """A data frame of rows, or of columns; an interval in a cell becomes three columns: `x`, `x_low` and `x_high`.

    Examples
    --------
    >>> from calibrant._tables import make_frame
    >>> make_frame([{"name": "a", "loss": {"value": 0.5, "low": 0.4, "high": 0.6}}]).columns.tolist()
    ['name', 'loss', 'loss_low', 'loss_high']
    """
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise MissingExtraError("`to_frame` needs the package `pandas`; run: pip install pandas") from error
    return pandas.DataFrame(rows if isinstance(rows, Mapping) else [_flat(row) for row in rows])


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            flat |= {key if part == "value" else f"{key}_{part}": own for part, own in value.items()}
        else:
            flat[key] = value
    return flat
