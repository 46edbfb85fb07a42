"""What went wrong, in one sentence, and the exit code: 2 for what the user can mend, 1 for what we must."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Problem", "explained", "reading", "sentence"]

INTERRUPTED, BROKEN_PIPE, MENDABLE, UNEXPECTED = 130, 141, 2, 1
OWN = ("InvalidInputError", "ModelFileError", "MissingExtraError", "NotFittedError")
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)

# What the library calls by the names of its arguments, the command line calls by its options.
OPTION = {
    "score": "--score", "label": "--label", "weight": "--weight", "by": "--by", "pos_label": "--positive",
    "method": "--method", "methods": "--method", "cv": "--folds", "level": "--level", "n": "--rows",
    "repeats": "--repeats", "dialect": "--dialect", "name": "--name", "column": "--score",
}  # fmt: skip

# Advice of the library that the command line gives in its own terms.
ADVICE = {
    "For several classes use CalibratedClassifier, or calibrate each class against the rest.":
        "For several classes name the score column of each, with --score a,b,c.",
}  # fmt: skip


class Problem(Exception):  # noqa: N818 - it is what the user sees, not a fault of the program
    """The command cannot be done; the message says why and what to do."""


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what the engine says about a file into one sentence with the file's name."""
    try:
        yield
    except Exception as error:
        if _is_engine(error) and not _is_full(error):
            raise Problem(f"{name} could not be read: {engine_sentence(str(error))}") from error
        raise


def explained(error: BaseException) -> tuple[str, int]:
    """The message for the user, empty where none is due, and the exit code."""
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        return "Interrupted; no file was left half written.", INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return "", BROKEN_PIPE
    if hasattr(error, "format_message"):  # a wrong option or argument, found by the parser
        return _usage(error), MENDABLE
    if isinstance(error, Problem):
        return str(error), MENDABLE
    if type(error).__name__ in OWN and type(error).__module__ == "calibrant.errors":
        return in_options(str(error)), MENDABLE
    if _is_full(error):
        return "The disk is full or a size limit is reached, so nothing was written; free some space.", MENDABLE
    if isinstance(error, OSError):
        return _of_the_system(error), MENDABLE
    if _is_engine(error):
        return engine_sentence(str(error)), MENDABLE
    if isinstance(error, MemoryError):
        return "There is not enough memory for this.", MENDABLE
    text = sentence(str(error))
    return f"Unexpected {type(error).__name__}: {text} Set CALIBRANT_DEBUG=1 to see where.", UNEXPECTED


def in_options(text: str) -> str:
    """A message of the library with arguments named as options."""
    for said, meant in ADVICE.items():
        text = text.replace(said, meant)
    return re.sub(r"`(\w+)`", lambda found: OPTION.get(found[1], found[0]), text)


def sentence(text: str) -> str:
    """The first line, short, with a full stop."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "no details")
    line = line if len(line) <= 300 else f"{line[:300]}…"
    return line if line.endswith((".", "…", "!", "?")) else f"{line}."


def _usage(error: Any) -> str:
    context = getattr(error, "ctx", None)
    hint = f" See '{context.command_path} --help'." if context is not None else ""
    return sentence(error.format_message()) + hint


def _of_the_system(error: OSError) -> str:
    what = os.strerror(error.errno).lower() if error.errno else str(error)
    return f"{error.filename}: {what}." if error.filename else f"The system says: {what}."


def _is_engine(error: BaseException) -> bool:
    return any(kind.__module__.partition(".")[0] in ("duckdb", "_duckdb", "pyarrow") for kind in type(error).__mro__)


def _is_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in FULL:
        return True
    return _is_engine(error) and any(os.strerror(number) in str(error) for number in FULL)


def engine_sentence(text: str) -> str:
    """What DuckDB or Arrow says at length, in one sentence."""
    line = re.search(r"Line: (\d+)", text)
    where = f"line {line[1]}" if line else "a line"
    if "Maximum line size" in text:
        return "a line is longer than 2 MB, so it is not a table with one row on each line."
    columns = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if columns:
        return f"{where} has {columns[2]} columns where {columns[1]} are expected. Repair that line."
    value = re.search(r"Could not convert string [\"'](.{0,60}?)[\"'] to '?(\w+)", text)
    if value:
        return f"{where} has {value[1]!r} where a number ({value[2]}) is expected. Repair that line."
    if "sniffing" in text:
        return "its lines do not have the same number of columns under any delimiter, so it is not a sound CSV file."
    if "magic bytes" in text or "too small to be a Parquet" in text:
        return "it is not a whole Parquet file; it may have been cut short."
    first = re.sub(r"^[\w ]+ (?:Error|Exception): ", "", sentence(text))
    return first[:1].lower() + first[1:]
