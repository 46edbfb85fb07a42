"""Labels: one for each row, none missing, of two classes or of several; and which one is positive."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._typing import ArrayLike, Bools, Floats, Ints
from calibrant._validation.arrays import are_probabilities, as_array, as_floats, check_finite
from calibrant.errors import InvalidInputError


def encode_labels(y: ArrayLike, pos_label: Any = None, name: str = "y") -> tuple[Bools, tuple[Any, Any]]:
    """Find the positive rows, and the (negative, positive) labels.

    Without `pos_label` the labels must say by themselves which class is positive: bool, {0, 1} or {-1, 1}.
    """
    labels = _label_column(y, name)
    if len(labels) == 0:
        return labels.astype(bool), (0, 1)
    low, high = find_two_classes(labels, name)
    return _positive_rows(labels, low, high, pos_label, name)


def encode_classes(y: ArrayLike, n_classes: int) -> tuple[Ints, np.ndarray[Any, Any]]:
    """The column of each label, and the labels of the columns: the sorted labels, or 0 … K−1 if some are missing."""
    labels = _label_column(y, "y")
    classes, columns = np.unique(labels, return_inverse=True)
    if len(classes) == n_classes:
        return columns, classes
    numbers = np.arange(n_classes)
    if labels.dtype.kind in "iuf" and np.isin(classes, numbers).all():
        return labels.astype(np.intp), numbers
    raise InvalidInputError(
        f"`y` must have one label for each of the {n_classes} columns of the scores; got {len(classes)} distinct "
        "labels. Where some classes have no rows, number the labels 0 … K−1 by column."
    )


def find_columns(y: ArrayLike, classes: Sequence[Any]) -> Ints:
    """The column of each label, where the classes of the columns are known."""
    column_of = {name: k for k, name in enumerate(classes)}
    labels = as_array(y, "y").ravel().tolist()
    unknown = set(labels).difference(column_of)
    if unknown:
        raise InvalidInputError(
            f"`y` must hold the labels of the columns, {', '.join(map(str, classes))}; got {next(iter(unknown))!r}."
        )
    return np.array([column_of[label] for label in labels], dtype=np.intp)


def check_grades(y: ArrayLike) -> Floats:
    """Grades from 0 to 1, one for each row."""
    grades = as_floats(y, "y")
    if grades.ndim != 1:
        raise InvalidInputError(f"Grades must be one number for each row; `y` has shape {grades.shape}.")
    check_finite(grades, "y")
    if not are_probabilities(grades):
        raise InvalidInputError(
            f"Grades must lie between 0 and 1; got {grades.min():.6g} to {grades.max():.6g}. Divide by the highest one."
        )
    return grades


def choose_positive(y: ArrayLike, pos_label: Any) -> Any:
    """`pos_label`; without it the larger of two numbers, as in scikit-learn. None where `encode_labels` decides.

    Only a quick look: what is wrong with the labels, `encode_labels` says.
    """
    labels = _label_column(y, "y")
    if pos_label is not None or labels.size == 0 or labels.dtype.kind in "bUS":
        return pos_label
    low, high = find_extremes(labels)
    return None if low == high or says_itself(low, high) else high


def _label_column(y: ArrayLike, name: str) -> np.ndarray[Any, Any]:
    """One label for each row, none missing, as booleans, numbers or strings."""
    labels = as_array(y, name)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InvalidInputError(f"`{name}` must have shape (n,) with one label per row; got shape {labels.shape}.")
    if labels.dtype.kind == "c":
        raise InvalidInputError(f"Complex data not supported: `{name}` must hold labels.")
    if labels.dtype.kind == "f":
        check_finite(labels, name)
    elif labels.dtype.kind not in "biuUS":
        labels = as_plain_labels(labels, name)
    return labels


def _positive_rows(
    labels: np.ndarray[Any, Any], low: Any, high: Any, pos_label: Any, name: str
) -> tuple[Bools, tuple[Any, Any]]:
    if pos_label is not None:
        if low != high and pos_label not in (low, high):
            raise InvalidInputError(
                f"`pos_label` must be one of the labels in `{name}`, {plain(low)!r} or {plain(high)!r}; "
                f"got {plain(pos_label)!r}."
            )
        positive = labels == pos_label
        negative = low if high == pos_label else high
        return np.asarray(positive, dtype=bool), (None if negative == pos_label else negative, pos_label)
    if labels.dtype.kind == "b":
        return labels, (False, True)
    if labels.dtype.kind not in "US" and says_itself(low, high):
        return labels > 0, (-1 if low == -1 else 0, 1)
    shown = repr(plain(low)) if low == high else f"{plain(low)!r} and {plain(high)!r}"
    raise InvalidInputError(
        f"`{name}` must be bool, {{0, 1}} or {{-1, 1}} when `pos_label` is not given; got {shown}. "
        "Say which one is the positive class with `pos_label`."
    )


def plain(value: Any) -> Any:
    """A numpy number or string as Python's own, for messages: 0.5, not np.float64(0.5)."""
    return value.item() if isinstance(value, np.generic) else value


def says_itself(low: Any, high: Any) -> bool:
    """Whether the positive one of these labels is beyond doubt."""
    return (low, high) in ((0, 1), (-1, 1), (0, 0), (1, 1), (-1, -1))


def as_plain_labels(labels: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Object columns hold strings, booleans or numbers; a missing value among them is an error."""
    missing = np.array([is_missing(x) for x in labels.tolist()], dtype=bool)
    if missing.any():
        raise InvalidInputError(
            f"`{name}` must have no missing labels; got {plain(labels[missing.argmax()])!r} at index "
            f"{missing.argmax()} (None or NaN). Drop these rows first."
        )
    column = np.array(labels.tolist())
    if column.dtype.kind not in "biufUS":
        raise InvalidInputError(f"`{name}` must hold numbers, booleans or strings; got {column.dtype}.")
    if column.dtype.kind == "U" and not all(isinstance(x, str) for x in labels.tolist()):
        raise InvalidInputError(f"`{name}` must hold labels of one type; got strings and numbers mixed.")
    return column


def is_missing(label: Any) -> bool:
    """None, NaN, NaT, or what pandas puts in their place."""
    try:
        return label is None or bool(label != label)  # only NaN and its kin differ from themselves  # noqa: PLR0124
    except TypeError:  # pandas' NA is neither equal to itself nor different
        return True


def find_two_classes(labels: np.ndarray[Any, Any], name: str) -> tuple[Any, Any]:
    """The lower and the higher of two labels; they may be equal. Others are refused."""
    if labels.dtype.kind == "b":
        return False, True
    low, high = find_extremes(labels)
    if not ((labels == low) | (labels == high)).all():
        distinct = np.unique(labels)
        some = [f"{x:.6g}" if isinstance(x, float) else repr(x) for x in distinct[:4].tolist()]
        shown = ", ".join(some) + (", …" if len(distinct) > 4 else "")
        raise InvalidInputError(
            f"`{name}` must have two classes; got {len(distinct)} distinct values ({shown}), an unknown label type for "
            f"a binary target. {_labels_instead(labels, len(distinct))}"
        )
    return low, high


def _labels_instead(labels: np.ndarray[Any, Any], n_distinct: int) -> str:
    if labels.dtype.kind == "f" and n_distinct > 10 and (labels != np.round(labels)).any():
        return "These look like scores: were scores and labels swapped?"
    return "For several classes pass a column for each class, or calibrate each class against the rest."


def find_extremes(labels: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """The first and the last label in order; strings have to be sorted for that."""
    ends = np.unique(labels) if labels.dtype.kind in "US" else (labels.min(), labels.max())
    return ends[0], ends[-1]
