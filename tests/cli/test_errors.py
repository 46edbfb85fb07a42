"""Whatever goes wrong becomes one sentence and an exit code."""

import errno

import pytest

from calibrant.cli.errors import Refusal, explain, in_options
from calibrant.errors import InvalidInputError, MissingExtraError


@pytest.mark.parametrize(
    ("error", "text", "code"),
    [
        (Refusal("No."), "No.", 2),
        (InvalidInputError("`score` must hold; `other` too."), "--score must hold; `other` too.", 2),
        (MissingExtraError("run pip"), "run pip", 2),
        (FileNotFoundError(errno.ENOENT, "x", "a.csv"), "a.csv: no such file or directory.", 2),
        (PermissionError(errno.EACCES, "x", "a.csv"), "a.csv: permission denied.", 2),
        (OSError(errno.ENOSPC, "full"), "disk is full", 2),
        (RuntimeError("IO Error: Could not write: No space left on device"), "disk is full", 2),
        (MemoryError(), "not enough memory", 2),
        (BrokenPipeError(), "", 141),
        (ZeroDivisionError("division by zero"), "Unexpected ZeroDivisionError: division by zero.", 1),
        (RuntimeError("\n  one\ntwo"), "Unexpected RuntimeError: one.", 1),
    ],
)
def test_sentences_and_codes(error, text, code):
    message, number = explain(error)
    assert text in message
    assert number == code
    assert "\n" not in message


def test_arguments_are_named_as_options():
    assert in_options("`pos_label` and `nothing`") == "--positive and `nothing`"
    assert in_options("`scores` must lie in [0, 1]; got 2 at index 7.") == "--score must lie in [0, 1]; got 2."
