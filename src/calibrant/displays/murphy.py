"""The Murphy diagram as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from calibrant.displays import axes, marks
from calibrant.displays.models import ModelsDisplay, one_or_list
from calibrant.metrics.scores import MurphyCurve, murphy_curve

__all__ = ["MurphyDisplay"]


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
    >>> from calibrant.displays.murphy import MurphyDisplay
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
        self.open_axes(ax)
        lines = []
        for i, (result, style) in enumerate(zip(self.results, self.styles(curve_kwargs), strict=True)):
            options = {"linewidth": 1.6, "label": self.model_name(i)} | style
            lines.append(marks.draw_curve(self.ax_, result.thresholds, result.scores, options))
        self.line_ = one_or_list(lines)
        top = max(float(np.max(result.scores)) for result in self.results)
        limits = {"xlim": (0.0, 1.0), "ylim": (0.0, 1.08 * top or 1.0)}
        self.ax_.set(xlabel="Threshold θ", ylabel="Mean elementary score", **limits)
        named = len(lines) > 1 or self.results[0].name is not None
        self.legend_ = axes.draw_legend(self.ax_) if named else None
        return self
