"""A matplotlib figure as SVG inside the page: small, the same on every run, and in the colours of the page's theme."""

import html
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from calibrant._optional import require

# Colours of the light theme; in the page each becomes the variable of the style sheet, which the dark theme changes.
COLORS = {
    "paper": "#ffffff",
    "ink": "#1b1f24",
    "soft": "#545c66",
    "grid": "#e6e8ec",
    "before": "#b04a0a",
    "after": "#1560bd",
    "neutral": "#808080",  # the grey of the displays
}
WIDTH = 5.2  # inches, of which a phone shows nearly all at their size
STYLE = {
    "font.size": 10.0,
    "axes.edgecolor": COLORS["soft"],
    "axes.facecolor": COLORS["paper"],
    "axes.grid": True,
    "axes.labelcolor": COLORS["soft"],
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "none",
    "grid.color": COLORS["grid"],
    "svg.fonttype": "none",
    "text.color": COLORS["ink"],
    "text.parse_math": False,  # names of the user may have dollars
    "xtick.color": COLORS["soft"],
    "ytick.color": COLORS["soft"],
}
NUMBER = re.compile(r"\d+\.\d{3,}")
UNUSED = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", re.DOTALL)


@contextmanager
def open_figure(height: float, width: float = WIDTH, cycle: tuple[str, ...] = ("before", "after")) -> Iterator[Any]:
    """A figure in the style of the page, whatever style the user has set; it is drawn and saved inside the block."""
    style = require("matplotlib.style", "report", "The report")
    figures = require("matplotlib.figure", "report", "The report")
    cycler = require("cycler", "report", "The report")
    own = STYLE | {"axes.prop_cycle": cycler.cycler(color=[COLORS[name] for name in cycle])}
    with style.context(["default", own]):
        yield figures.Figure(figsize=(width, height), layout="constrained")


def to_svg(figure: Any, name: str, alt: str) -> str:
    """The markup of a figure, as wide as its place; `name` keeps its identifiers apart from those of others.

    Examples
    --------
    >>> from calibrant.report.svg import open_figure, to_svg
    >>> with open_figure(2.0) as figure:
    ...     _ = figure.subplots().plot([0, 1], [0, 1])
    ...     text = to_svg(figure, "line", "A rising line.")
    >>> text.startswith('<svg role="img" aria-label="A rising line." viewBox='), "var(--before)" in text
    (True, True)
    """
    matplotlib = require("matplotlib", "report", "The report")
    file = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name}), warnings.catch_warnings():
        # A script that the font of the measurement lacks; the browser has it.
        warnings.filterwarnings("ignore", message="Glyph")
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        # The canvas draws once, where `savefig` would draw twice to find the layout.
        backend = require("matplotlib.backends.backend_svg", "report", "The report")
        backend.FigureCanvasSVG(figure).print_svg(file, metadata=nothing)
    text = UNUSED.sub("", file.getvalue())
    box = re.search(r'viewBox="[^"]*"', text)
    body = text[text.index(">", text.index("<svg")) + 1 :]
    body = re.sub(r"\s*\n\s*", "\n", re.sub(r"<[^>]+>", _clean_tag, body))
    label = html.escape(alt)
    return f'<svg role="img" aria-label="{label}" {box[0] if box else ""}><title>{label}</title>{body}'


def _clean_tag(match: re.Match[str]) -> str:
    """A tag with short numbers, the page's colours, and without identifiers that nothing refers to."""
    tag = re.sub(r'<g id="[^"]*"', "<g", match[0])
    tag = NUMBER.sub(lambda number: f"{float(number[0]):.2f}", tag)
    for name, color in COLORS.items():
        tag = tag.replace(color, f"var(--{name})")
    return tag
