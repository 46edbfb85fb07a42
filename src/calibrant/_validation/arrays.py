"""Score matrices from any array library: numpy, torch, JAX, CuPy, on any device and in half precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike
from calibrant.errors import InvalidInputError

__all__ = ["as_numpy", "read_matrix"]

SPACES = ("probability", "logits")


def as_numpy(values: Any) -> Any:
    """An array of another library as a numpy array; anything else as it is.

    Arrays that require a gradient, live on another device or are of a type that numpy lacks (bfloat16) are detached,
    copied to the host and widened to float32 by the methods of their own library.
    """
    if isinstance(values, np.ndarray | list | tuple) or not hasattr(values, "__dlpack__"):
        return values
    for name in ("detach", "cpu"):  # torch
        values = getattr(values, name)() if hasattr(values, name) else values
    if "bfloat16" in str(values.dtype):
        values = values.float() if hasattr(values, "float") else values.astype("float32")
    if hasattr(values, "get") and hasattr(values, "device"):  # CuPy
        return values.get()
    try:
        return np.asarray(values)
    except (TypeError, RuntimeError):
        return np.from_dlpack(values)


def read_matrix(scores: ArrayLike, space: str) -> np.ndarray[Any, Any]:
    """A checked (n, K) matrix; float32 stays float32 to save memory."""
    if space not in SPACES:
        raise InvalidInputError(f"`space` must be one of {', '.join(SPACES)}; got {space!r}.")
    values = as_numpy(scores)
    matrix = _validation.check_class_matrix(values, probabilities=space == "probability")
    if matrix.shape[1] < 2:
        raise InvalidInputError(f"`scores` must have a column for each of two or more classes; got {matrix.shape[1]}.")
    return values if isinstance(values, np.ndarray) and values.dtype == np.float32 else matrix
