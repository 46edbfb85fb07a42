"""The numbers of a validation as text inside a picture, as clinical papers show them."""

from __future__ import annotations

from typing import Any

from calibrant.metrics.validation import ValidationSummary

__all__ = ["draw_validation_text"]


def draw_validation_text(ax: Any, summary: ValidationSummary) -> Any:
    """Write the numbers into the upper left corner of a diagram; returns the text.

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
    place = {"transform": ax.transAxes, "verticalalignment": "top", "zorder": 4}
    return ax.text(0.03, 0.97, str(summary), family="monospace", fontsize="small", bbox=box, **place)
