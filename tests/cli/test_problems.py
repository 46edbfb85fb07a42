"""Whatever goes wrong becomes one sentence and an exit code."""

import binascii
import errno
import zlib

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
        (zlib.error("Error -3 while decompressing"), "A compressed file is damaged", 2),
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
        ("CSV Error on Line: 7\nExpected Number of Columns: 2 Found: 4", "line 7 does not have the 2 columns"),
        ("Maximum line size of 2000000 bytes exceeded", "longer than 2 MB"),
        ("CSV Error on Line: 9\nCould not convert string \"abc\" to 'DOUBLE'", "line 9 has 'abc' where a number"),
        ("Error when sniffing file", "not a sound CSV file"),
        ("No magic bytes found at end of file 'x'", "not a whole Parquet file"),
        ('JSON Error in file "line 3", in line 8: Failed to cast value to numerical: "abc"', "line 8 has 'abc' where"),
        ('Malformed JSON in file "x", at byte 20 in line 12: unexpected character. ', "around line 12 it is not valid"),
        (
            'Malformed JSON in file "x", at byte 2 in record/value 7: unexpected end of data',
            "around record 7 it is not",
        ),
        ("unexpected end of GZIP stream: x.gz", "not a whole gzip file"),
        ("Expected to read 1330795073 metadata bytes, but only read 16", "not a whole Arrow file"),
        ("Corrupted metadata length, only 3 bytes available", "not a whole Arrow file"),
        ("IO Error: Failed to read file 'x.parquet': Snappy decompression failure", "it is damaged"),
        ("TProtocolException: Invalid data", "it is damaged"),
        ("In column 2: Invalid: Offset invariant failure: offset for slot 5 out of bounds: 7 > 6", "it is damaged"),
        ("Not an Arrow file", "it is damaged"),
        ("IO Error: Strange things with 'corrupt footer.csv'", "strange things"),
        ("JSON is strange", "JSON is strange."),
        ("Binder Error: Something Else\nLINE 1: ...", "something Else."),
    ],
)
def test_the_engine_in_one_sentence(text, expected):
    assert expected in engine_sentence(text)


def test_reading_names_the_file_but_lets_a_full_disk_pass():
    with pytest.raises(Problem, match="csv could not be read"), reading("x.csv"):
        raise duckdb.InvalidInputException("Invalid Input Error: bad")
    with pytest.raises(Problem, match=r"x\.arrow could not be read: it is not a whole Arrow file"), reading("x.arrow"):
        raise OSError("Expected to be able to read 800 bytes for message body, got 7")
    with pytest.raises(Problem, match="it is damaged"), reading("x.parquet"):
        raise binascii.Error("Incorrect padding")
    with pytest.raises(PermissionError), reading("x.csv"):
        raise PermissionError(errno.EACCES, "x", "x.csv")
    with pytest.raises(duckdb.IOException), reading("x.csv"):
        raise duckdb.IOException("IO Error: No space left on device")
    with pytest.raises(KeyError), reading("x.csv"):
        raise KeyError("a")


def test_small_texts():
    assert in_options("`pos_label` and `nothing`") == "--positive and `nothing`"
    assert sentence("\n  one\ntwo") == "one."
    assert len(sentence("x" * 1000)) < 310
