"""Files appear whole or not at all, and keep their mode."""

import errno
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from calibrant._files import follow_links, replacing, write_atomically


@pytest.fixture
def usual_mode(tmp_path):
    """The mode that the system gives a new file."""
    path = tmp_path / "usual"
    path.touch()
    mode = path.stat().st_mode
    path.unlink()
    return mode


def test_writes_and_replaces(tmp_path, usual_mode):
    path = tmp_path / "a.txt"
    write_atomically(path, "one")
    assert path.stat().st_mode == usual_mode
    write_atomically(path, "zwö")
    assert path.read_text(encoding="utf-8") == "zwö"
    assert path.stat().st_mode == usual_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o400])
def test_a_replaced_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "secret.json"
    path.touch()
    path.chmod(mode)
    with replacing(path) as part:
        assert part.stat().st_mode & 0o777 == mode, "the content must not be readable by others on its way either"
        part.chmod(mode | 0o200)
        part.write_text("two")
        part.chmod(mode)
    assert path.stat().st_mode & 0o777 == mode
    assert path.read_text() == "two"


def test_the_umask_of_the_process_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("other threads would see this"))
    write_atomically(tmp_path / "a.txt", "one")


def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_atomically(tmp_path / "a.txt", "one")
    assert list(tmp_path.iterdir()) == []


def write_half(path, failure):
    with replacing(path) as part:
        part.write_text("half")
        raise failure


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_interruption_leaves_the_old_file(tmp_path, failure):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(failure):
        write_half(path, failure)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_an_error_that_names_the_target(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(tmp_path / "nowhere" / "a.txt", "one")
    assert caught.value.filename == str(tmp_path / "nowhere" / "a.txt")


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "a.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    write_atomically(link, "one")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "one"


def test_links_in_a_circle_are_an_error(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.symlink_to(two)
    two.symlink_to(one)
    with pytest.raises(OSError, match="symbolic links") as caught:
        follow_links(one)
    assert caught.value.errno == errno.ELOOP
    assert caught.value.filename == str(one)


def test_the_longest_name_works_and_the_temporary_one_is_hidden_and_known(tmp_path):
    path = tmp_path / ("x" * 251 + ".txt")
    with replacing(path) as part:
        assert part.name.startswith(".calibrant-")
        assert part.suffix == ".part"
        part.write_text("one")
    assert path.read_text() == "one"


def test_a_crash_leaves_the_old_file_and_a_part_that_no_pattern_matches(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    program = (
        "import os, sys\n"
        "from calibrant._files import replacing\n"
        "with replacing(sys.argv[1]) as part:\n"
        "    part.write_text('half')\n"
        "    os._exit(9)\n"  # as after kill -9, nothing is cleaned up
    )
    assert subprocess.run([sys.executable, "-c", program, str(path)], check=False).returncode == 9
    assert path.read_text() == "old"
    (left,) = set(tmp_path.iterdir()) - {path}
    assert (left.name.startswith(".calibrant-"), left.suffix) == (True, ".part")
    write_atomically(path, "new")
    assert path.read_text() == "new"


def test_two_writers_do_not_meet(tmp_path):
    path = tmp_path / "a.txt"
    meeting = threading.Barrier(2)

    def write(text):
        with replacing(path) as part:
            part.write_text(text)
            meeting.wait(timeout=10)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, ["one", "two"]))
    assert path.read_text() in ("one", "two")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(path.read_text, encoding="utf-8")
        write_atomically(path, "one")
        assert read.result(timeout=10) == "one"
    assert path.is_fifo()
