"""Files are judged by their content before anything long begins."""

import gc
import gzip
import sys

import numpy as np
import pytest

from calibrant.engines.tables import (
    check_gzip,
    detect_dialect,
    detect_format,
    find_files,
    format_of_name,
    open_bytes,
)
from calibrant.errors import InvalidInputError, MissingExtraError


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", b"a,b\n1,2\n", "csv"),
        ("strange.name", b"a;b\n1;2\n", "csv"),
        ("a.csv", b"PAR1....", "parquet"),
        ("a.txt", b'{"a": 1}\n', "json"),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0), "csv"),
    ],
)
def test_formats(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_bytes(content)
    assert detect_format(str(path), name) == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "^it is empty"),
        ("a.parquet", b"a,b\n", "named as Parquet"),
        ("a.csv", b"a,b\n\0\1\2", "binary data"),
        ("a.csv", bytes(range(1, 32)) * 10, "binary data"),
        ("a.csv", "name,grösse\n".encode("latin-1"), "not UTF-8"),
        ("a.csv", "name\n".encode("utf-16"), "UTF-16"),
        ("a.csv", gzip.compress(b"a", mtime=0), "let its name end in .gz"),
        ("a.csv", b"9" * 2_100_000, "longer than 2 MB"),
    ],
)
def test_what_is_no_table(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=message):
        detect_format(str(path), "it")


def test_a_character_cut_at_the_end_of_the_sample_is_no_fault(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a" + "ü" * 50_000 + "\n" + "b\n" * 10, encoding="utf-8")
    assert detect_format(str(path), "it") == "csv"


def test_paths_globs_and_near_names(tmp_path):
    for name in ("one.csv", "two.csv", "g[1].csv", "g1.csv", "s*.csv"):
        (tmp_path / name).write_text("a\n")
    assert find_files(str(tmp_path / "[ot]*.csv")) == [str(tmp_path / "one.csv"), str(tmp_path / "two.csv")]
    for exact in ("g[1].csv", "s*.csv"):
        assert find_files(str(tmp_path / exact)) == [str(tmp_path / exact)]
    for pattern, message in {
        "ones.csv": "Did you mean .*one.csv",
        "*.xyz": "No file matches",
        "nowhere/a.csv": "folder .*nowhere does not exist",
        ".": "is a folder without Parquet files",
        "qqq": "no file .*qqq\\.$",
    }.items():
        with pytest.raises(InvalidInputError, match=message):
            find_files(str(tmp_path / pattern))


def test_a_link_to_nothing_is_named(tmp_path):
    (tmp_path / "link.csv").symlink_to("gone.csv")
    with pytest.raises(InvalidInputError, match=r"link\.csv is a link to gone\.csv, which does not exist"):
        find_files(str(tmp_path / "link.csv"))


def test_names(tmp_path):
    assert format_of_name("A.CSV.GZ") == "csv"
    assert format_of_name("a.xls") is None
    assert format_of_name("a.parquet.gz") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b|c\n1|2|3\n", ("|", ["a", "b", "c"])),
        ("alone\r\n1\r\n", (",", ["alone"])),
        ('\ufeff"a;1";b\n1;2\n', (";", ["a;1", "b"])),
        ("a,b\r1,2\r", (",", ["a", "b"])),
        ('a,b\n"x\ny",2\n', (",", ["a", "b"])),
    ],
)
def test_dialects(tmp_path, text, expected):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    assert detect_dialect(str(path), "it") == expected


def test_a_line_with_another_number_of_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a|b|c\n1|2|3\n1|2\n")
    with pytest.raises(InvalidInputError, match=r"^it is not a sound CSV file: line 3 has 2 columns, its header has 3"):
        detect_dialect(str(path), "it")


def test_a_sample_that_ends_inside_a_line_is_no_fault(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "12345,6\n" * 19_000 + f"{'x' * 130_000},1\n" * 20)
    assert detect_dialect(str(path), "it")[1] == ["a", "b"]


def test_a_gzip_file_is_read_to_its_end(tmp_path):
    content = np.random.default_rng(0).bytes(100_000)
    whole = gzip.compress(content, mtime=0)
    (tmp_path / "a.csv.gz").write_bytes(whole)
    (tmp_path / "b.csv.gz").write_bytes(whole[:-20])
    (tmp_path / "c.csv").write_bytes(whole[:-20])
    check_gzip(str(tmp_path / "a.csv.gz"))
    check_gzip(str(tmp_path / "c.csv"))
    with pytest.raises(OSError, match="Truncated"):
        check_gzip(str(tmp_path / "b.csv.gz"))
    with open_bytes(str(tmp_path / "a.csv.gz")) as file:
        assert file.read() == content


def test_no_file_stays_open_where_the_package_that_reads_it_is_missing(tmp_path, monkeypatch, recwarn):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="pyarrow") as caught:
        open_bytes(str(tmp_path / "a.csv"))
    del caught
    gc.collect()
    assert not [warning for warning in recwarn if warning.category is ResourceWarning]
