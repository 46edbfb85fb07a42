"""Requests to end, Ctrl-C and others: heard even where compiled code turns them into errors of another kind."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["check_stopped", "stoppable", "stopped"]

# SIGHUP does not exist everywhere.
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_heard: list[int] = []


@contextmanager
def stoppable() -> Iterator[None]:
    """Let a polite request to end clean up like Ctrl-C does; one that is ignored, as under nohup, stays ignored."""
    before: dict[Any, Any] = {}
    _heard.clear()
    try:
        for sign in SIGNALS:
            if signal.getsignal(sign) not in (signal.SIG_IGN, None):
                before[sign] = signal.signal(sign, _stop)
    except ValueError:  # not in the main thread
        pass
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def _stop(number: int, _frame: Any) -> None:
    _heard.append(number)
    check_stopped()


def stopped() -> BaseException | None:
    """What a request to end raised, if there was one: DuckDB and compiled functions report it as something else."""
    if not _heard:
        return None
    return KeyboardInterrupt() if _heard[0] == signal.SIGINT else SystemExit(128 + _heard[0])


def check_stopped() -> None:
    """Go on only if nobody asked to end; for use after code that survives the failure of its parts."""
    error = stopped()
    if error is not None:
        raise error
