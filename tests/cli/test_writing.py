"""Output is whole or absent."""

import duckdb
import pyarrow.feather
import pytest

from calibrant.cli.problems import Problem
from calibrant.cli.writing import check_target, copied, format_for, written


def write_half(target, failure):
    with written(target) as part:
        part.write_text("half")
        raise failure


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    for failure in (RuntimeError, KeyboardInterrupt, SystemExit):
        with pytest.raises(failure):
            write_half(str(path), failure)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with written(str(path)) as part:
        part.write_text("new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_standard_output(capsysbinary):
    with written("-") as part:
        part.write_bytes(b"data\n")
    with pytest.raises(RuntimeError):
        write_half(None, RuntimeError)
    assert capsysbinary.readouterr().out == b"data\n"


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    with pytest.raises(Problem, match="is a folder"):
        check_target(str(tmp_path))
    with pytest.raises(Problem, match="does not exist; make it first"):
        check_target(str(tmp_path / "no" / "a.csv"))
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(Problem, match="permission denied"):
        check_target(str(tmp_path / "a.csv"))


def test_formats():
    assert format_for("a.pq", None) == "parquet"
    assert format_for("a.pq", "jsonl") == "json"
    assert format_for(None, None) == format_for("-", None) == "csv"
    with pytest.raises(Problem, match="does not say the format"):
        format_for("a.xls", None)
    with pytest.raises(Problem, match="--format must be one of"):
        format_for("a.csv", "xls")


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "jsonl", "arrow"])
def test_tables_are_written(tmp_path, ending):
    path = tmp_path / f"it's.{ending}"
    connection = duckdb.connect()
    copied(connection, "SELECT 1 AS a, 'x' AS b", str(path))
    if ending == "arrow":
        assert pyarrow.feather.read_table(path).to_pylist() == [{"a": 1, "b": "x"}]
    else:
        name = str(path).replace("'", "''")
        assert connection.execute(f"SELECT * FROM '{name}'").fetchall() == [(1, "x")]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_binary_tables_are_not_for_the_screen(monkeypatch, kind):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    with pytest.raises(Problem, match=f"{kind.capitalize()} is not for the screen; name a file with -o."):
        copied(duckdb.connect(), "SELECT 1", None, kind)
