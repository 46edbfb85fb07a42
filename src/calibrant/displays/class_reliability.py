"""Reliability diagrams of several classes: the predicted class, and each class against the rest."""
# ruff: noqa: N803 - X is how scikit-learn calls the features

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from calibrant import _validation
from calibrant._optional import require
from calibrant._typing import ArrayLike
from calibrant.displays.reliability import ReliabilityDisplay, class_probabilities
from calibrant.errors import InvalidInputError
from calibrant.metrics.curve_errors import smooth_calibration_error
from calibrant.metrics.multiclass import top_label
from calibrant.metrics.samples import read_classes
from calibrant.reliability.result import Reliability, reliability
from calibrant.tally import Tally

MOST_CLASSES = 12
COLUMNS = 4
INCHES = 2.3  # of a small diagram


class ClassReliabilityDisplay:
    """One diagram of the predicted class, and a small one of each class, those furthest off first.

    Make one with `from_predictions` or `from_estimator`, which draw at once.

    Parameters
    ----------
    top : Reliability
        The highest probability of each row, and whether its class was right.
    classes : list of Reliability
        Each class against the rest, in the order in which they are drawn.
    errors : list of float
        How far each of them is off, which is shown above its diagram.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    top_ : ReliabilityDisplay
        The diagram of the predicted class.
    classes_ : list of ReliabilityDisplay
        The small diagrams.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import ClassReliabilityDisplay
    >>> from matplotlib.figure import Figure
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1.0, 1.0, 1.0], size=400)
    >>> y = (p.cumsum(axis=1) < rng.random((400, 1))).sum(axis=1)
    >>> display = ClassReliabilityDisplay.from_predictions(y, p, figure=Figure())
    >>> display.top, len(display.classes_)
    (Reliability(predicted class: 400 rows, 58.5 % positive, 8 bins, CORP curve), 3)
    """

    def __init__(self, top: Reliability, classes: Sequence[Reliability], errors: Sequence[float]) -> None:
        if not classes or len(classes) != len(errors):
            raise InvalidInputError(
                f"`classes` and `errors` must have one entry for each class; got {len(classes)} and {len(errors)}."
            )
        self.top, self.classes, self.errors = top, list(classes), list(errors)

    def plot(self, figure: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        figure : matplotlib Figure, optional
            Where to draw; a new one if not given.

        Returns
        -------
        self
        """
        pyplot = require("matplotlib.pyplot", "plot", "ClassReliabilityDisplay.plot")
        columns = min(COLUMNS, len(self.classes))
        rows = -(-len(self.classes) // columns)
        if figure is None:
            size = (5.0 + INCHES * columns, max(5.6, INCHES * 1.15 * rows))
            figure = pyplot.figure(figsize=size, layout="constrained")
        self.figure_ = figure
        left, right = figure.add_gridspec(1, 2, width_ratios=(4.6, INCHES * columns))
        self.top_ = ReliabilityDisplay(self.top, top_label=True).plot(figure.add_subplot(left))
        grid = right.subgridspec(rows, columns)
        self.classes_ = [
            self._draw_small(k, figure.add_subplot(grid[k // columns, k % columns])) for k in range(len(self.classes))
        ]
        return self

    def _draw_small(self, k: int, ax: Any) -> ReliabilityDisplay:
        display = ReliabilityDisplay(self.classes[k]).plot(ax, points=False, distribution=None)
        display.legend_.remove()
        ax.set(title=f"{self.classes[k].name}: off by {100 * self.errors[k]:.2g} points", xlabel="", ylabel="")
        ax.title.set_size("small")
        ax.tick_params(labelsize="x-small")
        return display

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        classes: Sequence[Any] | None = None,
        max_classes: int = MOST_CLASSES,
        sample_weight: ArrayLike | None = None,
        figure: Any = None,
        **options: Any,
    ) -> Self:
        """Compute from labels and class probabilities, and draw.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels; the columns belong to the sorted labels, or, where some have no rows, to 0 … K − 1.
        y_prob : array-like of shape (n, K)
            Class probabilities.
        classes : sequence, optional
            Names of the columns; by default the labels.
        max_classes : int
            The number of classes to draw: those with the largest SmoothECE.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.
        figure : matplotlib Figure, optional
            See `plot`.
        **options
            `n_bins`, `strategy`, `curve`, `level` and `scale` of `calibrant.reliability.reliability`.

        Returns
        -------
        ClassReliabilityDisplay
        """
        _validation.check_count("max_classes", max_classes)
        sample = read_classes(y_true, y_prob, sample_weight)
        labels, matrix, weights = sample.labels, sample.probabilities, sample.weights
        names = sample.classes if classes is None else classes
        if len(names) != matrix.shape[1]:
            raise InvalidInputError(f"`classes` must name the {matrix.shape[1]} columns; got {len(names)} names.")
        errors = [
            smooth_calibration_error(Tally.from_arrays(matrix[:, k], labels == k, weights))
            for k in range(matrix.shape[1])
        ]
        worst = np.argsort(-np.array(errors), kind="stable")[:max_classes]
        options["sample_weight"] = sample_weight
        top = reliability(*top_label(labels, matrix), name="predicted class", **options)
        each = [reliability(labels == k, matrix[:, k], name=str(names[k]), **options) for k in worst]
        return cls(top, each, [errors[k] for k in worst]).plot(figure)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Compute from a fitted classifier and rows that it was not trained on, and draw.

        Parameters
        ----------
        estimator : classifier of several classes
            Its `predict_proba` is called.
        X : array or table of n rows
            Features.
        y : array-like of shape (n,)
            Labels.
        **options
            As of `from_predictions`.

        Returns
        -------
        ClassReliabilityDisplay
        """
        labels, matrix = class_probabilities(estimator, X, y)
        return cls.from_predictions(labels, matrix, **{"classes": list(estimator.classes_)} | options)
