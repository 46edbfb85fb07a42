"""The segments of a classifier's rows: columns of its features, or columns of their own."""
# ruff: noqa: N803 - X is how scikit-learn calls the features

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from calibrant import _validation
from calibrant.errors import InvalidInputError
from calibrant.segment_keys import as_columns


def find_segments(
    X: Any, named: Any, passed: Any, fitted: bool | None = None
) -> dict[str, np.ndarray[Any, Any]] | None:
    """The segments of rows: the columns of `X` that are `named`, or those that were `passed`.

    Where a fit is known to have had segments, or not, they must be passed now, or not.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.feature_segments import find_segments
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
