"""The command line. Nothing imports it, and it imports what a command needs only when the command runs."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn

__all__ = ["main"]

# Loading packages makes hundreds of thousands of objects, none of them garbage; to search them again and again takes
# a tenth of the time of a short command.
FEW_SEARCHES = (100_000, 50, 100)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    gc.set_threshold(*FEW_SEARCHES)
    try:
        from calibrant.cli.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "typer":
            raise
        sys.stderr.write('error: The command line needs typer and rich; run: pip install "calibrant[cli,tables]"\n')
        sys.exit(2)
    _end(run(sys.argv[1:]))


def _end(code: int) -> NoReturn:
    """End the process without taking the loaded packages apart, which takes up to a second and gives nothing.

    All files are closed by now, and `run` has reported what went wrong.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
