"""What a section of the page consists of: sentences, figures with their numbers, and tables, in this order."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, what stands smaller below it, and a tag beside it."""

    text: str
    small: str = ""
    tag: str = ""


Row: TypeAlias = tuple[str | Cell, ...]


@dataclass(frozen=True)
class Table:
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


@dataclass(frozen=True)
class Figure:
    """The markup of a figure, as `svg.to_svg` makes it, with a caption above it and its numbers below it.

    `shape` is "half" (two beside each other), "wide" (up to 620 pixels), "whole" (as wide as the page) or "small".
    """

    svg: str
    caption: str = ""
    shape: str = "wide"
    numbers: Table | None = None


@dataclass(frozen=True)
class Section:
    """A section with an identifier for its link, and a title."""

    name: str
    title: str
    sentences: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
