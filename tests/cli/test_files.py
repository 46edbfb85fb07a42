"""Files are judged by their content before anything long begins."""

import gzip
import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from calibrant.cli.files import check_gzip, delimiter_of, format_named, format_of, found_files, odd_line, spooled
from calibrant.cli.problems import Problem


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", b"a,b\n1,2\n", "csv"),
        ("strange.name", b"a;b\n1;2\n", "csv"),
        ("a.csv", b"PAR1....", "parquet"),
        ("a.arrow", b"ARROW1..", "arrow"),
        ("stream", b"\xff\xff\xff\xff....", "arrow"),
        ("a.txt", b'{"a": 1}\n', "json"),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0), "csv"),
    ],
)
def test_formats(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_bytes(content)
    assert format_of(str(path)) == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.parquet", b"a,b\n", "named as Parquet"),
        ("a.csv", b"a,b\n\0\1\2", "binary data"),
        ("a.csv", bytes(range(1, 32)) * 10, "binary data"),
        ("a.csv", "name,grösse\n".encode("latin-1"), "not UTF-8"),
        ("a.csv", b"9" * 2_100_000, "longer than 2 MB"),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n" * 9999, mtime=0)[:40], "not a whole gzip file"),
    ],
)
def test_what_is_no_table(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(Problem, match=message):
        format_of(str(path))


def test_a_character_cut_at_the_end_of_the_sample_is_no_fault(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a" + "ü" * 50_000 + "\n" + "b\n" * 10, encoding="utf-8")
    assert format_of(str(path)) == "csv"


def test_paths_globs_and_near_names(tmp_path):
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("a\n")
    assert found_files(str(tmp_path / "*.csv")) == [str(tmp_path / "one.csv"), str(tmp_path / "two.csv")]
    assert found_files("s3://bucket/a.parquet") == ["s3://bucket/a.parquet"]
    for pattern, message in {
        "ones.csv": "Did you mean .*one.csv",
        "*.xyz": "No file matches",
        "nowhere/a.csv": "folder .*nowhere does not exist",
        ".": "is a folder",
        "qqq": "no file .*qqq\\.$",
    }.items():
        with pytest.raises(Problem, match=message):
            found_files(str(tmp_path / pattern))


def test_a_link_to_nothing_is_named(tmp_path):
    (tmp_path / "link.csv").symlink_to("gone.csv")
    with pytest.raises(Problem, match=r"link\.csv is a link to gone\.csv, which does not exist"):
        found_files(str(tmp_path / "link.csv"))


def test_small_things(tmp_path):
    assert format_named("A.CSV.GZ") == "csv"
    assert format_named("a.xls") is None
    assert format_of("s3://bucket/a.jsonl") == "json"
    path = tmp_path / "a.csv"
    path.write_text("a|b|c\n1|2|3\n1|2\n")
    assert delimiter_of(str(path)) == "|"
    assert odd_line(str(path), "|").startswith("line 3 has 2 columns, its header has 3")
    path.write_text("alone\n1\n")
    assert delimiter_of(str(path)) is None
    assert odd_line(str(path), ",") is None


def test_standard_input_is_a_file_for_a_while(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a,b\n1,2\n"), isatty=lambda: False))
    with spooled() as name:
        assert format_of(name) == "csv"
    with pytest.raises(FileNotFoundError):
        format_of(name)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(), isatty=lambda: True))
    with pytest.raises(Problem, match="Standard input is empty"), spooled():
        pass
    with pytest.raises(Problem, match=r"^standard input is empty"):
        format_of(str(_empty(tmp_path)), "standard input")


def _empty(folder):
    path = folder / "nothing"
    path.touch()
    return path


def test_a_gzip_file_is_read_to_its_end(tmp_path):
    whole = gzip.compress(np.random.default_rng(0).bytes(100_000), mtime=0)
    (tmp_path / "a.csv.gz").write_bytes(whole)
    (tmp_path / "b.csv.gz").write_bytes(whole[:-20])
    (tmp_path / "c.csv").write_bytes(whole[:-20])
    check_gzip(str(tmp_path / "a.csv.gz"))
    check_gzip(str(tmp_path / "c.csv"))
    with pytest.raises(Problem, match="not a whole gzip file"):
        check_gzip(str(tmp_path / "b.csv.gz"))
