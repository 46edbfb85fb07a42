"""What went wrong, in one sentence, and the exit code: 2 for what the user can mend, 1 for what we must.

Ctrl-C and requests to end raise an exception, so that temporary files are removed, and are remembered: compiled code
turns the exception into errors of its own kinds, DuckDB into a failed query. So whoever handles errors asks here first
whether a signal was the cause.
"""

import errno
import os
import re
import signal
import sys
from types import FrameType
from typing import Any

BROKEN_PIPE, INTERRUPTED, WARNED, MENDABLE, UNEXPECTED = 141, 130, 5, 2, 1
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)

# What the library calls by the names of its arguments, the command line calls by its options.
SAME = (
    "alpha by cost_fn cost_fp delay dialect every format label level method missing name repeats score space threshold "
    "time weight"
)
RENAMED = (
    "pos_label positive, methods method, cv folds, n rows, n_reference first, segment by, column score, scores score, "
    "y label, sample_weight weight, map_ model, quantity what, thresholds thresholds, costs cost-fp"
)
OPTION = {name: name.replace("_", "-") for name in SAME.split()} | dict(pair.split() for pair in RENAMED.split(", "))

# Advice of the library that the command line gives in its own terms.
SEVERAL = "For several classes pass a column for each class, or calibrate each class against the rest."
DECISION = "for decision scores, such as logits, use a method that takes them, such as Blend(space='decision')."
ADVICE = {
    SEVERAL: "For several classes name the score column of each, with --score a,b,c.",
    DECISION: "for decision scores, such as logits, fit a model to such scores first.",
    ", an unknown label type for a binary target": "",
    "only the new column": "only the new column, with --only-new",
    "missing='segment'": "--missing segment",
    "Use the calibrator alone.": "Leave out --by.",
    ", or a calibrator; got": "; got",
    "Pass the highest score of each row, and whether its class was right.": "Add --top-label.",
    "space='decision'": "--space decision",
    "rows sum to 1;": "rows sum to 1 (several scores of a row need a --score for each);",
}


class Refusal(Exception):  # noqa: N818 - it is what the user sees, not a fault of the program
    """The command cannot be done; the message says why and what to do."""


def explain(error: BaseException) -> tuple[str, int]:
    """Return the message for the user, empty where none is due, and the exit code."""
    from calibrant.engines.tables import first_sentence

    if isinstance(error, BrokenPipeError):
        return "", BROKEN_PIPE
    if hasattr(error, "format_message"):  # a wrong option or argument, found by the parser
        return _usage(error), MENDABLE
    if isinstance(error, Refusal):
        return str(error), MENDABLE
    if type(error).__module__ == "calibrant.errors":
        return in_options(str(error)), MENDABLE
    if any(getattr(error, "errno", None) == number or os.strerror(number) in str(error) for number in FULL):
        return "The disk is full or a size limit is reached, so nothing was written; free some space.", MENDABLE
    if isinstance(error, OSError):
        what = os.strerror(error.errno).lower() if error.errno else str(error)
        return f"{error.filename or 'The system says'}: {what}.", MENDABLE
    if isinstance(error, MemoryError):
        return "There is not enough memory for this.", MENDABLE
    text = f"Unexpected {type(error).__name__}: {first_sentence(str(error))}"
    return f"{text} Set CALIBRANT_DEBUG=1 to see where.", UNEXPECTED


def in_options(text: str) -> str:
    """Rewrite a message of the library with arguments named as options."""
    for said, meant in ADVICE.items():
        text = text.replace(said, meant)
    text = re.sub(r" at index \d+", "", text)  # of distinct scores in order, not of rows in the file
    return re.sub(r"`(\w+)`", lambda match: f"--{OPTION[match[1]]}" if match[1] in OPTION else match[0], text)


def _usage(error: Any) -> str:
    from calibrant.engines.tables import first_sentence

    if type(error).__name__ == "NoArgsIsHelpError":  # no command at all: the help has been shown
        return ""
    context = getattr(error, "ctx", None)
    hint = f" See '{context.command_path} --help'." if context is not None else ""
    return first_sentence(error.format_message()) + hint


_received: list[int] = []


def listen_to_signals() -> None:
    """Handle signals from now on; one that is ignored, as under nohup, stays ignored."""
    _received.clear()
    for number in SIGNALS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _receive)


def restore_signals() -> None:
    """Let the system handle signals again."""
    for number in SIGNALS:
        if signal.getsignal(number) is _receive:
            signal.signal(number, signal.SIG_DFL)


def _receive(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    check_interruption()


def interruption() -> BaseException | None:
    """Return the exception of the first signal that was received."""
    if not _received:
        return None
    return KeyboardInterrupt() if _received[0] == signal.SIGINT else SystemExit(128 + _received[0])


def check_interruption() -> None:
    """Raise if a signal was received; for use after code that survives the failure of its parts."""
    error = interruption()
    if error is not None:
        raise error


def report_interruption(error: BaseException) -> int:
    """Say that Ctrl-C was heard, and return the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    sys.stderr.write("error: Interrupted; no file was left half written.\n")
    return INTERRUPTED
