"""The reliability diagram: what a model says against what happens."""
# ruff: noqa: N803 - X is how scikit-learn calls the features

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant.displays import axes, marks
from calibrant.displays.models import ModelsDisplay, class_probabilities, one_or_list, positive_probabilities
from calibrant.errors import InvalidInputError
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.multiclass import top_label
from calibrant.metrics.samples import read_classes
from calibrant.reliability.result import Reliability, reliability
from calibrant.reliability.tables import visible_range
from calibrant.tally import Tally

AXES = ("Predicted probability", "Fraction of positives")
TOP_LABEL_AXES = ("Probability of the predicted class", "Fraction of right predictions")
MOST_CLASSES = 8  # more curves than this cannot be told apart
ARTISTS = ("line", "band", "points", "intervals", "scores")


class ReliabilityDisplay(ModelsDisplay):
    """A reliability diagram of one or several models.

    Make one with `from_predictions`, `from_estimator` or `from_cv_results`, which draw at once; or from numbers of
    `calibrant.reliability.reliability`, and draw with `plot`. The first three take `sample_weight`, `weights`,
    `pos_label`, `n_bins`, `strategy`, `curve`, `band`, `validation`, `level` and `scale` of that function.

    Probabilities of shape (n, K), a column for each of three or more classes, are drawn for the predicted class: its
    probability, and whether it was right. With `each_class=True` there is a curve for each class against the rest
    instead, those with the largest SmoothECE first, at most `max_classes` (8); `classes` names the columns.

    Parameters
    ----------
    results : Reliability or list of Reliability
        One for each model, all on one scale.
    folds : bool
        Whether the results are folds of one model, drawn alike.
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
        The histogram.
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
    >>> display.results[0]
    Reliability(raw scores: 1000 rows, 50 % positive, 10 bins, CORP curve)
    >>> len(display.points_.get_offsets())
    10
    """

    kind = Reliability
    compute = staticmethod(reliability)

    def __init__(
        self,
        results: Reliability | Sequence[Reliability],
        *,
        folds: bool = False,
        top_label: bool = False,
        each_class: bool = False,
    ) -> None:
        super().__init__(results)
        self.folds, self.top_label, self.each_class = folds, top_label, each_class
        if len({result.scale for result in self.results}) > 1:
            raise InvalidInputError("`results` must all have the same `scale`, since they share the axes.")

    def plot(
        self,
        ax: Any = None,
        *,
        points: bool | None = None,
        histogram: bool = True,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given. Axes that have a diagram already get another model.
        points : bool, optional
            Whether to draw the binned points with their intervals; the area of a marker grows with its number of rows.
            By default yes, unless the results are folds or each of several classes.
        histogram : bool
            Whether to draw below how many rows have which probability, in small axes that take a part of the place of
            `ax`.
        curve_kwargs : dict or list of dict, optional
            Passed to matplotlib's ``plot`` for the curves: the same to all, or one dict for each.

        Returns
        -------
        self
        """
        styles = self.styles(curve_kwargs)
        self.open_axes(ax, below=histogram)
        self.ax_scores_ = axes.axes_below(self.ax_) if histogram else None
        self._set_axes()
        self.identity_ = axes.draw_identity(self.ax_)
        with_points = not (self.folds or self.each_class) if points is None else points
        drawn: list[dict[str, Any]] = []
        for i, style in enumerate(styles):
            like_first = {"color": drawn[0]["line"].get_color()} if self.folds and drawn else {}
            drawn.append(self._draw(i, with_points, like_first | style))
        for part in ARTISTS:
            setattr(self, f"{part}_", one_or_list([one.get(part) for one in drawn]))
        self.beyond_ = [artist for one in drawn for artist in one.get("beyond", [])]
        self.legend_ = axes.draw_legend(self.ax_, self._legend_title())
        self.validation_ = self._draw_validation()
        return self

    def _draw_validation(self) -> Any:
        """The numbers of a validation above the legend, where they cover nothing."""
        numbers = [result.validation for result in self.results if result.validation is not None]
        if len(self.results) > 1 and numbers:
            raise InvalidInputError("`validation` has place for the numbers of one model; draw each by itself.")
        if not numbers:
            return None
        self.legend_.set_title(str(numbers[0]), prop={"family": "monospace", "size": "small"})
        return self.legend_.get_title()

    def _set_axes(self) -> None:
        values = np.concatenate([axes.drawn_values(r.points, r.curve, r.scale) for r in self.results])
        if self.results[0].scale == "logit":
            limits = axes.logit_limits(values, max(result.total for result in self.results))
            axes.set_logit(self.ax_.xaxis, limits)
            axes.set_logit(self.ax_.yaxis, limits)
        else:
            low = min(values.min(), *(result.histogram["left"][0] for result in self.results))
            high = max(values.max(), *(result.histogram["right"][-1] for result in self.results))
            axes.set_linear(self.ax_, visible_range(low, high))
        axes.set_square(self.ax_, self.ax_scores_)
        axes.name_axes(self.ax_, self.ax_scores_, *(TOP_LABEL_AXES if self.top_label else AXES))

    def _draw(self, i: int, points: bool, style: dict[str, Any]) -> dict[str, Any]:
        result, alpha = self.results[i], 0.6 if self.folds else 1.0
        line = self._draw_line(i, result, style, alpha)
        color = line.get_color()
        drawn: dict[str, Any] = {"line": line}
        band = result.curve if result.band is None else result.band
        if band is not None:
            drawn["band"] = marks.draw_band(self.ax_, band, color=color, alpha=0.22 * alpha)
        if points:
            label = marks.points_label(result.points, result.level)
            drawn |= marks.draw_points(self.ax_, result.points, color=color, label=label, alpha=alpha)
        if self.ax_scores_ is not None:
            alone = len(self.results) == 1
            drawn["scores"] = marks.draw_histogram(
                self.ax_scores_, result.histogram, color=color, fill=alone, share=not alone, alpha=alpha
            )
        return drawn

    def _draw_line(self, i: int, result: Reliability, style: dict[str, Any], alpha: float) -> Any:
        if result.curve is None:
            x, y = result.points["mean_score"], result.points["fraction"]
            base: dict[str, Any] = {"linewidth": 0.8}
        else:
            x, y = result.curve["score"], result.curve["probability"]
            base = {"linewidth": 1.6, "solid_joinstyle": "miter"}
        return marks.draw_curve(self.ax_, x, y, base | {"label": self._label(i), "alpha": alpha, "zorder": 2.7} | style)

    def _label(self, i: int) -> str:
        result = self.results[i]
        if self.folds:
            return f"{result.name or 'model'} ({len(self.results)} folds)" if i == 0 else "_fold"
        if len(self.results) > 1:
            return self.model_name(i)
        curve = _curve_label(result)
        return f"{result.name} ({curve})" if result.name else curve

    def _legend_title(self) -> str | None:
        if len(self.results) == 1:
            return None
        return "Curves: " + " / ".join(dict.fromkeys(_curve_label(result) for result in self.results))

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
        return cls.from_predictions(*class_probabilities(estimator, X, y), name=name, **options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Compute one curve for each fold of a cross-validation, from the rows that the fold held out, and draw.

        Parameters
        ----------
        cv_results : dict
            Of ``sklearn.model_selection.cross_validate(…, return_estimator=True, return_indices=True)``.
        X, y : array-like of n rows
            The data that were cross-validated.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.
        pos_label : label, optional
            By default the second of the classes.
        name : str, optional
            By default the name of the estimators' class.
        **options
            As of `from_predictions`.

        Returns
        -------
        ReliabilityDisplay
        """
        drawing, options = cls.split_options(options)
        estimators, held_out = _folds(cv_results)
        labels, results = _validation.as_array(y, "y"), []
        weights = None if sample_weight is None else _validation.as_floats(sample_weight, "sample_weight")
        for estimator, rows in zip(estimators, held_out, strict=True):
            if len(rows) and rows.max() >= len(labels):
                raise InvalidInputError(
                    f"`X` and `y` must be the data of `cv_results`, which has row {rows.max()}; got {len(labels)} rows."
                )
            y_prob, positive = positive_probabilities(estimator, _safe_indexing(X, rows), pos_label)
            part = None if weights is None else weights[rows]
            fold_name = type(estimator).__name__ if name is None else name
            results.append(
                reliability(labels[rows], y_prob, sample_weight=part, pos_label=positive, name=fold_name, **options)
            )
        return cls(results, folds=True).plot(**drawing)


def _curve_label(result: Reliability) -> str:
    name = "line between bins" if result.curve is None else str(result.curve_name)
    if result.band is not None:
        return f"{name}, {100 * result.level:.4g} % finite-sample band"
    has_band = result.curve is not None and "low" in (result.curve.dtype.names or ())
    return f"{name}, {100 * result.level:.4g} % band" if has_band else name


def _each_class(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    classes: Sequence[Any] | None = None,
    max_classes: int = MOST_CLASSES,
    **options: Any,
) -> list[Reliability]:
    """Each class against the rest, those furthest off first."""
    _validation.check_count("max_classes", max_classes)
    sample = read_classes(y_true, y_prob, options.get("sample_weight"))
    labels, matrix, weights = sample.labels, sample.probabilities, sample.weights
    names = sample.classes if classes is None else classes
    if len(names) != matrix.shape[1]:
        raise InvalidInputError(f"`classes` must name the {matrix.shape[1]} columns; got {len(names)} names.")
    errors = [
        smooth_calibration_error(Tally.from_arrays(matrix[:, k], labels == k, weights)) for k in range(matrix.shape[1])
    ]
    worst = np.argsort(-np.array(errors), kind="stable")[:max_classes]
    return [reliability(labels == k, matrix[:, k], name=str(names[k]), **options) for k in worst]


def _folds(cv_results: Mapping[str, Any]) -> tuple[Any, Any]:
    for key, option in (("estimator", "return_estimator"), ("indices", "return_indices")):
        if key not in cv_results:
            raise InvalidInputError(
                f"`cv_results` must have the entry {key!r}; run cross_validate with `{option}=True`."
            )
    return cv_results["estimator"], cv_results["indices"]["test"]
