"""Tables of named columns."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from calibrant._typing import Floats

__all__ = ["Table", "table"]

Table: TypeAlias = np.ndarray[Any, Any]  # a structured array: named columns of floats


def table(**columns: Floats) -> Table:
    """A read-only structured array of columns of one length."""
    out = np.empty(len(next(iter(columns.values()))), dtype=[(name, np.float64) for name in columns])
    for name, values in columns.items():
        out[name] = values
    out.setflags(write=False)
    return out
