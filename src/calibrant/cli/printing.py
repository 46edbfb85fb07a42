"""Data go to standard output, everything else to standard error; colour and movement only on a terminal."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["Settings", "note", "plain_warnings", "print_json", "print_table", "progress", "settings", "warn"]


class Settings:
    """What the options before the command say."""

    quiet = False


settings = Settings()


def note(text: str) -> None:
    """A remark on the way, for people."""
    if not settings.quiet:
        sys.stderr.write(f"{text}\n")


def warn(text: str) -> None:
    """A remark that is shown even when remarks are turned off."""
    sys.stderr.write(f"warning: {text}\n")


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show what the library warns of like any other warning, without the line of code that it comes from."""
    before = warnings.showwarning
    warnings.showwarning = lambda message, *_place, **_more: warn(str(message))
    try:
        yield
    finally:
        warnings.showwarning = before


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n")


def print_table(
    title: str, headers: Sequence[str], rows: Sequence[Sequence[str]], marked: int | None = None, left: int = 1
) -> None:
    """A table on standard output: drawn by rich on a terminal, aligned text elsewhere; row `marked` is highlighted."""
    if sys.stdout.isatty():
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=title or None, title_justify="left", title_style="", box=SIMPLE_HEAD)
        for place, header in enumerate(headers):
            table.add_column(header, justify="left" if place < left else "right", overflow="fold")
        for place, row in enumerate(rows):
            table.add_row(*map(Text, row), style="bold green" if place == marked else None)
        Console(highlight=False).print(table)
        return
    widths = [max(len(row[i]) for row in [headers, *rows]) for i in range(len(headers))]
    lines = [title] if title else []
    for row in [headers, *rows]:
        cells = (f"{t:<{w}}" if i < left else f"{t:>{w}}" for i, (t, w) in enumerate(zip(row, widths, strict=True)))
        lines.append("  ".join(cells).rstrip())
    sys.stdout.write("\n".join(lines) + "\n")


@contextmanager
def progress(text: str, total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that work goes on; call what it yields with the name of each next step."""
    if settings.quiet or not sys.stderr.isatty():
        yield lambda _name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(text, total=total)
        started = False

        def step(name: str) -> None:
            nonlocal started
            shown.update(task, description=f"{text}: {name}", advance=1 if started else 0)
            started = True

        yield step
