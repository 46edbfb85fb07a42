"""A section of the page that is not about every table: words, figures and tables, in this order."""

from dataclasses import dataclass

from calibrant.report.figures import Figure


@dataclass(frozen=True)
class SectionTable:
    """A table with a caption; `folded` hides it behind a click, as for the numbers of a figure."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    folded: bool = False


@dataclass(frozen=True)
class SectionFigure:
    """A figure as `report/figures.py` describes it, with the words for those who cannot see it.

    `shape` is "square" (with "wide" up to 620 pixels, with "small" 300 pixels beside others), "bars" (lower) or "time"
    (as wide as the page); figures of rows are as high as their rows, whatever their shape.
    `legend` names a colour of the page, such as "before", and what it stands for, one after the other.
    """

    figure: Figure
    alt: str
    caption: str = ""
    shape: str = "square wide"
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Section:
    """A section with an identifier for its link, a title and what stands below it; all texts are escaped."""

    name: str
    title: str
    sentences: tuple[str, ...]
    figures: tuple[SectionFigure, ...] = ()
    tables: tuple[SectionTable, ...] = ()
