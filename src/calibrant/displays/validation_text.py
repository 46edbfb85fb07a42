"""The numbers of a validation as text inside a picture, as clinical papers show them."""

from __future__ import annotations

from typing import Any

from calibrant.metrics.validation import ValidationSummary

__all__ = ["draw_validation_text"]


def draw_validation_text(ax: Any, summary: ValidationSummary) -> Any:
    """Write the numbers into the corner of a diagram where fewer rows are; returns the text.

    Where more happens than was expected, O/E > 1, points lie above the diagonal, and the lower right corner is free.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from calibrant import ReliabilityDisplay, simulate
    >>> from calibrant.displays.validation_text import draw_validation_text
    >>> from calibrant.metrics.validation import validation_summary
    >>> data = simulate.from_truth("D1", 1000)
    >>> display = ReliabilityDisplay.from_predictions(data.labels, data.scores, ax=Figure().subplots())
    >>> text = draw_validation_text(display.ax_, validation_summary(data.labels, data.scores))
    >>> text.get_text().splitlines()[0]
    'Rows          1000 (780 positive)'
    """
    box = {"boxstyle": "round,pad=0.4", "facecolor": ax.get_facecolor(), "alpha": 0.85, "edgecolor": "none"}
    x, y, vertical, horizontal = (0.03, 0.97, "top", "left")
    if summary.observed_expected.value > 1.0:
        x, y, vertical, horizontal = (0.97, 0.03, "bottom", "right")
    place = {"transform": ax.transAxes, "verticalalignment": vertical, "horizontalalignment": horizontal, "zorder": 4}
    style = {"family": "monospace", "fontsize": "small", "multialignment": "left"}
    return ax.text(x, y, str(summary), bbox=box, **style, **place)
