"""Functions out of exported source, to compare what they give with the map before anybody gets the source."""

import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calibrant.errors import ModelFileError

__all__ = ["c_function", "python_function"]

# Fused multiply-add would round differently on some processors.
OPTIONS = ("-std=c99", "-O1", "-ffp-contract=off", "-shared", "-fPIC")


def python_function(text: str, name: str) -> Callable[..., Any]:
    """The function of this name in a Python module of this text, which this library wrote."""
    namespace: dict[str, Any] = {"__name__": "calibrant_export"}
    exec(compile(text, "<export>", "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function


@contextmanager
def c_function(text: str, name: str) -> Iterator[Any]:
    """The C function of this name in a library that is compiled from this text and kept as long as it is used."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "export.c"), Path(folder, "export.so")
        source.write_text(text, encoding="utf-8")
        command = ["cc", *OPTIONS, str(source), "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ModelFileError(f"The export to C was refused: the compiler rejected it.\n{done.stderr}")
        yield getattr(ctypes.CDLL(str(library)), name)
