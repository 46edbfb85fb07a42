"""A replayed history as a picture: what each way has gained on the static map, period by period."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from calibrant.displays import axes
from calibrant.monitoring.replay import ADAPTIVE, STATIC, WalkForward

__all__ = ["WalkForwardDisplay"]

MOST_TICKS = 12


class WalkForwardDisplay:
    """Log-loss saved against the static map so far, for each way of a `calibrant.monitoring.walk_forward`.

    Parameters
    ----------
    result : WalkForward
        The replayed history.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The picture.
    lines_ : dict of str to matplotlib Line2D
        One for each way.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from calibrant import simulate
    >>> from calibrant.displays import WalkForwardDisplay
    >>> from calibrant.monitoring import walk_forward
    >>> data = simulate.from_truth("underconfident", 2000)
    >>> found = walk_forward(data.scores, data.labels, [row // 250 for row in range(2000)])
    >>> list(WalkForwardDisplay(found).plot(Figure().subplots()).lines_)[-1]
    'adaptive'
    """

    def __init__(self, result: WalkForward) -> None:
        self.result = result

    def plot(self, ax: Any = None) -> Self:
        """Draw; a line that rises is a way that is better than the static map in that period.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        WalkForwardDisplay
        """
        self.ax_ = ax = axes.open_axes(ax, type(self).__name__, below=False)
        self.figure_ = ax.figure
        found, self.lines_ = self.result, {}
        places = np.arange(len(found.periods))
        for name, losses in found.log_losses.items():
            if name != STATIC:
                saved = np.cumsum(found.rows * (found.log_losses[STATIC] - losses))
                width = 2.4 if name == ADAPTIVE else 1.2
                (self.lines_[name],) = ax.plot(places, saved, linewidth=width, label=name)
        ax.axhline(0.0, color=axes.NEUTRAL, linewidth=1.0, label=STATIC)
        every = -(-len(places) // MOST_TICKS)
        ax.set_xticks(places[::every], [str(period) for period in found.periods[::every]], rotation=45, ha="right")
        ax.set(xlabel="Period", ylabel="Log-loss saved so far, in nats")
        axes.draw_legend(ax)
        return self
