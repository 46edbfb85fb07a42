"""What the displays of one or several models share: their results, reading predictions, and how they are drawn."""
# ruff: noqa: N803 - X is how scikit-learn calls the features

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, ClassVar, Self

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant.displays import axes
from calibrant.errors import InvalidInputError
from calibrant.tally import Tally


class ModelsDisplay(ABC):
    """The results of one or several models, which a display draws on the same axes.

    `kind` is the class of a result, and `compute` makes one from labels, probabilities and a name.
    """

    kind: ClassVar[type]
    compute: ClassVar[Callable[..., Any]]

    def __init__(self, results: Any) -> None:
        self.results: list[Any] = [results] if isinstance(results, self.kind) else list(results)
        if not self.results:
            raise InvalidInputError(f"`results` must have at least one {self.kind.__name__}; got an empty list.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.model_name(i) for i in range(len(self.results)))})"

    @abstractmethod
    def plot(self, ax: Any = None, *args: Any, **options: Any) -> Self:
        """Draw."""

    def model_name(self, i: int) -> str:
        """The name of a model, or its number."""
        return self.results[i].name or (f"model {i + 1}" if len(self.results) > 1 else "model")

    def styles(self, curve_kwargs: Any) -> list[dict[str, Any]]:
        """Options for the line of each model, from those of all or a list of them."""
        alike = curve_kwargs is None or isinstance(curve_kwargs, Mapping)
        given = [curve_kwargs or {}] * len(self.results) if alike else curve_kwargs
        if len(given) != len(self.results):
            raise InvalidInputError(
                f"`curve_kwargs` must be a dict or a list of {len(self.results)} dicts, one for each curve; "
                f"got {len(given)}."
            )
        return [axes.line_style(style) for style in given]

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | Tally,
        y_prob: ArrayLike | Mapping[str, ArrayLike] | None = None,
        *,
        name: str | None = None,
        ax: Any = None,
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
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **options
            Those of `plot`, and those of the numbers that the class names.

        Returns
        -------
        self
        """
        drawing = {key: options.pop(key) for key in signature(cls.plot).parameters if key in options}
        return cls._from_models(y_true, name_models(y_prob, name), options).plot(ax, **drawing)

    @classmethod
    def _from_models(cls, y_true: Any, models: Mapping[str | None, Any], options: dict[str, Any]) -> Self:
        return cls([cls.compute(y_true, y_prob, name=name, **options) for name, y_prob in models.items()])

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, name: str | None = None, pos_label: Any = None, **options: Any
    ) -> Self:
        """Compute from a fitted classifier or calibrator and rows that it was not trained on, and draw.

        Parameters
        ----------
        estimator : classifier or calibrator
            Its `predict_proba` is called. `ReliabilityDisplay` takes more than two classes too, and shows the
            predicted one, or with `each_class` each of them.
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
        self
        """
        y_prob, positive = positive_probabilities(estimator, X, pos_label)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, y_prob, name=name, pos_label=positive, **options)


def name_models(y_prob: Any, name: str | None) -> dict[str | None, Any]:
    """Predictions by the name of the model, from those of one model or from a dict."""
    if not isinstance(y_prob, Mapping):
        return {name: y_prob}
    if name is not None or not y_prob:
        raise InvalidInputError("A dict for `y_prob` must name at least one model, and then `name` is not used.")
    return {str(key): predictions for key, predictions in y_prob.items()}


def one_or_list(artists: Sequence[Any]) -> Any:
    """The artist of one model, or the list of those of several."""
    return artists[0] if len(artists) == 1 else list(artists)


def positive_probabilities(estimator: Any, X: Any, pos_label: Any) -> tuple[Any, Any]:
    """The column of the positive class, and its label."""
    if not hasattr(estimator, "predict_proba"):
        raise InvalidInputError(
            f"`estimator` must have `predict_proba`; {type(estimator).__name__} has not. Calibrate it first, for "
            "example with CalibratedClassifier."
        )
    matrix = _validation.as_floats(estimator.predict_proba(X), "estimator.predict_proba(X)")
    classes = list(getattr(estimator, "classes_", ()))
    if matrix.ndim != 2 or matrix.shape[1] != 2:
        raise InvalidInputError(
            f"`estimator` must know two classes; its probabilities have shape {matrix.shape}. For one class against "
            "the rest, pass its column and `y == that_class` to `from_predictions`."
        )
    if not classes:
        return matrix[:, 1], pos_label
    if pos_label is not None and pos_label not in classes:
        raise InvalidInputError(f"`pos_label` must be one of the classes {classes!r}; got {pos_label!r}.")
    column = 1 if pos_label is None else classes.index(pos_label)
    return matrix[:, column], classes[column]
