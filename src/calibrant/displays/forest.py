"""Forest plots: a name, a value and an interval for each row, with one mark for each series."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from calibrant._typing import Floats
from calibrant.displays import axes

APART = 0.34  # of a row, between the first and the last series, so that they do not hide each other
WIDE = 3.0  # an interval so many times as wide as the usual one may leave the axes
MANY = 40  # rows, from which on marks are smaller
MOST_VALUES = 6  # numbers along an axis, which would touch each other


class Series(NamedTuple):
    """The values of all rows, nan where a row has none, and the ends of their intervals; `off` rows are marked.

    `color` is one for all rows, or one for each.
    """

    label: str
    color: str | list[str]
    values: Floats
    low: Floats
    high: Floats
    marker: str = "o"
    hollow: bool = False
    off: Sequence[bool] = ()


def draw_forest(ax: Any, names: Sequence[str], series: Sequence[Series], *, label: str, upright: bool = False) -> bool:
    """Draw rows from top to bottom, or `upright` ones from left to right; returns whether intervals are cut off.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from calibrant.displays.forest import Series, draw_forest
    >>> ax = Figure().subplots()
    >>> gaps = Series("gap", "C0", np.array([1, 2]), np.array([0, 1]), np.array([3, 4]))
    >>> draw_forest(ax, ["north", "south"], [gaps], label="points")
    False
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['north', 'south']
    """
    shifts = np.linspace(-0.5, 0.5, len(series)) * APART if len(series) > 1 else np.zeros(1)
    for one, shift in zip(series, shifts, strict=True):
        _draw_series(ax, one, np.arange(len(names)) + shift, upright)
    limits, cut = _limits(series)
    if upright:
        ax.set_xlim(-0.7, len(names) - 0.3)
        axes.name_places(ax, names)
        ax.set(ylim=limits, ylabel=label)
    else:
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_yticks(range(len(names)), list(names))
        ax.set(xlim=limits, xlabel=label)
        ax.locator_params(axis="x", nbins=MOST_VALUES)
    (ax.axhline if upright else ax.axvline)(0.0, color=axes.NEUTRAL, linewidth=1.0, zorder=1)
    if len(series) > 1:
        axes.draw_legend(ax)
    return cut


def _draw_series(ax: Any, series: Series, places: Any, upright: bool) -> None:
    values = series.values
    colors = np.full(len(values), series.color) if isinstance(series.color, str) else np.array(series.color)
    draw_lines = ax.vlines if upright else ax.hlines
    draw_lines(places, series.low, series.high, colors=colors, linewidth=1.4, zorder=2)
    off = np.array(series.off or [False] * len(values))
    style = {"s": 26 if len(values) <= MANY else 10, "zorder": 3}
    for chosen, marker, label in ((~off, series.marker, series.label), (off, "D", f"{series.label}, off")):
        if chosen.any():
            x, y = (places[chosen], values[chosen]) if upright else (values[chosen], places[chosen])
            face = ax.get_facecolor() if series.hollow else colors[chosen]
            ax.scatter(x, y, marker=marker, facecolor=face, edgecolor=colors[chosen], label=label, **style)


def _limits(series: Sequence[Series]) -> tuple[tuple[float, float], bool]:
    """Ends of the axis, and whether any interval is cut: that of a single row would squeeze all others."""
    ends = np.concatenate([(one.values, one.low, one.high) for one in series], axis=1)
    values, lows, highs = ends[:, np.isfinite(ends[0])]
    usual = highs - lows <= WIDE * np.median(highs - lows)
    low, high = min(0.0, *values, *lows[usual]), max(0.0, *values, *highs[usual])
    margin = 0.04 * (high - low) or 1.0
    return (low - margin, high + margin), bool(lows.min() < low or highs.max() > high)
