"""Compilation of kernels, also where compiled code cannot be kept from one run to the next."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

__all__ = ["njit"]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[Kernel], Kernel]:
    """``numba.njit``, which compiles anew in each run where it finds no folder for its cache.

    With ``cache=True`` numba refuses outright in a read-only installation without a writable home, as in containers.
    """

    def decorate(function: Kernel) -> Kernel:
        try:
            return cast("Kernel", numba.njit(**options)(function))
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
        _warn()
        return cast("Kernel", numba.njit(**(options | {"cache": False}))(function))

    return decorate


@functools.cache
def _warn() -> None:
    warnings.warn(
        "Compiled code cannot be kept here, so every run compiles it again, which takes up to a minute; "
        "set NUMBA_CACHE_DIR to a folder that can be written to.",
        UserWarning,
        stacklevel=4,
    )
