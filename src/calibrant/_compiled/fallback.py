"""What kernels need where they run as plain Python: stand-ins for Cython's names, and a word on how slow that is."""

import contextlib
import warnings
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

nogil = contextlib.nullcontext()


def warn_if_slow(folder: Path) -> None:
    """Warn if the kernels in this folder were not compiled."""
    if not any(path.name.endswith(tuple(EXTENSION_SUFFIXES)) for path in folder.iterdir()):
        warnings.warn(
            "The kernels of calibrant were installed without being compiled: fits give the same answers but take up to "
            "some hundred times as long. Install a wheel, or install again where there is a C compiler.",
            RuntimeWarning,
            stacklevel=2,
        )
