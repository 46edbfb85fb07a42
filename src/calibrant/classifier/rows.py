"""The rows that a classifier is fitted to, and their segments: columns of its features, or columns of their own."""
# ruff: noqa: N803 - X is how scikit-learn calls the features

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from calibrant import _validation
from calibrant._typing import Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.maps.keys import as_columns


@dataclass(frozen=True)
class ClassifierRows:
    """The data of `fit`, row by row; `codes` are the indices of the labels among the classes."""

    X: Any
    labels: np.ndarray[Any, Any]
    codes: Ints
    weights: Floats | None
    fit_params: Mapping[str, Any]
    segment: Mapping[str, np.ndarray[Any, Any]] | None = None

    def segment_of(self, rows: Ints) -> Mapping[str, np.ndarray[Any, Any]] | None:
        """The segments of some rows."""
        return None if self.segment is None else {name: column[rows] for name, column in self.segment.items()}

    def weights_of(self, rows: Ints) -> Floats | None:
        """The weights of some rows."""
        return None if self.weights is None else self.weights[rows]

    def fit_params_of(self, rows: Ints) -> dict[str, Any]:
        """The arguments of the classifier's fit for some rows."""
        return {name: self._part(value, rows) for name, value in self.fit_params.items()}

    def _part(self, value: Any, rows: Ints) -> Any:
        """The rows of a column; anything that is not one goes to every split as it is."""
        if value is None or isinstance(value, str | bytes | Mapping):
            return value
        (column,) = indexable(value)
        shape = getattr(column, "shape", None) or (len(column) if hasattr(column, "__len__") else 0,)
        return _safe_indexing(column, rows) if shape[0] == len(self.labels) else value


def find_segments(
    X: Any, named: Any, passed: Any, fitted: bool | None = None
) -> dict[str, np.ndarray[Any, Any]] | None:
    """The segments of rows: the columns of `X` that are `named`, or those that were `passed`.

    Where a fit is known to have had segments, or not, they must be passed now, or not.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.classifier.rows import find_segments
    >>> find_segments(np.array([[0.3, 7.0], [0.4, 8.0]]), 1, None)
    {'1': array([7., 8.])}
    """
    if named is not None:
        if passed is not None:
            raise InvalidInputError("`segment` must be named in the constructor or passed, not both.")
        chosen = [named] if isinstance(named, str | Integral) else list(named)
        return {str(key): _column(X, key) for key in chosen}
    if fitted and passed is None:
        raise InvalidInputError("`segment` must be given for every row, as in `fit`.")
    if passed is None:
        return None
    if fitted is False:
        raise InvalidInputError("`segment` must be given to `fit`, too; it was not.")
    columns = as_columns(passed)
    for column in columns.values():
        _validation.check_same_length(_num_samples(X), len(column), "segment")
    return columns


def _column(X: Any, key: Any) -> np.ndarray[Any, Any]:
    try:
        column = _safe_indexing(X, key, axis=1)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise InvalidInputError(f"`segment` must name columns of `X`; {key!r} is none: {error}") from error
    return as_columns(column.toarray().ravel() if hasattr(column, "toarray") else column)["segment"]
