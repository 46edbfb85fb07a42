"""Every format gives the same table, with the names that the files have."""

import errno
import io
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

pa = pytest.importorskip("pyarrow", reason="reading tables needs the extra tables")
duckdb = pytest.importorskip("duckdb", reason="reading tables needs the extra tables")
pq = pytest.importorskip("pyarrow.parquet")

from calibrant import engines  # noqa: E402
from calibrant.engines.tables import open_table, quote, reading  # noqa: E402
from calibrant.errors import InvalidInputError  # noqa: E402

TABLE = pa.table({"score": [0.25, 0.5], "label": [0, 1], "name": ["a", "b"]})


def write(path):
    if path.suffix == ".parquet":
        pq.write_table(TABLE, path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(str(row).replace("'", '"') + "\n" for row in TABLE.to_pylist()))
    else:
        sign = "\t" if path.suffix == ".tsv" else ","
        lines = [sign.join(map(str, row.values())) for row in TABLE.to_pylist()]
        path.write_text("\n".join([sign.join(TABLE.column_names), *lines]) + "\n")
    return str(path)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_formats(tmp_path, ending):
    with open_table(write(tmp_path / f"a.{ending}")) as table:
        assert table.columns == ["score", "label", "name"]
        assert table.values("SELECT * FROM rows") == [(0.25, 0, "a"), (0.5, 1, "b")]
        assert [table.is_number(name) for name in table.columns] == [True, True, False]
        assert table.kind("score") == "DOUBLE"
        assert table.distinct("name", 5) == ["a", "b"]
        assert table.select({"twice": "score * 2"}).values("SELECT twice FROM rows") == [(0.5,), (1.0,)]


def test_a_tally_of_an_open_table(tmp_path):
    with engines.open_table(write(tmp_path / "a.csv")) as table:
        assert engines.tally(table.relation, score="score", label="label").total == 2.0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_that_duckdb_cannot_tell_apart(tmp_path, ending):
    path = tmp_path / f"odd.{ending}"

    def write_columns(*names):
        table = pa.Table.from_arrays([pa.array([i]) for i in range(len(names))], names=names)
        if ending == "csv":
            path.write_text(",".join(names) + "\n" + ",".join(map(str, range(len(names)))) + "\n")
        else:
            pq.write_table(table, path)

    write_columns("a", "A", "", "b")
    with open_table(path) as found:
        assert found.values("SELECT * FROM rows") == [(0, 1, 2, 3)]
        assert [found.columns[0], found.columns[3]] == ["a", "b"]
        assert "A" not in found.columns  # so that nobody gets another column than the one that was named
    write_columns("a", "b", "a")
    with pytest.raises(InvalidInputError, match="has 2 columns 'a'; rename one of them"), open_table(path):
        pass


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("name", ["g[1]", "s*", "q?"])
def test_a_path_that_exists_is_that_file(tmp_path, ending, name):
    write(tmp_path / f"{name}.{ending}")
    for other in ("g1", "sx", "qx"):
        write(tmp_path / f"{other}.{ending}")
    with open_table(tmp_path / f"{name}.{ending}") as table:
        assert table.values("SELECT count(*) FROM rows") == [(2,)]


def test_several_files_are_one_table(tmp_path):
    write(tmp_path / "a.csv")
    write(tmp_path / "b.csv")
    with open_table([str(tmp_path / "*.csv")]) as table:
        assert table.values("SELECT count(*) FROM rows") == [(4,)]
        assert table.name == "2 files"


def test_columns_of_several_files_are_matched_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("score,label\n0.25,1\n")
    (tmp_path / "b.csv").write_text("label,score\n0,0.5\n")
    with open_table(tmp_path / "*.csv") as table:
        assert table.values("SELECT score, label FROM rows ORDER BY score") == [(0.25, 1), (0.5, 0)]
    (tmp_path / "c.csv").write_text("label;score\n0;0.5\n")
    with pytest.raises(InvalidInputError, match="use the same delimiter"), open_table(tmp_path / "*.csv"):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read_once_and_used_often(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pipe.write_text, "score,label\n0.25,1\n")
        with open_table(pipe) as table:
            assert table.name == str(pipe)
            for _ in range(2):
                assert table.values("SELECT score FROM rows") == [(0.25,)]


def test_standard_input_is_a_file_for_a_while(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a,b\n1,2\n")))
    with open_table("-") as table:
        assert table.name == "standard input"
        assert os.path.exists(table.files[0])  # noqa: PTH110
    assert not os.path.exists(table.files[0])  # noqa: PTH110
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO()))
    with pytest.raises(InvalidInputError, match="Standard input is empty"), open_table("-"):
        pass


def test_refusals(tmp_path):
    names = [write(tmp_path / "a.csv"), write(tmp_path / "a.parquet")]
    with pytest.raises(InvalidInputError, match="must have one format; they are csv and parquet"), open_table(names):
        pass
    with pytest.raises(InvalidInputError, match="cannot be mixed"), open_table(["-", names[0]]):
        pass
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1,2,3,4\n")
    with pytest.raises(InvalidInputError, match="line 3 has 4 columns"), open_table(tmp_path / "ragged.csv"):
        pass


def test_reading_names_the_file_but_lets_the_system_speak():
    with (
        pytest.raises(InvalidInputError, match=r"^x\.csv could not be read: Invalid Input Error: bad\.$"),
        reading("x.csv"),
    ):
        raise duckdb.InvalidInputException("Invalid Input Error: bad\n\nLINE 1: ...")
    with pytest.raises(InvalidInputError, match=r"x\.parquet could not be read: Expected"), reading("x.parquet"):
        raise OSError("Expected to be able to read 800 bytes for message body, got 7")
    with pytest.raises(PermissionError), reading("x.csv"):
        raise PermissionError(errno.EACCES, "x", "x.csv")
    with pytest.raises(duckdb.IOException), reading("x.csv"):
        raise duckdb.IOException("IO Error: No space left on device")
    with pytest.raises(KeyError), reading("x.csv"):
        raise KeyError("a")


def test_names_are_quoted():
    assert quote('a "b"') == '"a ""b"""'
