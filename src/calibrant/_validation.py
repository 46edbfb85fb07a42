"""All reading and checking of what users pass: arrays, options, labels, scores and weights. Nothing checks them again.

Each message says what must hold, what was got (value and first index), and what to do.
"""

import sys
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from calibrant._typing import ArrayLike, Bools, Floats, Ints, RandomState
from calibrant.errors import InvalidInputError

#: What scores can be: probabilities, or any finite numbers, such as margins and logits.
SPACES = ("probability", "decision")
LEAST_WEIGHT, MOST_WEIGHT = 1e-100, 1e15  # beyond them sums and logarithms of weights lose their digits
LARGEST_LOGIT = 1e6  # a network in half precision ends at 65 504; squares of squares of this are still numbers
NARROWEST_RANGE = 1e-290  # slopes over less than this overflow
TINY_LOGIT = float(np.log(np.finfo(np.float64).eps))  # of a class that is masked, against the likeliest of its row
ROW_SUM_TOLERANCE = 5e-3  # softmax rows in bfloat16 are off by up to 3e-3


def as_array(values: Any, name: str) -> np.ndarray[Any, Any]:
    """Any list, numpy, pandas, polars or pyarrow column or table as a numpy array."""
    refuse_sparse(values, name)
    if hasattr(values, "mask") and isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidInputError(
            f"`{name}` must have no masked values. Drop those rows with `.compressed()` on every column."
        )
    try:
        return np.asarray(as_numpy(values))
    except ValueError as error:
        raise InvalidInputError(
            f"`{name}` must be a rectangular array of numbers; it could not be read as one ({error})."
        ) from error
    except (TypeError, RuntimeError) as error:
        raise InvalidInputError(
            f"`{name}` must convert to a numpy array; {type(values).__name__} refuses ({error}). Convert it "
            "to one first."
        ) from error


def refuse_sparse(values: Any, name: str) -> None:
    """Refuse sparse matrices."""
    sparse = sys.modules.get("scipy.sparse")  # where it is not loaded, nothing is sparse, and loading it takes a while
    if sparse is not None and sparse.issparse(values):
        raise InvalidInputError(f"`{name}` must be a dense array; got a sparse matrix. Convert it with `.toarray()`.")


def as_numpy(values: Any) -> Any:
    """An array of another library as a numpy array; anything else as it is.

    Arrays that require a gradient, live on another device or are of a type that numpy lacks (bfloat16) are detached,
    copied to the host and widened to float32 by the methods of their own library.
    """
    if isinstance(values, np.ndarray | list | tuple) or not hasattr(values, "__dlpack__"):
        return values
    for name in ("detach", "cpu"):  # torch
        values = getattr(values, name)() if hasattr(values, name) else values
    if "bfloat16" in str(getattr(values, "dtype", "")):
        values = values.float() if hasattr(values, "float") else values.astype("float32")
    if hasattr(values, "get") and hasattr(values, "device"):  # CuPy
        return values.get()
    try:
        return np.asarray(values)
    except (TypeError, RuntimeError):
        return np.from_dlpack(values)


def like(given: Any, values: Any) -> Any:
    """What goes out as it came in: for an array of torch or JAX one on its device, for a number a number.

    For anything else `values` itself. Probabilities near 0 and 1 need more digits than half precision has, so arrays
    have single precision at least.
    """
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and isinstance(given, torch.Tensor):
        dtype = torch.float64 if given.dtype == torch.float64 else torch.float32
        return torch.as_tensor(values, dtype=dtype, device=given.device)
    if jax is not None and isinstance(given, jax.Array):
        return jax.numpy.asarray(values, jax.numpy.promote_types(given.dtype, np.float32), device=given.device)
    return values[0].item() if is_number(given) and np.ndim(values) == 1 else values


def as_floats(values: Any, name: str) -> Floats:
    """A float64 array of any shape, from any numeric type."""
    array = as_array(values, name)
    if array.dtype.kind == "c":
        raise InvalidInputError(f"Complex data not supported: `{name}` must be real.")
    if array.dtype.kind in "USmM":
        raise InvalidInputError(f"`{name}` must be numbers; got {array.dtype}. Convert the column to float first.")
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"`{name}` must be numbers; got something that is not ({error}).") from error


def check_finite(values: Floats, name: str) -> None:
    """Refuse NaN and infinity, with the first index."""
    # The sum of finite numbers can overflow, but a NaN or infinity never sums to a finite number.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        first = bad[0].tolist()
        value = "NaN" if np.isnan(values[*first]) else f"{values[*first]}"
        place = f"at index {first[0]}" if len(first) == 1 else f"in row {first[0]}, column {first[1]}"
        number = "1 value is" if len(bad) == 1 else f"{len(bad)} values are"
        raise InvalidInputError(
            f"`{name}` must be finite; got {value} {place} ({number} NaN or inf). Drop or repair these rows first."
        )


def check_unit_interval(values: Floats, name: str, caller: str | None = None) -> None:
    """Refuse anything outside [0, 1]."""
    if not are_probabilities(values):
        bad = np.flatnonzero((values < 0.0) | (values > 1.0))[0]
        owner = f"{caller} needs probabilities: " if caller else ""
        remedy = "divide percentages by 100; " if may_be_percentages(values) else ""
        raise InvalidInputError(
            f"{owner}`{name}` must lie in [0, 1]; got {values[bad]:.6g} at index {bad}. Pass probabilities; {remedy}"
            "for decision scores, such as logits, use a method that takes them, such as Blend(space='decision')."
        )


def may_be_percentages(values: Floats) -> bool:
    """Whether numbers outside [0, 1] look like percentages: for advice only."""
    return bool(values.min() >= 0.0 and 1.5 < values.max() <= 100.0)


def are_probabilities(scores: Floats) -> bool:
    """Whether all scores lie in [0, 1]: for wording and advice only, since a margin can do so by chance."""
    return not len(scores) or bool(scores.min() >= 0.0 and scores.max() <= 1.0)


def is_number(value: Any) -> bool:
    """Whether this is a single number, no column of them."""
    return isinstance(value, Real | np.number) or (isinstance(value, np.ndarray) and value.ndim == 0)


def check_choice(name: str, value: Any, options: Sequence[Any]) -> Any:
    """An option that must be one of a few words, booleans or None."""
    value = plain(value)
    if not (value is None or isinstance(value, str | bool)) or value not in options:
        hint = " Logits are decision scores." if (name, value) in (("space", "logits"), ("space", "logit")) else ""
        raise InvalidInputError(f"`{name}` must be one of {', '.join(map(str, options))}; got {value!r}.{hint}")
    return value


def check_count(name: str, value: Any, least: int = 1) -> int:
    """An integer option of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidInputError(f"`{name}` must be an integer of at least {least}; got {plain(value)!r}.")
    return int(value)


#: The ranges of numeric options: what the value must do, and the test of it.
RANGES: dict[str, tuple[str, Callable[[float], bool]]] = {
    "positive": ("be a positive number", lambda v: 0.0 < v < np.inf),
    "not_negative": ("be a number of at least 0", lambda v: 0.0 <= v < np.inf),
    "level": ("lie strictly between 0 and 1, such as 0.9", lambda v: 0.0 < v < 1.0),
    "rate": ("lie between 0 and 1, both excluded", lambda v: 0.0 < v < 1.0),
    "share": ("be a share above 0 and at most 1", lambda v: 0.0 < v <= 1.0),
}


def check_number(name: str, value: Any, kind: str) -> float:
    """A numeric option in one of the `RANGES`."""
    words, inside = RANGES[kind]
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not inside(float(value)):
        raise InvalidInputError(f"`{name}` must {words}; got {plain(value)!r}.")
    return float(value)


def check_level(level: Any) -> float:
    """The probability inside an interval, strictly between 0 and 1."""
    return check_number("level", level, "level")


def generator(random_state: RandomState) -> np.random.Generator:
    """Numpy's generator from whatever scikit-learn takes as `random_state`."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    return np.random.default_rng(random_state)


def encode_labels(y: ArrayLike, pos_label: Any = None, name: str = "y") -> tuple[Bools, tuple[Any, Any]]:
    """Find the positive rows, and the (negative, positive) labels.

    Without `pos_label` the labels must say by themselves which class is positive: bool, {0, 1} or {-1, 1}.
    """
    labels = _label_column(y, name)
    if len(labels) == 0:
        return labels.astype(bool), (0, 1)
    low, high = find_two_classes(labels, name)
    if pos_label is not None:
        if low != high and pos_label not in (low, high):
            raise InvalidInputError(
                f"`pos_label` must be one of the labels in `{name}`, {plain(low)!r} or {plain(high)!r}; "
                f"got {plain(pos_label)!r}."
            )
        negative = low if high == pos_label else high
        return np.asarray(labels == pos_label, dtype=bool), (None if negative == pos_label else negative, pos_label)
    if labels.dtype.kind == "b":
        return labels, (False, True)
    if labels.dtype.kind not in "US" and says_itself(low, high):
        return labels > 0, (-1 if low == -1 else 0, 1)
    shown = repr(plain(low)) if low == high else f"{plain(low)!r} and {plain(high)!r}"
    raise InvalidInputError(
        f"`{name}` must be bool, {{0, 1}} or {{-1, 1}} when `pos_label` is not given; got {shown}. "
        "Say which one is the positive class with `pos_label`."
    )


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
        advice = "For several classes pass a column for each class, or calibrate each class against the rest."
        if labels.dtype.kind == "f" and len(distinct) > 10 and (labels != np.round(labels)).any():
            advice = "These look like scores: were scores and labels swapped?"
        raise InvalidInputError(
            f"`{name}` must have two classes; got {len(distinct)} distinct values ({shown}), an unknown label type for "
            f"a binary target. {advice}"
        )
    return low, high


def find_extremes(labels: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """The first and the last label in order; strings have to be sorted for that."""
    ends = np.unique(labels) if labels.dtype.kind in "US" else (labels.min(), labels.max())
    return ends[0], ends[-1]


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


def read_matrix(scores: ArrayLike | None, space: str) -> np.ndarray[Any, Any]:
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
    matrix = matrix if probabilities else _raise_masked(matrix)
    check_finite(matrix, "scores")
    if not probabilities:
        largest = float(np.abs(matrix).max())
        if largest > LARGEST_LOGIT:
            raise InvalidInputError(
                f"`scores` that are logits must lie within ±{LARGEST_LOGIT:g}; got {largest:g} in size. Divide all of "
                "them by one constant first; where large negative ones mask a class, raise these to -1000."
            )
        return matrix
    wrong = (np.abs(matrix.sum(axis=1) - 1.0) > ROW_SUM_TOLERANCE) | (matrix.min(axis=1) < 0.0)
    if wrong.any():
        bad = int(wrong.argmax())
        lowest, total = float(matrix[bad].min()), float(matrix[bad].sum())
        remedy = "Divide each row by its sum, or pass log-probabilities with space='decision'."
        if lowest < 0.0:
            remedy = "If they are logits or log-probabilities, pass space='decision'."
        elif abs(total - 100.0) < 1.0:
            remedy = "Divide percentages by 100."
        raise InvalidInputError(
            "`scores` must be class probabilities in [0, 1] whose rows sum to 1; "
            f"row {bad} has the lowest entry {lowest:.6g} and the sum {total:.6g}. {remedy}"
        )
    return matrix


def _raise_masked(matrix: Floats) -> Floats:
    """Decision scores with −inf, such as of options outside the top 20, raised to a tiny probability in their row."""
    masked = matrix == -np.inf
    if not masked.any():
        return matrix
    highest = matrix.max(axis=1, keepdims=True)
    return np.where(masked & np.isfinite(highest), highest + TINY_LOGIT, matrix)


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
    largest = float(weights.max(initial=0.0))
    smallest = float(weights[weights > 0.0].min(initial=np.inf))
    if largest > MOST_WEIGHT or float(weights.sum()) > MOST_WEIGHT or smallest < LEAST_WEIGHT:
        raise InvalidInputError(
            f"`sample_weight` must have positive entries of at least {LEAST_WEIGHT:g} that sum to at most "
            f"{MOST_WEIGHT:g}, since a weight is a number of rows; got {smallest:g} to {largest:g}. Divide all weights "
            "by their mean."
        )
    return weights


def check_same_length(n_scores: int, n_other: int, name: str) -> None:
    """Refuse columns of different length."""
    if n_scores != n_other:
        raise InvalidInputError(
            f"`{name}` must have as many rows as the scores; got {n_other} and {n_scores}. "
            "Pass columns of one table (inconsistent numbers of samples)."
        )
