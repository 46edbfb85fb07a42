"""The reliability diagram: what a model says against what happens."""
# ruff: noqa: N803 - X is how scikit-learn calls the features

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant._validation import check_choice
from calibrant.displays import axes, marks
from calibrant.displays.models import (
    ModelsDisplay,
    class_probabilities,
    name_models,
    one_or_list,
    positive_probabilities,
)
from calibrant.errors import InvalidInputError
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.multiclass import top_label
from calibrant.metrics.samples import Labels, read_classes
from calibrant.reliability.result import Reliability, reliability
from calibrant.reliability.tables import visible_range
from calibrant.tally import Tally

DISTRIBUTIONS = ("histogram", "density", None)
MOST_COUNTS = 12  # with more bins the numbers of rows would cover each other
AXES = ("Predicted probability", "Fraction of positives")
TOP_LABEL_AXES = ("Probability of the predicted class", "Fraction of right predictions")
MOST_CLASSES = 8  # more curves than this cannot be told apart
UNEQUAL = 1.5  # bins whose numbers of rows differ by less are described by the legend


class ReliabilityDisplay(ModelsDisplay):
    """A reliability diagram of one or several models.

    Make one with `from_predictions`, `from_estimator` or `from_cv_results`, which draw at once; or from numbers of
    `calibrant.reliability.reliability`, and draw with `plot`.

    Parameters
    ----------
    results : Reliability or list of Reliability
        One for each model, all on one scale.
    folds : bool
        Whether the results are folds of one model, drawn alike.
    top_label : bool
        Whether the results are of the predicted one of several classes, which only changes the names of the axes.

    Attributes
    ----------
    ax_, ax_scores_ : matplotlib Axes
        The diagram, and the small axes below it (None without a distribution).
    figure_ : matplotlib Figure
        The figure.
    line_, band_, points_, intervals_ : matplotlib artist, or list of them with several models
        The curve (or, without one, the line between the points), its band, the markers and their intervals; None
        where there is none.
    beyond_ : list of matplotlib artists
        The triangles at the edges of logit axes.
    scores_ : matplotlib artist, or list of them
        The histogram or density.
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

    def __init__(
        self, results: Reliability | Sequence[Reliability], *, folds: bool = False, top_label: bool = False
    ) -> None:
        super().__init__(results, Reliability)
        self.folds, self.top_label = folds, top_label
        if len({result.scale for result in self.results}) > 1:
            raise InvalidInputError("`results` must all have the same `scale`, since they share the axes.")

    def plot(
        self,
        ax: Any = None,
        *,
        points: bool | None = None,
        counts: bool | str = "auto",
        distribution: str | None = "histogram",
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given. Axes that have a diagram already get another model.
        points : bool, optional
            Whether to draw the binned points with their intervals. By default yes, unless the results are folds.
        counts : bool or "auto"
            Whether to write the number of rows beside each point. "auto" does so for one model with at most 12 bins
            of clearly different size. The area of a marker always grows with that number.
        distribution : {"histogram", "density", None}
            What to draw below, in small axes that take a part of the place of `ax`.
        curve_kwargs : dict or list of dict, optional
            Passed to matplotlib's ``plot`` for the curves: the same to all, or one dict for each.

        Returns
        -------
        self
        """
        check_choice("counts", counts, (True, False, "auto"))
        check_choice("distribution", distribution, DISTRIBUTIONS)
        styles = self._styles(curve_kwargs)
        self.ax_ = axes.open_axes(ax, "ReliabilityDisplay.plot", below=distribution is not None)
        self.figure_ = self.ax_.figure
        self.ax_scores_ = axes.axes_below(self.ax_) if distribution else None
        self._set_axes()
        self.identity_ = axes.draw_identity(self.ax_)
        with_points = not self.folds if points is None else points
        drawn: list[dict[str, Any]] = []
        for i, style in enumerate(styles):
            like_first = {"color": drawn[0]["line"].get_color()} if self.folds and drawn else {}
            drawn.append(self._draw(i, with_points, counts, distribution, like_first | axes.line_style(style)))
        for part in ("line", "band", "points", "intervals", "scores"):
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

    def _styles(self, given: Any) -> list[dict[str, Any]]:
        if given is None or isinstance(given, Mapping):
            return [dict(given or {}) for _ in self.results]
        if len(given) != len(self.results):
            raise InvalidInputError(
                f"`curve_kwargs` must be a dict or a list of {len(self.results)} dicts, one for each curve; "
                f"got {len(given)}."
            )
        return [dict(style) for style in given]

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
        x, y = TOP_LABEL_AXES if self.top_label else AXES
        self.ax_.set_ylabel(y)
        (self.ax_scores_ or self.ax_).set_xlabel(x)

    def _draw(
        self, i: int, points: bool, counts: bool | str, distribution: str | None, style: dict[str, Any]
    ) -> dict[str, Any]:
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
            if counts is True or (counts == "auto" and self._counts_help(result)):
                marks.draw_counts(self.ax_, result.points)
        alone = len(self.results) == 1
        if distribution == "histogram":
            drawn["scores"] = marks.draw_histogram(
                self.ax_scores_, result.histogram, color=color, fill=alone, share=not alone, alpha=alpha
            )
        elif distribution == "density":
            drawn["scores"] = marks.draw_density(self.ax_scores_, result.density, color=color, fill=alone, alpha=alpha)
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

    def _counts_help(self, result: Reliability) -> bool:
        total = result.points["total"]
        return len(self.results) == 1 and len(total) <= MOST_COUNTS and total.max() > UNEQUAL * total.min()

    @classmethod
    def from_predictions(
        cls,
        y_true: Labels,
        y_prob: ArrayLike | Mapping[str, ArrayLike] | None = None,
        *,
        name: str | None = None,
        each_class: bool = False,
        classes: Sequence[Any] | None = None,
        max_classes: int = MOST_CLASSES,
        ax: Any = None,
        points: bool | None = None,
        counts: bool | str = "auto",
        distribution: str | None = "histogram",
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        **options: Any,
    ) -> Self:
        """Compute from labels and probabilities, and draw.

        Parameters
        ----------
        y_true : array-like of shape (n,), or Tally
            Labels; or a tally in place of labels and probabilities.
        y_prob : array-like of shape (n,) or (n, K), or dict of such
            Predicted probabilities; with several models, a dict from name to probabilities. With a column for each of
            three or more classes the diagram is of the predicted class: its probability, and whether it was right.
        name : str, optional
            Of the model.
        each_class : bool
            With a column for each class: draw a curve of each class against the rest instead, those with the largest
            SmoothECE first.
        classes : sequence, optional
            Names of the columns, for `each_class`; by default the labels.
        max_classes : int
            The number of classes to draw.
        ax, points, counts, distribution, curve_kwargs
            See `plot`.
        **options
            `sample_weight`, `weights`, `pos_label`, `n_bins`, `strategy`, `curve`, `band`, `validation`, `level` and
            `scale` of `calibrant.reliability.reliability`.

        Returns
        -------
        ReliabilityDisplay
        """
        models = name_models(y_prob, name)
        labels: Any = y_true
        several = not isinstance(y_true, Tally) and any(
            p is not None and _validation.is_class_matrix(p) for p in models.values()
        )
        if each_class:
            if not several or len(models) > 1:
                raise InvalidInputError("`each_class` needs the probabilities of one model, a column for each class.")
            results = _each_class(labels, next(iter(models.values())), classes, max_classes, options)
            points = False if points is None else points
        else:
            rows = [(key, top_label(labels, p) if several else (labels, p)) for key, p in models.items()]
            results = [reliability(y, p, name=key, **options) for key, (y, p) in rows]
        return cls(results, top_label=several and not each_class).plot(
            ax, points=points, counts=counts, distribution=distribution, curve_kwargs=curve_kwargs
        )

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, name: str | None = None, pos_label: Any = None, **options: Any
    ) -> Self:
        """Compute from a fitted classifier or calibrator and rows that it was not trained on, and draw.

        Parameters
        ----------
        estimator : classifier or calibrator
            Its `predict_proba` is called. Of more than two classes the diagram is of the predicted one, or with
            `each_class` of each of them.
        X : array or table of n rows
            Features; for a calibrator, scores.
        y : array-like of shape (n,)
            Labels.
        name : str, optional
            By default the name of the class.
        pos_label : label, optional
            By default the second of ``estimator.classes_``.
        **options
            As of `from_predictions`.

        Returns
        -------
        ReliabilityDisplay
        """
        name = type(estimator).__name__ if name is None else name
        if len(getattr(estimator, "classes_", ())) > 2 and hasattr(estimator, "predict_proba") and pos_label is None:
            if options.get("each_class"):
                options = {"classes": list(estimator.classes_)} | options
            return cls.from_predictions(*class_probabilities(estimator, X, y), name=name, **options)
        y_prob, positive = positive_probabilities(estimator, X, pos_label)
        return cls.from_predictions(y, y_prob, name=name, pos_label=positive, **options)

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
        ax: Any = None,
        points: bool | None = None,
        distribution: str | None = "histogram",
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
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
        ax, points, distribution, curve_kwargs
            See `plot`.
        **options
            As of `from_predictions`.

        Returns
        -------
        ReliabilityDisplay
        """
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
        return cls(results, folds=True).plot(ax, points=points, distribution=distribution, curve_kwargs=curve_kwargs)


def _curve_label(result: Reliability) -> str:
    name = "line between bins" if result.curve is None else str(result.curve_name)
    if result.band is not None:
        return f"{name}, {100 * result.level:.4g} % finite-sample band"
    has_band = result.curve is not None and "low" in (result.curve.dtype.names or ())
    return f"{name}, {100 * result.level:.4g} % band" if has_band else name


def _each_class(
    y_true: ArrayLike, y_prob: ArrayLike, classes: Sequence[Any] | None, max_classes: int, options: Mapping[str, Any]
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
