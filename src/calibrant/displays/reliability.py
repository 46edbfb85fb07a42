"""The reliability diagram: what a model says against what happens."""
# ruff: noqa: N803 - X is how scikit-learn calls the features

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from calibrant import _validation
from calibrant._optional import require
from calibrant._typing import ArrayLike
from calibrant.displays import axes
from calibrant.displays.models import ModelsDisplay, one_or_list
from calibrant.errors import InvalidInputError
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.multiclass import class_tallies, top_label
from calibrant.metrics.samples import read_classes
from calibrant.reliability.result import Reliability, reliability, visible_range
from calibrant.tally import Tally

AXES = ("Predicted probability", "Fraction of positives")
TOP_LABEL_AXES = ("Probability of the predicted class", "Fraction of right predictions")
BESIDE = 44  # letters in a line beside a figure of two columns
MOST_CLASSES = 8  # more curves than this cannot be told apart
ARTISTS = ("line", "band", "points", "intervals", "scores", "groups")


class ReliabilityDisplay(ModelsDisplay):
    """A reliability diagram of one or several models.

    Make one with `from_predictions` or `from_estimator`, which draw at once; or from numbers of
    `calibrant.reliability.reliability`, and draw with `plot`. The first two take `sample_weight`, `weights`,
    `pos_label`, `n_bins`, `strategy`, `curve`, `band`, `validation`, `groups`, `each_group`, `level` and `scale` of
    that function.

    Probabilities of shape (n, K), a column for each of three or more classes, are drawn for the predicted class: its
    probability, and whether it was right. With `each_class=True` there is a curve for each class against the rest
    instead, those with the largest SmoothECE first, at most eight; `classes` names the columns.

    Parameters
    ----------
    results : Reliability or list of Reliability
        One for each model, all on one scale.
    top_label : bool
        Whether the results are of the predicted one of several classes, which only changes the names of the axes.
    each_class : bool
        Whether the results are classes of one model, drawn without points.

    Attributes
    ----------
    ax_, ax_scores_ : matplotlib Axes
        The diagram, and the small axes below it (None without a histogram).
    figure_ : matplotlib Figure
        The figure.
    line_, band_, points_, intervals_ : matplotlib artist, or list of them with several models
        The curve (or, without one, the line between the points), its band, the markers and their intervals; None
        where there is none.
    beyond_ : list of matplotlib artists
        The triangles at the edges of logit axes.
    scores_ : matplotlib artist, or list of them
        The histogram, or the spikes.
    groups_ : list of matplotlib artists
        The faint curves of groups, with ``groups=`` and ``each_group=True``.
    validation_ : matplotlib Text or None
        The numbers of the validation, if the result has them.
    identity_ : matplotlib Line2D
        The diagonal.
    legend_ : matplotlib Legend
        The legend.

    Examples
    --------
    >>> from calibrant import ReliabilityDisplay, simulate
    >>> from matplotlib.figure import Figure
    >>> data = simulate.bayes_iso(1000, rng=0)
    >>> ax = Figure().subplots()
    >>> display = ReliabilityDisplay.from_predictions(data.labels, data.scores, ax=ax, name="raw scores")
    >>> display.results[0].name, display.results[0].total
    ('raw scores', 1000.0)
    >>> len(display.points_.get_offsets())
    10
    """

    kind = Reliability
    compute = staticmethod(reliability)

    def __init__(
        self, results: Reliability | Sequence[Reliability], *, top_label: bool = False, each_class: bool = False
    ) -> None:
        super().__init__(results)
        self.top_label, self.each_class = top_label, each_class
        if len({result.scale for result in self.results}) > 1:
            raise InvalidInputError("`results` must all have the same `scale`, since they share the axes.")

    def plot(
        self,
        ax: Any = None,
        *,
        points: bool | None = None,
        histogram: bool | str = True,
        columns: int | None = None,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given. Axes that have a diagram already get another model.
        points : bool, optional
            Whether to draw the binned points with their intervals; the area of a marker grows with its number of rows.
            By default yes, unless the results are classes of one model.
        histogram : bool or "spikes"
            Whether to draw below how many rows have which probability, in small axes that take a part of the place of
            `ax`; "spikes" of events point up and those of non-events down, as clinical papers have them.
        columns : {1, 2}, optional
            A figure for a paper: as wide as one column, with the legend above, or as two, with the legend beside; small
            letters, no frame. `save` writes it with letters that stay letters.
        curve_kwargs : dict or list of dict, optional
            Passed to matplotlib's ``plot`` for the curves: the same to all, or one dict for each.

        Returns
        -------
        self
        """
        if columns is not None:
            with axes.paper(columns, ax) as place:
                self.plot(place, points=points, histogram=histogram, curve_kwargs=curve_kwargs)
                return self._finish_for_paper(columns)
        styles = self.styles(curve_kwargs)
        self.spikes = histogram == "spikes"
        if self.spikes and len(self.results) > 1:
            raise InvalidInputError("`histogram='spikes'` has place for one model; draw each by itself.")
        self.ax_, self.figure_ = axes.open_axes(ax, "ReliabilityDisplay.plot", below=bool(histogram))
        self.ax_scores_ = axes.axes_below(self.ax_) if histogram else None
        self._set_axes()
        self.identity_ = axes.draw_identity(self.ax_)
        with_points = not self.each_class if points is None else points
        drawn = [self._draw(i, with_points, style) for i, style in enumerate(styles)]
        for part in ARTISTS:
            setattr(self, f"{part}_", one_or_list([one.get(part) for one in drawn]))
        self.beyond_ = [artist for one in drawn for artist in one.get("beyond", [])]
        curves = "Curves: " + " / ".join(dict.fromkeys(map(_curve_label, self.results)))
        self.legend_ = axes.draw_legend(self.ax_, curves if len(self.results) > 1 else None)
        self.validation_ = self._draw_validation()
        return self

    def _finish_for_paper(self, columns: int) -> Self:
        """No frame, and the legend beside where there is place."""
        for one in (self.ax_, self.ax_scores_):
            if one is not None:
                one.spines[["top", "right"]].set_visible(False)
        if columns > 1:
            self.legend_.set_loc("upper left")
            self.legend_.set_bbox_to_anchor((1.02, 1.0), transform=self.ax_.transAxes)
            if self.validation_ is not None:
                lines = self.results[0].validation.caption().split("\n")
                self.validation_.set_text("\n".join(textwrap.fill(line, BESIDE) for line in lines))
        return self

    def save(self, path: Any, **options: Any) -> None:
        """Write the figure with letters that stay letters, which journals ask for; `options` are of ``savefig``."""
        matplotlib = require("matplotlib", "plot", "A figure for a paper")
        with matplotlib.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}):
            self.figure_.savefig(path, **({"dpi": 600} | options))

    def _draw_validation(self) -> Any:
        """The numbers of a validation above the legend, where they cover nothing."""
        numbers = [result.validation for result in self.results if result.validation is not None]
        if len(self.results) > 1 and numbers:
            raise InvalidInputError("`validation` has place for the numbers of one model; draw each by itself.")
        if not numbers:
            return None
        text = axes.wrap(self.ax_, numbers[0].caption(), axes.MONOSPACED)
        self.legend_.set_title(text, prop={"family": "monospace", "size": "small"})
        return self.legend_.get_title()

    def _set_axes(self) -> None:
        values = np.concatenate([axes.drawn_values(r.points, r.curve, r.scale) for r in self.results])
        low = min(values.min(), *(result.histogram["left"][0] for result in self.results))
        high = max(values.max(), *(result.histogram["right"][-1] for result in self.results))
        scale, limits = self.results[0].scale, visible_range(low, high)
        if scale == "logit":
            limits = axes.logit_limits(values, max(result.total for result in self.results))
        axes.arrange(self.ax_, self.ax_scores_, scale, limits, TOP_LABEL_AXES if self.top_label else AXES)

    def _draw(self, i: int, points: bool, style: dict[str, Any]) -> dict[str, Any]:
        result = self.results[i]
        x, y = result.points["mean_score"], result.points["fraction"]
        base: dict[str, Any] = {"linewidth": 0.8, "label": self._label(i), "zorder": 2.7}
        if result.curve is not None:
            x, y = result.curve["score"], result.curve["probability"]
            base |= {"linewidth": 1.6, "solid_joinstyle": "miter"}
        line = axes.draw_curve(self.ax_, x, y, base | style)
        color = line.get_color()
        faint = {"color": color, "alpha": 0.3, "linewidth": 0.8, "zorder": 1.5}
        groups = [axes.draw_curve(self.ax_, one["score"], one["probability"], faint) for one in result.groups]
        drawn: dict[str, Any] = {"line": line, "groups": groups}
        if groups:
            groups[0].set_label(f"{len(result.groups)} groups, each by itself")
        band = result.curve if result.band is None else result.band
        if band is not None:
            drawn["band"] = axes.draw_band(self.ax_, band, color=color)
        if points:
            label = axes.points_label(result.points, result.level)
            drawn |= axes.draw_points(self.ax_, result.points, color=color, label=label)
        if self.spikes:
            drawn["scores"] = axes.draw_spikes(self.ax_scores_, result.histogram, color)
        elif self.ax_scores_ is not None:
            alone = len(self.results) == 1
            drawn["scores"] = axes.draw_histogram(
                self.ax_scores_, result.histogram, color=color, fill=alone, share=not alone
            )
        return drawn

    def _label(self, i: int) -> str:
        result = self.results[i]
        if len(self.results) > 1:
            return self.model_name(i)
        curve = _curve_label(result)
        return f"{result.name} ({curve})" if result.name else curve

    @classmethod
    def _from_models(cls, y_true: Any, models: Mapping[str | None, Any], options: dict[str, Any]) -> Self:
        several = not isinstance(y_true, Tally) and any(
            y_prob is not None and _validation.is_class_matrix(y_prob) for y_prob in models.values()
        )
        if not options.pop("each_class", False):
            rows = {name: top_label(y_true, p) if several else (y_true, p) for name, p in models.items()}
            return cls([reliability(*row, name=name, **options) for name, row in rows.items()], top_label=several)
        if not several or len(models) > 1:
            raise InvalidInputError("`each_class` needs the probabilities of one model, a column for each class.")
        return cls(_each_class(y_true, next(iter(models.values())), **options), each_class=True)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, name: str | None = None, pos_label: Any = None, **options: Any
    ) -> Self:
        """See `ModelsDisplay.from_estimator`; of more than two classes the predicted one, or each of them."""
        several = len(getattr(estimator, "classes_", ())) > 2 and hasattr(estimator, "predict_proba")
        if not several or pos_label is not None:
            return super().from_estimator(estimator, X, y, name=name, pos_label=pos_label, **options)
        if options.get("each_class"):
            options = {"classes": list(estimator.classes_)} | options
        name = type(estimator).__name__ if name is None else name
        columns = _validation.find_columns(y, np.asarray(estimator.classes_).tolist())
        return cls.from_predictions(columns, estimator.predict_proba(X), name=name, **options)


def _curve_label(result: Reliability) -> str:
    name = "line between bins" if result.curve is None else str(result.curve_name)
    if result.band is not None:
        return f"{name}, {100 * result.level:.4g} % finite-sample band"
    has_band = result.curve is not None and "low" in (result.curve.dtype.names or ())
    return f"{name}, {100 * result.level:.4g} % band" if has_band else name


def _each_class(
    y_true: ArrayLike, y_prob: ArrayLike, *, classes: Sequence[Any] | None = None, **options: Any
) -> list[Reliability]:
    """Each class against the rest, those furthest off first."""
    sample = read_classes(y_true, y_prob, options.get("sample_weight"))
    names = sample.classes if classes is None else classes
    if len(names) != sample.n_classes:
        raise InvalidInputError(f"`classes` must name the {sample.n_classes} columns; got {len(names)} names.")
    errors = np.array([smooth_calibration_error(tally) for tally in class_tallies(sample)])
    worst = np.argsort(-errors, kind="stable")[:MOST_CLASSES]
    return [reliability(sample.labels == k, sample.probabilities[:, k], name=str(names[k]), **options) for k in worst]
