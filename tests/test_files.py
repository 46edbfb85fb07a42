import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from calibrant._files import write_atomically


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "a.txt"
    write_atomically(path, "one")
    write_atomically(path, "zwö")
    assert path.read_text(encoding="utf-8") == "zwö"
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_atomically(tmp_path / "a.txt", "one")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nowhere" / "a.txt", "one")


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "a.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    write_atomically(link, "one")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "one"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(path.read_text, encoding="utf-8")
        write_atomically(path, "one")
        assert read.result(timeout=10) == "one"
    assert path.is_fifo()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
