"""Scores and weights of rows: one score each, or a column for each class."""

from typing import Any

import numpy as np

from calibrant._typing import ArrayLike, Floats
from calibrant._validation.arrays import as_array, as_floats, as_numpy, check_finite, refuse_sparse
from calibrant._validation.labels import plain
from calibrant._validation.options import check_choice
from calibrant.errors import InvalidInputError

#: What scores can be: probabilities, or any finite numbers, such as margins and logits.
SPACES = ("probability", "decision")


LEAST_WEIGHT, MOST_WEIGHT = 1e-100, 1e15  # beyond them sums and logarithms of weights lose their digits
LARGEST_LOGIT = 1e6  # a network in half precision ends at 65 504; squares of squares of this are still numbers
NARROWEST_RANGE = 1e-290  # slopes over less than this overflow
TINY_LOGIT = float(np.log(np.finfo(np.float64).eps))  # of a class that is masked, against the likeliest of its row
ROW_SUM_TOLERANCE = 5e-3  # softmax rows in bfloat16 are off by up to 3e-3


def check_scores(scores: ArrayLike, name: str = "scores") -> Floats:
    """Finite scores as (n,) float64, from (n,), (n, 1), or (n, 2) class probabilities."""
    array = as_floats(scores, name)
    if array.ndim == 2 and array.shape[1] == 2:
        return _positive_column(array, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        several = "For several classes pass the column of one of them, with `y == that class`; or use methods for the "
        several += "whole matrix, such as Blend, `evaluate` and `compare`."
        raise InvalidInputError(
            f"`{name}` must have shape (n,), (n, 1) or (n, 2); got shape {array.shape}. "
            f"{several if array.ndim == 2 else 'Pass one score per row; reshape your data.'}"
        )
    check_finite(array, name)
    return np.ascontiguousarray(array)


def _positive_column(array: Floats, name: str) -> Floats:
    check_finite(array.ravel(), name)
    wrong = np.abs(array.sum(axis=1) - 1.0) > ROW_SUM_TOLERANCE
    if wrong.any():
        bad = int(wrong.argmax())
        raise InvalidInputError(
            f"`{name}` with two columns must be class probabilities whose rows sum to 1; "
            f"row {bad} sums to {array[bad].sum():.6g}. Pass the positive class's column alone."
        )
    return np.ascontiguousarray(array[:, 1])


def check_range(scores: Floats) -> None:
    """Refuse scores that differ, but by less than arithmetic with slopes can bear."""
    low, high = float(scores.min(initial=np.inf)), float(scores.max(initial=-np.inf))
    if low < high and high - low < NARROWEST_RANGE:
        raise InvalidInputError(
            f"`scores` must span more than {NARROWEST_RANGE:g} unless they are all equal; got a range of "
            f"{high - low:g}. Multiply them by a constant first."
        )


def is_class_matrix(scores: Any) -> bool:
    """Whether `scores` has a column for each of three or more classes."""
    refuse_sparse(scores, "scores")
    shape = getattr(scores, "shape", None) or as_array(scores, "scores").shape
    return len(shape) == 2 and shape[1] >= 3


def read_matrix(scores: ArrayLike, space: str) -> np.ndarray[Any, Any]:
    """A checked (n, K) matrix; float32 stays float32 to save memory."""
    check_choice("space", space, SPACES)
    values = as_numpy(scores)
    matrix = check_class_matrix(values, probabilities=space == "probability")
    if matrix.shape[1] < 2:
        raise InvalidInputError(f"`scores` must have a column for each of two or more classes; got {matrix.shape[1]}.")
    if isinstance(values, np.ndarray) and values.dtype == np.float32:
        return matrix.astype(np.float32) if np.isneginf(values).any() else values
    return matrix


def check_class_matrix(scores: ArrayLike, *, probabilities: bool) -> Floats:
    """A finite (n, K) matrix of logits, or of probabilities whose rows sum to 1."""
    matrix = as_floats(scores, "scores")
    if matrix.ndim != 2 or matrix.shape[0] == 0:
        one = " For one score in each row use a method for two classes, such as Blend." if matrix.ndim == 1 else ""
        raise InvalidInputError(
            f"`scores` must have shape (n, K) with at least one row; got shape {matrix.shape}.{one}"
        )
    if not probabilities:
        matrix = _raise_masked(matrix)
    _check_finite_rows(matrix)
    if not probabilities:
        _check_logits(matrix)
    else:
        wrong = (np.abs(matrix.sum(axis=1) - 1.0) > ROW_SUM_TOLERANCE) | (matrix.min(axis=1) < 0.0)
        if wrong.any():
            bad = int(wrong.argmax())
            lowest, total = float(matrix[bad].min()), float(matrix[bad].sum())
            percentages = lowest >= 0.0 and abs(total - 100.0) < 1.0
            remedy = "If they are logits or log-probabilities, pass space='decision'."
            if percentages:
                remedy = "Divide percentages by 100."
            elif lowest >= 0.0:
                remedy = "Divide each row by its sum, or pass log-probabilities with space='decision'."
            raise InvalidInputError(
                "`scores` must be class probabilities in [0, 1] whose rows sum to 1; "
                f"row {bad} has the lowest entry {lowest:.6g} and the sum {total:.6g}. {remedy}"
            )
    return matrix


def _check_logits(logits: Floats) -> None:
    """Refuse logits that no network gives."""
    largest = float(np.abs(logits).max(initial=0.0))
    if largest > LARGEST_LOGIT:
        raise InvalidInputError(
            f"`scores` that are logits must lie within ±{LARGEST_LOGIT:g}; got {largest:g} in size. Divide all of them "
            "by one constant first; where large negative ones mask a class, raise these to -1000."
        )


def _raise_masked(matrix: Floats) -> Floats:
    """Decision scores with −inf, such as of options outside the top 20, raised to a tiny probability in their row."""
    masked = matrix == -np.inf
    if not masked.any():
        return matrix
    highest = matrix.max(axis=1, keepdims=True)
    return np.where(masked & np.isfinite(highest), highest + TINY_LOGIT, matrix)


def _check_finite_rows(matrix: Floats) -> None:
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        row, column = bad[0]
        value = "NaN" if np.isnan(matrix[row, column]) else f"{matrix[row, column]}"
        raise InvalidInputError(
            f"`scores` must be finite; got {value} in row {row}, column {column} ({len(bad)} such "
            f"entr{'y' if len(bad) == 1 else 'ies'}). Drop or repair these rows first."
        )


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Finite, non-negative weights, not all zero; `None` stays `None`."""
    if sample_weight is None:
        return None
    weights = as_floats(sample_weight, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim == 2 and weights.shape[1] == 1:
        weights = weights[:, 0]
    if weights.ndim != 1:
        raise InvalidInputError(
            f"Sample weights must be 1D array or scalar: `sample_weight` has shape {weights.shape}; pass shape (n,)."
        )
    check_same_length(n_rows, len(weights), "sample_weight")
    check_finite(weights, "sample_weight")
    if len(weights) and weights.min() < 0.0:
        bad = int(np.argmax(weights < 0.0))
        raise InvalidInputError(f"`sample_weight` must not be negative; got {plain(weights[bad])!r} at index {bad}.")
    if len(weights) and not weights.any():
        raise InvalidInputError("`sample_weight` must have a positive entry; all weights are zero.")
    _check_weight_range(weights)
    return weights


def _check_weight_range(weights: Floats) -> None:
    """Refuse weights that can be no numbers of rows."""
    largest = float(weights.max(initial=0.0))
    smallest = float(weights[weights > 0.0].min(initial=np.inf))
    if largest > MOST_WEIGHT or float(weights.sum()) > MOST_WEIGHT or smallest < LEAST_WEIGHT:
        raise InvalidInputError(
            f"`sample_weight` must have positive entries of at least {LEAST_WEIGHT:g} that sum to at most "
            f"{MOST_WEIGHT:g}, since a weight is a number of rows; got {smallest:g} to {largest:g}. Divide all weights "
            "by their mean."
        )


def check_same_length(n_scores: int, n_other: int, name: str) -> None:
    """Refuse columns of different length."""
    if n_scores != n_other:
        raise InvalidInputError(
            f"`{name}` must have as many rows as the scores; got {n_other} and {n_scores}. "
            "Pass columns of one table (inconsistent numbers of samples)."
        )
