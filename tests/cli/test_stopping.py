"""Requests to end are heard, wherever they come, and leave nothing behind."""

import os
import signal
import threading

import pytest

import calibrant
from calibrant.cli import tables
from calibrant.cli.stopping import check_stopped, stoppable, stopped

CASES = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.mark.parametrize(("sign", "kind"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_a_request_is_remembered_and_handlers_are_put_back(sign, kind):
    before = signal.getsignal(sign)
    with pytest.raises(kind), stoppable():
        os.kill(os.getpid(), sign)
    assert signal.getsignal(sign) is before
    assert isinstance(stopped(), kind)
    with stoppable():
        assert stopped() is None
        check_stopped()


def test_an_ignored_signal_stays_ignored():
    """As nohup wants it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stoppable():
            os.kill(os.getpid(), signal.SIGHUP)
        assert stopped() is None
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_have_no_signals():
    seen = []

    def work():
        with stoppable():
            seen.append(stopped())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [None]


def translated(sign, error):
    """Code that answers a signal with an error of its own, as DuckDB and numba do."""
    try:
        os.kill(os.getpid(), sign)
    except BaseException as cause:
        raise error from cause


@pytest.mark.parametrize(("sign", "code"), CASES)
def test_a_query_that_is_interrupted(cli, data, monkeypatch, sign, code):
    monkeypatch.setattr(tables.Table, "is_number", lambda *_: translated(sign, RuntimeError("Query interrupted")))
    result = cli("compare", data)
    assert (result.code, result.out) == (code, "")
    assert ("Interrupted" in result.err) is (sign == signal.SIGINT)
    assert "Unexpected" not in result.err


@pytest.mark.parametrize(("sign", "code"), CASES)
@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_a_method_that_is_interrupted_ends_the_comparison(cli, data, tmp_path, monkeypatch, method, sign, code):
    """A comparison outlives the failure of a method, the last one too; but an interrupt is no such failure."""
    kind = type(calibrant.calibrators.registry.create(method))
    monkeypatch.setattr(kind, "_fit_map", lambda *_: translated(sign, SystemError("a result with an exception set")))
    result = cli("compare", data, "-m", "platt,isotonic")
    assert (result.code, result.out) == (code, "")
    before = sorted(tmp_path.iterdir())
    assert cli("report", data, "-o", tmp_path / "r.html").code == code
    assert sorted(tmp_path.iterdir()) == before
