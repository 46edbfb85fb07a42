"""Data on one stream, remarks on the other, movement only on a terminal."""

import io
import json
import sys

import pytest

from calibrant.cli import printing
from calibrant.cli.errors import Refusal
from calibrant.cli.printing import check_target, written


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


def test_a_table_is_plain_text(capsys):
    printing.print_table("title", ["name", "value"], [["a", "1.5"], ["long name", "10"]])
    assert capsys.readouterr().out == "title\nname       value\na          1.5\nlong name  10\n"


def test_progress_is_silent_in_a_pipe_and_moves_on_a_terminal(capsys, monkeypatch):
    with printing.progress("reading") as step:
        step("one")
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with printing.progress("comparing") as step:
        step("one")
        step("two")
    assert "comparing: two" in sys.stderr.getvalue()


def test_a_terminal_is_shown_control_sequences_and_does_not_obey_them(capsys, monkeypatch):
    evil = "a\x1b[2Jb\x07\x9b1m\u202e"
    printing.note(evil)
    printing.warn(evil)
    printing.print_table("", ["name"], [[evil]])
    out, err = capsys.readouterr()
    assert " ".join(out.split()) == "name a\\x1b[2Jb\\x07\\x9b1m\\u202e"
    assert not set(evil) & set("\x1b\x07\x9b\u202e") & set(out + err)
    printing.print_json({"name": evil})
    text = capsys.readouterr().out
    assert not set("\x1b\x07\x9b\u202e") & set(text)
    assert json.loads(text) == {"name": evil}


def test_long_names_are_cut():
    assert printing.shorten("x" * 8000) == "x" * 59 + "…"
    assert printing.shorten("short") == "short"


def write_half(failure):
    with written(None) as part:
        part.write_text("half")
        raise failure


def test_standard_output(capsysbinary):
    with written("-") as part:
        part.write_bytes(b"data\n")
    with pytest.raises(RuntimeError):
        write_half(RuntimeError)
    assert capsysbinary.readouterr().out == b"data\n"


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    with pytest.raises(Refusal, match="is a folder"):
        check_target(str(tmp_path))
    with pytest.raises(Refusal, match="does not exist; make it first"):
        check_target(str(tmp_path / "no" / "a.csv"))
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(Refusal, match="permission denied"):
        check_target(str(tmp_path / "a.csv"))


def test_binary_data_are_not_for_the_screen(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    with pytest.raises(Refusal, match="Parquet is not for the screen; name a file with -o"):
        printing.check_screen(None, "Parquet")
    printing.check_screen("a.parquet", "Parquet")
