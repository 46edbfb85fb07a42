"""Tables of results, as aligned text and as HTML for notebooks."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

__all__ = ["align", "html_list", "html_table"]


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
