"""Every command that reads a table refuses a broken one in the same way: one sentence, code 2, and nothing written."""

import ctypes
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="Parquet needs the extra tables")
pq = pytest.importorskip("pyarrow.parquet")

COMMANDS = {
    "fit": "fit {table} -m platt -o {out}/new.json",
    "apply": "apply {model} {table} -o {out}/new.csv",
    "evaluate": "evaluate {table}",
    "compare": "compare {table} -m platt",
    "report": "report {table} -o {out}/new.html",
    "monitor": "monitor {good} {table}",
    "monitor, as reference": "monitor {table} {good}",
}


def arguments(name, table, good, out):
    words = COMMANDS[name].split()
    return [word.format(table=table, good=good, model=good.with_name("model.json"), out=out) for word in words]


def parquet(compression, n=4000):
    sink = pa.BufferOutputStream()
    scores = np.arange(n) % 997 / 1000
    pq.write_table(pa.table({"score": scores, "label": np.arange(n) % 2}), sink, compression=compression)
    return sink.getvalue().to_pybytes()


def damaged(content, start, length=60):
    return content[:start] + bytes(length) + content[start + length :]


ROWS = "".join(f"{i / 100},{i % 2}\n" for i in range(100))
CSV = "score,label\n" + ROWS
LINES = "".join(json.dumps({"score": i / 100, "label": i % 2}) + "\n" for i in range(100))
ZIPPED = gzip.compress((CSV + ROWS * 20).encode(), mtime=0)
FAR = gzip.compress((CSV + "".join(f"{i / 7e5:.9f},{i % 2}\n" for i in range(300_000))).encode(), 1, mtime=0)

BROKEN = {
    "too many columns": ("a.csv", CSV + "0.5,1,7,8\n" + ROWS, "line 102 has 4 columns"),
    "too few columns": ("a.csv", CSV + "0.5\n" + ROWS, "line 102 has 1 columns"),
    "a word far down": ("a.csv", CSV + ROWS * 400 + "abc,1\n", "could not be read"),
    "many columns far down": ("a.csv", CSV + ROWS * 5000 + "0.5,1,7\n", "could not be read"),
    "binary": ("a.csv", bytes(range(256)) * 20, "binary data"),
    "binary, named Parquet": ("a.parquet", bytes(range(256)) * 20, "named as Parquet"),
    "binary, named JSON": ("a.jsonl", bytes(range(256)) * 20, "binary data"),
    "strings": ("a.csv", "score,label\nlow,0\nhigh,1\n", "'score' holds text, such as"),
    "10 MB on one line": ("a.csv", "9" * 10_000_000, "a line longer than 2 MB"),
    "10 MB on line three": ("a.csv", "score,label\n0.1,0\n" + "9" * 10_000_000 + ",1\n", "could not be read"),
    "cut Parquet": ("a.parquet", parquet("snappy")[:-9], "a.parquet could not be read"),
    "a Parquet file with a damaged page": ("a.parquet", damaged(parquet("gzip"), 300), "a.parquet could not be read"),
    "a Parquet file with a damaged footer": ("a.parquet", damaged(parquet("none"), -400, 100), "could not be read"),
    "one broken line of JSON": ("a.jsonl", LINES + '{"score": 0.3, "lab\n' + LINES, "JSON"),
    "JSON cut short": ("a.jsonl", LINES[:-8], "JSON"),
    "JSON with a word": ("a.jsonl", LINES + '{"score": "abc", "label": 1}\n', "must be a column of numbers"),
    "nothing": ("a.csv", "", "is empty"),
    "a header alone": ("a.csv", "score,label\n", "no rows below its header"),
    "gzip cut short": ("a.csv.gz", ZIPPED[:-20], "could not be read"),
    "long gzip cut short": ("a.csv.gz", FAR[:-5000], "could not be read"),
    "damaged gzip": ("a.csv.gz", damaged(ZIPPED, 100), "could not be read"),
    "gzip without the ending": ("a.csv", ZIPPED, "let its name end in .gz"),
    "UTF-16": ("a.csv", CSV.encode("utf-16"), "is UTF-16 text; convert it to UTF-8"),
    "not gzip": ("a.csv.gz", CSV, "could not be read"),
    "Latin-1": ("a.csv", "score,étiquette\n0.1,0\n".encode("latin-1"), "not UTF-8 text"),
}  # fmt: skip
UNFIT = {
    "an open quote": ("a.csv", 'score,label\n0.1,0\n"0.5,1\n0.9,1\n', "line 4 has 1 columns"),
    "three labels": ("a.csv", "score,label\n0.1,0\n0.2,1\n0.3,2\n", "two classes"),
    "a missing score": ("a.csv", "score,label\n0.1,0\n,1\n0.3,1\n", "1 of 3 rows has no score."),
    "a missing label": ("a.csv", "score,label\n0.1,0\n0.2,\n0.3,1\n", "1 of 3 rows has no label."),
    "a Parquet file without rows": ("a.parquet", parquet("none", 0), "a.parquet has no rows"),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The broken tables, a good one and a model, each made once."""
    from calibrant.cli.app import run

    folder = tmp_path_factory.mktemp("broken")
    good = folder / "good.csv"
    good.write_text(CSV)
    assert run(["-q", "fit", str(good), "-m", "platt", "-o", str(folder / "model.json")]) == 0

    def made(case):
        name, content, message = (BROKEN | UNFIT)[case]
        path = folder / case / name
        if not path.exists():
            path.parent.mkdir()
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path, message

    return good, made


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Temporary files would be seen as left behind, too."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


# All commands read tables in the same way, `apply` reads them once more: two commands are enough, and one case for all.
PAIRS = [(case, name) for case in BROKEN for name in ("fit", "apply")]
PAIRS.remove(("a word far down", "apply"))  # it has its own words for it
PAIRS += [("gzip cut short", name) for name in COMMANDS if name not in ("fit", "apply")]


@pytest.mark.parametrize(("case", "name"), PAIRS)
def test_broken_tables(refused, tables, tmp_path, case, name):
    good, made = tables
    path, message = made(case)
    assert message in refused(*arguments(name, path, good, tmp_path))


@pytest.mark.parametrize("name", ["fit", "monitor"])
@pytest.mark.parametrize("case", UNFIT)
def test_tables_that_cannot_be_learnt_from(refused, tables, tmp_path, case, name):
    good, made = tables
    path, message = made(case)
    assert message in refused(*arguments(name, path, good, tmp_path))


@pytest.mark.parametrize("name", COMMANDS)
def test_missing_files_and_folders(refused, tables, tmp_path, name):
    good, _ = tables
    for path, message in (
        (tmp_path / "nothing.csv", "There is no file"),
        (tmp_path / "*.csv", "No file matches"),
        (tmp_path / "no" / "a.csv", "does not exist"),
        (tmp_path, "is a folder without Parquet files"),
        (good.with_name("goo.csv"), "Did you mean"),
    ):
        assert message in refused(*arguments(name, path, good, tmp_path))


ALL = """
import json, sys
from calibrant.cli.app import run
try:
    open(sys.argv[1]).close()
except PermissionError:
    print(json.dumps([run(["-q", *words]) for words in json.loads(sys.argv[2])]))
"""


def without_privileges():
    """Root reads everything, unless the capabilities to do so do not outlive the start of a program."""
    if os.geteuid() == 0:
        for number in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            ctypes.CDLL(None).prctl(24, number, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.skipif(sys.platform != "linux", reason="the privileges of root are dropped as Linux does it")
def test_what_may_not_be_read_or_written(tables, tmp_path):
    good, _ = tables
    model = good.with_name("model.json")
    locked, listed, closed, out = (tmp_path / name for name in ("locked", "listed", "closed", "out"))
    for folder in (locked, listed, closed, out):
        folder.mkdir()
        (folder / "a.csv").write_text(CSV)
    (out / "a.csv").chmod(0)
    secret = [locked / "a.csv", listed / "a.csv", out / "a.csv", locked / "*.csv", tmp_path / "*" / "b.csv"]
    commands = [arguments(name, path, good, out) for name in COMMANDS for path in secret]
    writing = ("fit", "apply", "report")
    # neither read nor entered; listed only; read only
    commands += [arguments(name, good, good, folder) for folder in (locked, listed, closed) for name in writing]
    commands.append(["apply", str(locked / "model.json"), str(good)])
    commands.append(["evaluate", str(good), "--model", str(locked / "model.json")])
    before = sorted(out.iterdir())
    try:
        for folder, mode in ((locked, 0), (listed, 0o444), (closed, 0o555)):
            folder.chmod(mode)
        words = [sys.executable, "-c", ALL, str(out / "a.csv"), json.dumps(commands)]
        environment = os.environ | {"TMPDIR": str(out)}
        done = subprocess.run(
            words, capture_output=True, text=True, check=True, env=environment, preexec_fn=without_privileges
        )
    finally:
        for folder in (locked, listed, closed):
            folder.chmod(0o700)
    if not done.stdout:
        pytest.skip("this user may read every file, and cannot give that up")
    assert json.loads(done.stdout) == [2] * len(commands)
    lines = done.stderr.splitlines()
    assert len(lines) == len(commands)
    assert all(line.startswith("error: ") and line.endswith("permission denied.") for line in lines), done.stderr
    assert sorted(out.iterdir()) == before
    assert model.exists()
    assert [path.name for folder in (locked, listed, closed) for path in folder.iterdir()] == ["a.csv"] * 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("name", ["fit", "apply", "report"])
def test_a_full_disk(refused, tables, tmp_path, monkeypatch, name):
    monkeypatch.setattr("calibrant.cli.compare.compared_methods", lambda *_: ["platt"])  # saves time
    good, _ = tables
    *words, _ = arguments(name, good, good, tmp_path)
    more = ["-f", "csv"] if name == "apply" else ["-m", "platt"]
    assert "The disk is full" in refused(*words, "/dev/full", *more)
