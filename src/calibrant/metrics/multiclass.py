"""Several classes seen as binary problems: each class against the rest, or the top label alone."""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Bools, Floats, Ints
from calibrant._validation.arrays import as_numpy
from calibrant.metrics.base import Column
from calibrant.metrics.binned import expected_calibration_error
from calibrant.tally import Tally


def class_wise_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    metric: Callable[..., float] = expected_calibration_error,
    sample_weight: Column = None,
    **options: Any,
) -> float:
    """The mean over classes of a binary metric of that class's column.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels. The columns of `y_prob` belong to the sorted labels, or, where some have no rows, to 0 … K − 1.
    y_prob : array-like of shape (n, K)
        Class probabilities; rows sum to 1.
    metric : callable
        Any metric of this module that takes a tally; by default `expected_calibration_error`. With
        ``adaptive_calibration_error`` it is the ACE of Nixon et al.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    **options
        Passed on to `metric`.

    Returns
    -------
    float

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.class_wise_calibration_error([0, 1, 2], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]), 4)
    0.1778
    """
    columns, matrix = _checked(y_true, y_prob)
    values = [
        metric(Tally.from_arrays(matrix[:, k], columns == k, sample_weight), **options) for k in range(matrix.shape[1])
    ]
    return float(np.mean(values))


def top_label_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    metric: Callable[..., float] = expected_calibration_error,
    sample_weight: Column = None,
    **options: Any,
) -> float:
    """A binary metric of the highest class probability against whether that class was right.

    The parameters are those of `class_wise_calibration_error`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.top_label_calibration_error([0, 1, 2], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]), 4)
    0.2667
    """
    right, confidence = top_label(y_true, y_prob)
    return float(metric(Tally.from_arrays(confidence, right, sample_weight), **options))


def top_label(y_true: ArrayLike, y_prob: ArrayLike) -> tuple[Bools, Floats]:
    """Whether the most probable class of each row was right, and its probability."""
    columns, matrix = _checked(y_true, y_prob)
    top = matrix.argmax(axis=1)
    return top == columns, matrix[np.arange(len(matrix)), top]


def _checked(y_true: ArrayLike, y_prob: ArrayLike) -> tuple[Ints, Floats]:
    matrix = _validation.check_class_matrix(as_numpy(y_prob), probabilities=True)
    columns, _ = _validation.encode_classes(as_numpy(y_true), matrix.shape[1])
    _validation.check_same_length(len(matrix), len(columns), "y_true")
    return columns, np.minimum(matrix, 1.0)  # half-precision rows can exceed 1 within the tolerance
