"""Values of labels: as numbers, booleans or strings, two of them, and which ones say by themselves what they mean."""

from typing import Any

import numpy as np

from calibrant.errors import InvalidInputError


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
    return "For several classes use CalibratedClassifier or MatrixBlend, or calibrate each class against the rest."


def find_extremes(labels: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """The first and the last label in order; strings have to be sorted for that."""
    ends = np.unique(labels) if labels.dtype.kind in "US" else (labels.min(), labels.max())
    return ends[0], ends[-1]
