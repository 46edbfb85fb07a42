"""Tables of named columns, and the check that options share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from calibrant._typing import Floats
from calibrant.errors import InvalidInputError

__all__ = ["Table", "check_choice", "table"]

Table: TypeAlias = np.ndarray[Any, Any]  # a structured array: named columns of floats


def table(**columns: Floats) -> Table:
    """A read-only structured array of columns of one length."""
    out = np.empty(len(next(iter(columns.values()))), dtype=[(name, np.float64) for name in columns])
    for name, values in columns.items():
        out[name] = values
    out.setflags(write=False)
    return out


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse an option that is not one of `choices`."""
    if value not in choices:
        shown = ", ".join(repr(choice) for choice in choices)
        raise InvalidInputError(f"`{name}` must be one of {shown}; got {value!r}.")
