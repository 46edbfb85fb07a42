"""Curves as pictures: net benefit, Murphy diagrams, gates, and what each way of adapting gained in a history."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from calibrant.decisions import Acceptance, DecisionCurve, decision_curve
from calibrant.displays import axes
from calibrant.displays.models import ModelsDisplay, one_or_list
from calibrant.metrics.scores import MurphyCurve, murphy_curve
from calibrant.monitoring.replay import ADAPTIVE, STATIC, WalkForward
from calibrant.reliability.result import table

TREAT_ALL, TREAT_NONE = "treat all", "treat none"
MARGIN = 0.08  # of the height, below 0 and above the highest curve


class DecisionCurveDisplay(ModelsDisplay):
    """Decision curves of one or several models on the same rows.

    Make one with `from_predictions` or `from_estimator`, which draw at once and take `thresholds`, `level`,
    `n_resamples`, `groups`, `rng`, `sample_weight` and `pos_label` of `calibrant.decisions.decision_curve`; or from
    numbers of that function, and draw with `plot`.

    Parameters
    ----------
    results : DecisionCurve or list of DecisionCurve
        One for each model.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The picture.
    figure_ : matplotlib Figure
        The figure.
    line_, band_ : matplotlib artist, or list of them with several models
        Net benefit, and its interval (None where there is none).
    treat_all_, treat_none_ : matplotlib Line2D
        The two strategies that need no model.
    legend_ : matplotlib Legend
        The legend.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from calibrant import simulate
    >>> from calibrant.displays import DecisionCurveDisplay
    >>> data = simulate.from_truth("D1", 1000)
    >>> models = {"raw": data.scores, "calibrated": data.probabilities}
    >>> display = DecisionCurveDisplay.from_predictions(data.labels, models, ax=Figure().subplots())
    >>> [text.get_text() for text in display.legend_.get_texts()][:2]
    ['raw, 90 % bootstrap interval', 'calibrated, 90 % bootstrap interval']
    """

    kind = DecisionCurve
    compute = staticmethod(decision_curve)

    def plot(self, ax: Any = None, *, curve_kwargs: Mapping[str, Any] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        curve_kwargs : dict, optional
            Passed to matplotlib's ``plot`` for the models' curves.

        Returns
        -------
        self
        """
        self.ax_, self.figure_ = axes.open_axes(ax, "DecisionCurveDisplay.plot")
        drawn = [self._draw(i, style) for i, style in enumerate(self.styles(curve_kwargs))]
        self.line_, self.band_ = (one_or_list([artists[part] for artists in drawn]) for part in ("line", "band"))
        # Treating all depends on the share of positives alone, which the models have in common.
        widest = max(self.results, key=lambda result: np.ptp(result.thresholds))
        neutral = {"color": axes.NEUTRAL, "linewidth": 1.2, "zorder": 1.5}
        dashed = {"linestyle": (0, (4, 3)), "label": TREAT_ALL} | neutral
        self.treat_all_ = axes.draw_curve(self.ax_, widest.thresholds, widest.treat_all, dashed)
        self.treat_none_ = self.ax_.axhline(0.0, label=TREAT_NONE, **neutral)
        first = min(result.thresholds[0] for result in self.results)
        last = max(result.thresholds[-1] for result in self.results)
        top = max(1e-9, *(max(result.high.max(), result.treat_all.max()) for result in self.results))
        # Treating all falls without bound; what lies far below treating none says no more than that it is worse.
        self.ax_.set(xlim=(first, max(last, first + 1e-9)), ylim=(-MARGIN * top, (1.0 + MARGIN) * top))
        self.ax_.set(xlabel="Threshold probability", ylabel="Net benefit")
        self.legend_ = axes.draw_legend(self.ax_)
        return self

    def _draw(self, i: int, style: dict[str, Any]) -> dict[str, Any]:
        result, name = self.results[i], self.model_name(i)
        label = name if result.band == "none" else f"{name}, {100 * result.level:g} % {result.band} interval"
        base = {"linewidth": 1.6, "label": label, "zorder": 2.7}
        line = axes.draw_curve(self.ax_, result.thresholds, result.net_benefit, base | style)
        if result.band == "none":
            return {"line": line, "band": None}
        columns = table(score=result.thresholds, low=result.low, high=result.high)
        return {"line": line, "band": axes.draw_band(self.ax_, columns, color=line.get_color(), alpha=0.18)}


class MurphyDisplay(ModelsDisplay):
    """Mean elementary scores of one or several models; the lower curve is better for users with that threshold.

    Make one with `from_predictions` or `from_estimator`, which draw at once and take `thresholds`, `sample_weight` and
    `pos_label` of `calibrant.metrics.murphy_curve`; or from numbers of that function, and draw with `plot`.

    Parameters
    ----------
    results : MurphyCurve or list of MurphyCurve
        One for each model, all on the same rows.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The picture.
    line_ : matplotlib Line2D, or list of them with several models
        The curves.
    legend_ : matplotlib Legend or None
        The legend, where a model has a name.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from calibrant import simulate
    >>> from calibrant.displays import MurphyDisplay
    >>> data = simulate.from_truth("D1", 1000)
    >>> models = {"raw": data.scores, "calibrated": data.probabilities}
    >>> display = MurphyDisplay.from_predictions(data.labels, models, ax=Figure().subplots())
    >>> display.ax_.get_xlabel(), len(display.line_)
    ('Threshold θ', 2)
    """

    kind = MurphyCurve
    compute = staticmethod(murphy_curve)

    def plot(self, ax: Any = None, *, curve_kwargs: Mapping[str, Any] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        curve_kwargs : dict, optional
            Passed to matplotlib's ``plot``.

        Returns
        -------
        self
        """
        self.ax_, self.figure_ = axes.open_axes(ax, "MurphyDisplay.plot")
        styles = [{"linewidth": 1.6, "label": self.model_name(i)} | s for i, s in enumerate(self.styles(curve_kwargs))]
        curves = zip(self.results, styles, strict=True)
        lines = [axes.draw_curve(self.ax_, curve.thresholds, curve.scores, style) for curve, style in curves]
        self.line_ = one_or_list(lines)
        top = max(float(np.max(result.scores)) for result in self.results)
        limits = {"xlim": (0.0, 1.0), "ylim": (0.0, 1.08 * top or 1.0)}
        self.ax_.set(xlabel="Threshold θ", ylabel="Mean elementary score", **limits)
        named = len(lines) > 1 or self.results[0].name is not None
        self.legend_ = axes.draw_legend(self.ax_) if named else None
        return self


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
        self.ax_, self.figure_ = axes.open_axes(ax, "WalkForwardDisplay")
        found, self.lines_ = self.result, {}
        places = np.arange(len(found.periods))
        for name, losses in found.log_losses.items():
            if name != STATIC:
                saved = np.cumsum(found.rows * (found.log_losses[STATIC] - losses))
                width = 2.4 if name == ADAPTIVE else 1.2
                (self.lines_[name],) = self.ax_.plot(places, saved, linewidth=width, label=name)
        self.ax_.axhline(0.0, color=axes.NEUTRAL, linewidth=1.0, label=STATIC)
        axes.name_places(self.ax_, found.periods)
        self.ax_.set(xlabel="Period", ylabel="Log-loss saved so far, in nats")
        axes.draw_legend(self.ax_)
        return self


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
        self.ax_, self.figure_ = axes.open_axes(ax, "AcceptanceDisplay.plot")
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
        self.ax_.set(xlabel="Share of rows that pass", ylabel="Precision of the rows that pass")
        self.legend_ = axes.draw_legend(self.ax_)
        return self
