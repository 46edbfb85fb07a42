"""Signals are heard, wherever they come, and leave nothing behind; those that are ignored stay ignored."""

import os
import signal
import subprocess
import sys
import time

import pytest

import calibrant
from calibrant.cli import errors
from calibrant.engines.tables import Table

CASES = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.fixture
def listening():
    """Handlers as in a command that was started by hand, whatever this process ignores."""
    before = {number: signal.signal(number, signal.default_int_handler) for number, _ in CASES}
    errors.listen_to_signals()
    yield
    errors.restore_signals()
    for number, handler in before.items():
        signal.signal(number, handler)
    errors._received.clear()


@pytest.mark.parametrize(("number", "kind"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_a_signal_raises_and_is_remembered(listening, number, kind):
    errors.check_interruption()
    with pytest.raises(kind):
        os.kill(os.getpid(), number)
    assert isinstance(errors.interruption(), kind)
    with pytest.raises(kind):
        errors.check_interruption()


def test_an_ignored_signal_stays_ignored(listening):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    errors.listen_to_signals()
    os.kill(os.getpid(), signal.SIGHUP)
    assert errors.interruption() is None


def test_reports(capsys):
    assert errors.report_interruption(SystemExit(143)) == 143
    assert capsys.readouterr().err == ""
    assert errors.report_interruption(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "error: Interrupted; no file was left half written.\n"


def translate(number, error):
    """Answer a signal with an error of another kind, as DuckDB does."""
    try:
        os.kill(os.getpid(), number)
    except BaseException as cause:
        raise error from cause


@pytest.mark.parametrize(("number", "code"), CASES)
def test_a_query_that_is_interrupted(listening, cli, data, monkeypatch, number, code):
    monkeypatch.setattr(Table, "is_number", lambda *_: translate(number, RuntimeError("Query interrupted")))
    result = cli("compare", data)
    assert (result.code, result.out) == (code, "")
    assert ("Interrupted" in result.err) is (number == signal.SIGINT)
    assert "Unexpected" not in result.err


@pytest.mark.parametrize(("number", "code"), CASES)
@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_a_method_that_is_interrupted_ends_the_comparison(
    listening, cli, data, tmp_path, monkeypatch, method, number, code
):
    """A comparison outlives the failure of a method, the last one too; but a signal is no such failure."""
    kind = type(calibrant.calibrators.registry.create(method))
    monkeypatch.setattr(kind, "fit_tally", lambda *_: translate(number, SystemError("a result with an exception set")))
    before = sorted(tmp_path.iterdir())
    result = cli("compare", data, "-m", "platt,isotonic")
    assert (result.code, result.out) == (code, "")
    assert sorted(tmp_path.iterdir()) == before


def start(*arguments, **options):
    """Start a command as from a shell: with the usual signals, even where this process ignores some."""

    def usual():
        for number, _ in CASES:
            signal.signal(number, signal.SIG_DFL)

    return subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=usual, **options
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_nothing_behind(cli, tmp_path, number, code, data):
    model, output, spool = tmp_path / "m.json", tmp_path / "out.csv", tmp_path / "spool"
    spool.mkdir()
    cli("fit", data, "-m", "platt", "-o", model)
    before = sorted(tmp_path.rglob("*"))
    command = [sys.executable, "-m", "calibrant", "apply", str(model), "-", "-o", str(output)]
    process = start(*command, stdin=subprocess.PIPE, env=os.environ | {"TMPDIR": str(spool)})
    process.stdin.write("score\n0.5\n")
    process.stdin.flush()
    while not list(spool.iterdir()) and process.poll() is None:  # it comes up, and waits for more input
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == code
    assert "Traceback" not in err
    assert ("error: Interrupted; no file was left half written." in err) is (number == signal.SIGINT)
    assert sorted(tmp_path.rglob("*")) == before


IMPORTING = """
import builtins, os, signal, sys
plain = builtins.__import__
def interrupted(name, *more, **others):
    if name == "typer":
        os.kill(os.getpid(), signal.SIGINT)
    return plain(name, *more, **others)
from calibrant.cli import main
builtins.__import__ = interrupted
main()
"""


def test_ctrl_c_during_imports_is_one_sentence():
    process = start(sys.executable, "-c", IMPORTING)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert err == "error: Interrupted; no file was left half written.\n"
