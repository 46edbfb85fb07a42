"""What a kernel needs where it runs as plain Python: stand-ins for Cython's names, and a word on how slow that is."""

import contextlib
import functools
import warnings

nogil = contextlib.nullcontext()


def warn_if_slow(file: str) -> None:
    """Warn, once, if the kernel in this file was not compiled."""
    if file.endswith((".py", ".pyc")):
        _warn()


@functools.cache
def _warn() -> None:
    warnings.warn(
        "The kernels of calibrant were installed without being compiled: fits give the same answers but take up to "
        "some hundred times as long. Install a wheel, or install again where there is a C compiler.",
        RuntimeWarning,
        stacklevel=2,
    )
