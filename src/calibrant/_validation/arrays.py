"""Anything that holds numbers as a numpy array: columns of any library, tensors on any device and in half precision."""

import sys
from numbers import Real
from typing import Any

import numpy as np

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError


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
    """What goes out as it came in: a tensor of torch for a tensor, on its device; for anything else `values` itself.

    Probabilities near 0 and 1 need more digits than half precision has, so the tensor has single precision at least.
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(given, torch.Tensor):
        return values
    dtype = torch.float64 if given.dtype == torch.float64 else torch.float32
    return torch.as_tensor(values, dtype=dtype, device=given.device)


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
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        value = "NaN" if np.isnan(values[bad[0]]) else f"{values[bad[0]]}"
        number = "1 value is" if len(bad) == 1 else f"{len(bad)} values are"
        raise InvalidInputError(
            f"`{name}` must be finite; got {value} at index {bad[0]} ({number} NaN or inf). "
            "Drop or repair these rows first."
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
