"""Whatever goes wrong becomes one sentence and an exit code."""

import errno

import duckdb
import pytest

from calibrant.cli.problems import Problem, engine_sentence, explained, in_options, reading, sentence
from calibrant.errors import InvalidInputError, MissingExtraError


@pytest.mark.parametrize(
    ("error", "text", "code"),
    [
        (Problem("No."), "No.", 2),
        (InvalidInputError("`score` must hold; `other` too."), "--score must hold; `other` too.", 2),
        (MissingExtraError("run pip"), "run pip", 2),
        (FileNotFoundError(errno.ENOENT, "x", "a.csv"), "a.csv: no such file or directory.", 2),
        (PermissionError(errno.EACCES, "x", "a.csv"), "a.csv: permission denied.", 2),
        (OSError(errno.ENOSPC, "full"), "disk is full", 2),
        (duckdb.IOException("IO Error: Could not write: No space left on device"), "disk is full", 2),
        (duckdb.IOException("IO Error: Strange things"), "strange things.", 2),
        (MemoryError(), "not enough memory", 2),
        (KeyboardInterrupt(), "Interrupted", 130),
        (BrokenPipeError(), "", 141),
        (ZeroDivisionError("division by zero"), "Unexpected ZeroDivisionError: division by zero.", 1),
    ],
)
def test_sentences_and_codes(error, text, code):
    found, number = explained(error)
    assert text in found
    assert number == code
    assert "\n" not in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CSV Error on Line: 7\nExpected Number of Columns: 2 Found: 4", "line 7 has 4 columns where 2 are expected"),
        ("Maximum line size of 2000000 bytes exceeded", "longer than 2 MB"),
        ("CSV Error on Line: 9\nCould not convert string \"abc\" to 'DOUBLE'", "line 9 has 'abc' where a number"),
        ("Error when sniffing file", "not a sound CSV file"),
        ("No magic bytes found at end of file 'x'", "not a whole Parquet file"),
        ("Binder Error: Something Else\nLINE 1: ...", "something Else."),
    ],
)
def test_the_engine_in_one_sentence(text, expected):
    assert expected in engine_sentence(text)


def test_reading_names_the_file_but_lets_a_full_disk_pass():
    with pytest.raises(Problem, match="csv could not be read"), reading("x.csv"):
        raise duckdb.InvalidInputException("Invalid Input Error: bad")
    with pytest.raises(duckdb.IOException), reading("x.csv"):
        raise duckdb.IOException("IO Error: No space left on device")
    with pytest.raises(KeyError), reading("x.csv"):
        raise KeyError("a")


def test_small_texts():
    assert in_options("`pos_label` and `nothing`") == "--positive and `nothing`"
    assert sentence("\n  one\ntwo") == "one."
    assert len(sentence("x" * 1000)) < 310
