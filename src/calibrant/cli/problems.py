"""What went wrong, in one sentence, and the exit code: 2 for what the user can mend, 1 for what we must."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["Problem", "explained", "keep_sources", "reading", "sentence"]

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
    ", an unknown label type for a binary target": "",
}  # fmt: skip

# What the engines say, and what it means for the user.
SAID = {
    r"Maximum line size": "a line is longer than 2 MB, so it is not a table with one row on each line.",
    # How many it has instead is not told: the engine stops counting at the first too many.
    r"Expected Number of Columns: (\d+) Found":
        "{where} does not have the {0} columns that are expected. Repair that line.",
    r"Could not convert string [\"'](.{0,60}?)[\"'] to '?(\w+)":
        "{where} has {0!r} where a number ({1}) is expected. Repair that line.",
    r"Failed to cast value to numerical: \"?([^\"]{0,60})":
        "{where} has {0!r} where a number is expected. Repair that line.",
    # The engine counts from the line or from the next one.
    r"Malformed JSON.*?: ([^\n]+?)\.? *(?:\n|$)": "around {where} it is not valid JSON ({0}). Repair it.",
    r"sniffing": "its lines do not have the same number of columns under any delimiter, so it is not a sound CSV file.",
    r"magic bytes|too small to be a Parquet": "it is not a whole Parquet file; it may have been cut short.",
    r"end of GZIP stream": "it is not a whole gzip file; it may have been cut short.",
    r"bytes for message body|metadata bytes, but|corrupted metadata length":
        "it is not a whole Arrow file; it may have been cut short.",
}  # fmt: skip
DAMAGE = (
    r"corrupt|decompress|TProtocol|know what type|TType|out of buffer|footer|flatbuffer|enough bytes|IPC stream"
    r"|frame descriptor|invariant|invalid UTF|IPC file|too long by|unrecognized type|GZIP stream|an Arrow file"
    r"|base64|padding"
)


class Problem(Exception):  # noqa: N818 - it is what the user sees, not a fault of the program
    """The command cannot be done; the message says why and what to do."""


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what the engine says about a file into one sentence with the file's name."""
    try:
        yield
    except Exception as error:
        # What Arrow finds wrong with a file is an OSError without the system's number.
        is_plain = isinstance(error, OSError) and error.errno is None
        is_content = _is_engine(error) or is_plain or type(error).__module__ in ("binascii", "zlib")
        if is_content and not _is_full(error):
            raise Problem(f"{name} could not be read: {engine_sentence(str(error))}") from error
        raise


def keep_sources(output: str | None, sources: Iterable[str]) -> None:
    """Refuse to write a result over one of the files that it is made from."""
    from calibrant.cli.files import found_files

    if output in (None, "-") or not Path(output or "").is_file():
        return
    for name in (name for source in sources if source != "-" for name in found_files(source)):
        if "://" not in name and Path(name).samefile(output or ""):
            raise Problem(f"{output} is to be read, and would be overwritten; name another file with -o.")


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
    if type(error).__module__ == "zlib":
        return f"A compressed file is damaged; get a new copy of it ({sentence(str(error)).rstrip('.')}).", MENDABLE
    if isinstance(error, MemoryError):
        return "There is not enough memory for this.", MENDABLE
    text = sentence(str(error))
    return f"Unexpected {type(error).__name__}: {text} Set CALIBRANT_DEBUG=1 to see where.", UNEXPECTED


def in_options(text: str) -> str:
    """A message of the library with arguments named as options."""
    for said, meant in ADVICE.items():
        text = text.replace(said, meant)
    text = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", text)  # np.int64(1) is a 1 to whoever typed it
    return re.sub(r"`(\w+)`", lambda found: OPTION.get(found[1], found[0]), text)


def sentence(text: str) -> str:
    """The first line, short, with a full stop."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "no details")
    line = line if len(line) <= 300 else f"{line[:300]}…"
    return line if line.endswith((".", "…", "!", "?")) else f"{line}."


def _usage(error: Any) -> str:
    if type(error).__name__ == "NoArgsIsHelpError":  # no command at all: the help has been shown
        return ""
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
    plain = re.sub(r"\"[^\"]*\"|'[^']*'", "", text)  # the quoted names of files say nothing about lines or damage
    line = re.search(r"(line|record)[:/a-z]* (\d+)", plain, re.IGNORECASE)
    where = f"{line[1].lower()} {line[2]}" if line else "a line"
    for pattern, meaning in SAID.items():
        found = re.search(pattern, text, re.IGNORECASE)
        if found:
            return meaning.format(*found.groups(), where=where)
    if re.search(DAMAGE, plain, re.IGNORECASE):
        return "it is damaged, or not what its name says. Get a new copy of it."
    first = re.sub(r"^[\w ]+ (?:Error|Exception): ", "", sentence(text))
    return first if first[:2].isupper() else first[:1].lower() + first[1:]
