"""Data on one stream, remarks on the other, colour only on a terminal."""

import io
import json
import sys
import warnings

import pytest

from calibrant.cli import printing


@pytest.fixture(autouse=True)
def loud(monkeypatch):
    monkeypatch.setattr(printing.settings, "quiet", False)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_streams(capsys, monkeypatch):
    printing.note("a remark")
    printing.warn("careful")
    printing.print_json({"a": 1, "ä": [1.5]})
    out, err = capsys.readouterr()
    assert json.loads(out) == {"a": 1, "ä": [1.5]}
    assert err == "a remark\nwarning: careful\n"
    monkeypatch.setattr(printing.settings, "quiet", True)
    printing.note("a remark")
    printing.warn("careful")
    assert capsys.readouterr().err == "warning: careful\n"


def test_warnings_of_the_library_look_like_those_of_the_command(capsys):
    with warnings.catch_warnings(), printing.plain_warnings():
        warnings.simplefilter("always")
        warnings.warn("few rows", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: few rows\n"


def test_a_table_in_a_pipe_is_plain_text(capsys):
    printing.print_table("title", ["name", "value"], [["a", "1.5"], ["long name", "10"]], marked=0)
    assert capsys.readouterr().out == "title\nname       value\na            1.5\nlong name     10\n"


def test_a_table_on_a_terminal_marks_a_row_and_obeys_no_color(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    rows = [["[a]", "1"], ["b", "2"]]
    monkeypatch.setattr(sys, "stdout", Terminal())
    printing.print_table("", ["name", "value"], rows, marked=1)
    coloured = sys.stdout.getvalue()
    assert "[a]" in coloured
    assert "\x1b[1;32m" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", Terminal())
    printing.print_table("", ["name", "value"], rows, marked=1)
    assert "32m" not in sys.stdout.getvalue()


def test_progress_is_silent_in_a_pipe_and_moves_on_a_terminal(capsys, monkeypatch):
    with printing.progress("reading") as step:
        step("one")
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with printing.progress("comparing", 2) as step:
        step("one")
        step("two")
    assert "comparing: two" in sys.stderr.getvalue()
