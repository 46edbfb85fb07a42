"""Ctrl-C and requests to end raise an exception, so that temporary files are removed, and are remembered.

Compiled code turns the exception into errors of its own kinds, DuckDB into a failed query. So whoever handles errors
asks here first whether a signal was the cause.
"""

import signal
import sys
from types import FrameType

INTERRUPTED = 130
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_received: list[int] = []


def listen() -> None:
    """Handle signals from now on; one that is ignored, as under nohup, stays ignored."""
    _received.clear()
    for number in SIGNALS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _receive)


def restore() -> None:
    """Let the system handle signals again."""
    for number in SIGNALS:
        if signal.getsignal(number) is _receive:
            signal.signal(number, signal.SIG_DFL)


def _receive(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    check()


def interruption() -> BaseException | None:
    """Return the exception of the first signal that was received."""
    if not _received:
        return None
    return KeyboardInterrupt() if _received[0] == signal.SIGINT else SystemExit(128 + _received[0])


def check() -> None:
    """Raise if a signal was received; for use after code that survives the failure of its parts."""
    error = interruption()
    if error is not None:
        raise error


def report(error: BaseException) -> int:
    """Say that Ctrl-C was heard, and return the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    sys.stderr.write("error: Interrupted; no file was left half written.\n")
    return INTERRUPTED
