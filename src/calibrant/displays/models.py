"""What the displays of one or several models share: their results, and reading models and their predictions."""
# ruff: noqa: N803 - X is how scikit-learn calls the features

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant.errors import InvalidInputError


class ModelsDisplay:
    """The results of one or several models, which a display draws on the same axes."""

    def __init__(self, results: Any, kind: type) -> None:
        self.results: list[Any] = [results] if isinstance(results, kind) else list(results)
        if not self.results:
            raise InvalidInputError(f"`results` must have at least one {kind.__name__}; got an empty list.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.model_name(i) for i in range(len(self.results)))})"

    def model_name(self, i: int) -> str:
        """The name of a model, or its number."""
        return self.results[i].name or (f"model {i + 1}" if len(self.results) > 1 else "model")


def name_models(y_prob: Any, name: str | None) -> dict[str | None, Any]:
    """Predictions by the name of the model, from those of one model or from a dict."""
    if not isinstance(y_prob, Mapping):
        return {name: y_prob}
    if name is not None or not y_prob:
        raise InvalidInputError("A dict for `y_prob` must name at least one model, and then `name` is not used.")
    return {str(key): predictions for key, predictions in y_prob.items()}


def compute_each(
    compute: Callable[..., Any], y_true: Any, y_prob: Any, name: str | None, options: Mapping[str, Any]
) -> list[Any]:
    """The result of each model."""
    return [compute(y_true, one, name=key, **options) for key, one in name_models(y_prob, name).items()]


def one_or_list(artists: Sequence[Any]) -> Any:
    """The artist of one model, or the list of those of several."""
    return artists[0] if len(artists) == 1 else list(artists)


def class_probabilities(estimator: Any, X: Any, y: ArrayLike) -> tuple[Any, Any]:
    """The column number of each label, and the probabilities of all classes."""
    classes, labels = np.asarray(estimator.classes_), _validation.as_array(y, "y")
    if not np.isin(labels, classes).all():
        raise InvalidInputError(f"`y` must have labels that `estimator` knows: {', '.join(map(str, classes[:6]))} ….")
    order = np.argsort(classes)
    return order[np.searchsorted(classes, labels, sorter=order)], estimator.predict_proba(X)


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
