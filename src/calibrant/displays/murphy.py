"""The Murphy diagram as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from calibrant._typing import ArrayLike
from calibrant.displays import axes, marks
from calibrant.displays.models import ModelsDisplay, compute_each, one_or_list
from calibrant.metrics.murphy import MurphyCurve, murphy_curve
from calibrant.tally import Tally

__all__ = ["MurphyDisplay"]


class MurphyDisplay(ModelsDisplay):
    """Mean elementary scores of one or several models; the lower curve is better for users with that threshold.

    Make one with `from_predictions`, which draws at once; or from numbers of `calibrant.metrics.murphy_curve`, and draw
    with `plot`.

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

    def __init__(self, results: MurphyCurve | Sequence[MurphyCurve]) -> None:
        super().__init__(results, MurphyCurve)

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
        self.ax_ = axes.open_axes(ax, "MurphyDisplay.plot", below=False)
        self.figure_ = self.ax_.figure
        style = axes.line_style(curve_kwargs or {})
        lines = []
        for i, result in enumerate(self.results):
            options = {"linewidth": 1.6, "label": self.model_name(i)} | style
            lines.append(marks.draw_curve(self.ax_, result.thresholds, result.scores, options))
        self.line_ = one_or_list(lines)
        top = max(float(np.max(result.scores)) for result in self.results)
        self.ax_.set_xlim(0.0, 1.0)
        self.ax_.set_ylim(0.0, 1.08 * top if top > 0.0 else 1.0)
        self.ax_.set_xlabel("Threshold θ")
        self.ax_.set_ylabel("Mean elementary score")
        named = len(lines) > 1 or self.results[0].name is not None
        self.legend_ = axes.draw_legend(self.ax_) if named else None
        return self

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | Tally,
        y_prob: ArrayLike | Mapping[str, ArrayLike] | None = None,
        *,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """Compute from labels and probabilities, and draw.

        Parameters
        ----------
        y_true : array-like of shape (n,), or Tally
            Labels; or a tally in place of labels and probabilities.
        y_prob : array-like of shape (n,), or dict of such
            Predicted probabilities; with several models, a dict from name to probabilities.
        name : str, optional
            Of the model.
        ax, curve_kwargs
            See `plot`.
        **options
            `thresholds`, `sample_weight` and `pos_label` of `calibrant.metrics.murphy_curve`.

        Returns
        -------
        MurphyDisplay
        """
        results = compute_each(murphy_curve, y_true, y_prob, name, options)
        return cls(results).plot(ax, curve_kwargs=curve_kwargs)
