"""What a section of the page consists of: sentences, figures with their numbers, and tables, in this order."""

from typing import NamedTuple, TypeAlias

import numpy as np

from calibrant.intervals import Interval
from calibrant.report.wording import estimate, estimate_decimals, percent


class Cell(NamedTuple):
    """A cell of a table: its text, what stands smaller below it, and a tag beside it."""

    text: str
    small: str = ""
    tag: str = ""


Row: TypeAlias = tuple[str | Cell, ...]


class Table(NamedTuple):
    """A table with a caption; a row of one cell is a heading, and `folded` hides the table behind a click."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    folded: bool = False

    @property
    def stacked(self) -> bool:
        """Whether a narrow screen shows each row as a block of its own."""
        return len(self.head) > 3 or any(row[0].small for row in self.cells)

    @property
    def cells(self) -> list[list[Cell]]:
        """The rows, with a `Cell` for each text."""
        return [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in self.rows]


class Figure(NamedTuple):
    """The markup of a figure, as `svg.to_svg` makes it, with a caption above it and its numbers below it.

    `shape` is "half" (two beside each other), "wide" (up to 620 pixels), "whole" (as wide as the page) or "small".
    """

    svg: str
    caption: str = ""
    shape: str = "wide"
    numbers: Table | None = None


class Section(NamedTuple):
    """A section with an identifier for its link, and a title."""

    name: str
    title: str
    sentences: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()


def share_cell(value: float, low: float, high: float) -> Cell:
    """A share with its interval."""
    return Cell(percent(value), f"{percent(low)} to {percent(high)}")


def estimate_cells(values: list[Interval | float | None], sign: str = "") -> list[Cell]:
    """Estimates with like decimals, and p-values."""
    decimals = [estimate_decimals(one) for one in values if isinstance(one, Interval)]
    usual = int(np.median(decimals)) if decimals else 4
    cells = []
    for one in values:
        if isinstance(one, Interval):
            cells.append(Cell(*estimate(one, sign, usual)))
        else:
            cells.append(Cell("–" if one is None else f"{one:.3f}" if one >= 0.001 else "below 0.001"))
    return cells
