"""A gate as a picture: the precision of accepted rows over the share of rows that pass."""

from typing import Any, Self

from calibrant.decisions import Acceptance
from calibrant.displays import axes
from calibrant.reliability.result import table


class AcceptanceDisplay:
    """The precision of the rows from each score up, over their share, with the gate and the wanted precision.

    Parameters
    ----------
    gate : Acceptance
        The gate, of `calibrant.decisions.acceptance`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The picture.
    figure_ : matplotlib Figure
        The figure.
    line_, band_ : matplotlib artist
        The precision, and its interval at each share.
    wanted_, gate_ : matplotlib artist or None
        The wanted precision, and the gate; None where there is none.
    legend_ : matplotlib Legend
        The legend.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from calibrant import simulate
    >>> from calibrant.decisions import acceptance
    >>> from calibrant.displays import AcceptanceDisplay
    >>> data = simulate.from_truth("D1", 3000)
    >>> display = AcceptanceDisplay(acceptance(data.labels, data.scores, precision=0.8)).plot(Figure().subplots())
    >>> display.ax_.get_xlabel()
    'Share of rows that pass'
    """

    def __init__(self, gate: Acceptance) -> None:
        self.gate = gate

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        self
        """
        gate, curve = self.gate, self.gate.curve
        self.ax_ = axes.open_axes(ax, "AcceptanceDisplay.plot", below=False)
        self.figure_ = self.ax_.figure
        source = "labelled rows" if gate.guarantee == "finite_sample" else "posterior"
        label = f"precision by the {source}, {100 * gate.confidence:.3g} % interval"
        style = {"linewidth": 1.6, "zorder": 2.7, "label": label}
        self.line_ = axes.draw_curve(self.ax_, curve.shares, curve.precision, style)
        columns = table(score=curve.shares, low=curve.low, high=curve.high)
        self.band_ = axes.draw_band(self.ax_, columns, color=self.line_.get_color(), alpha=0.18)
        self.wanted_ = self.gate_ = None
        neutral = {"color": axes.NEUTRAL, "linewidth": 1.2, "zorder": 1.5}
        if gate.wanted is not None:
            text = f"wanted: {100 * gate.wanted:g} %"
            self.wanted_ = self.ax_.axhline(gate.wanted, linestyle=(0, (4, 3)), label=text, **neutral)
        if gate.threshold is not None:
            self.gate_ = self.ax_.axvline(gate.share, label=f"gate: scores from {gate.threshold:.3g}", **neutral)
        lowest = min(curve.low[len(curve.low) // 10 :].min(), gate.wanted or 1.0)
        self.ax_.set(xlim=(0.0, 1.0), ylim=(max(lowest - 0.02, 0.0), 1.0))
        self.ax_.set_xlabel("Share of rows that pass")
        self.ax_.set_ylabel("Precision of the rows that pass")
        self.legend_ = axes.draw_legend(self.ax_)
        return self
