"""Every format gives the same table."""

import os
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

from calibrant.cli.problems import Problem
from calibrant.cli.tables import opened, quoted

TABLE = pa.table({"score": [0.25, 0.5], "label": [0, 1], "name": ["a", "b"]})


def write(path):
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(TABLE, path)
    elif path.suffix == ".arrow":
        pyarrow.feather.write_feather(TABLE, path, compression="uncompressed")
    elif path.suffix == ".stream":
        with pyarrow.ipc.new_stream(path, TABLE.schema) as writer:
            writer.write_table(TABLE)
    elif path.suffix == ".jsonl":
        path.write_text("".join(str(row).replace("'", '"') + "\n" for row in TABLE.to_pylist()))
    else:
        sign = "\t" if path.suffix == ".tsv" else ","
        lines = [sign.join(map(str, row.values())) for row in TABLE.to_pylist()]
        path.write_text("\n".join([sign.join(TABLE.column_names), *lines]) + "\n")
    return str(path)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "stream", "jsonl"])
def test_formats(tmp_path, ending):
    with opened([write(tmp_path / f"a.{ending}")]) as table:
        assert table.columns == ["score", "label", "name"]
        assert table.values("SELECT * FROM rows") == [(0.25, 0, "a"), (0.5, 1, "b")]
        assert [table.is_number(name) for name in table.columns] == [True, True, False]
        assert table.kind("score") == "DOUBLE"
        assert table.distinct("name", 5) == ["a", "b"]
        assert table.selected("score * 2 AS twice").values("SELECT twice FROM rows") == [(0.5,), (1.0,)]


def test_several_files_are_one_table(tmp_path):
    write(tmp_path / "a.csv")
    write(tmp_path / "b.csv")
    with opened([str(tmp_path / "*.csv")]) as table:
        assert table.values("SELECT count(*) FROM rows") == [(4,)]
        assert table.name == "2 files"


def test_columns_of_several_files_are_matched_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("score,label\n0.25,1\n")
    (tmp_path / "b.csv").write_text("label,score\n0,0.5\n")
    with opened([str(tmp_path / "*.csv")]) as table:
        assert table.values("SELECT score, label FROM rows ORDER BY score") == [(0.25, 1), (0.5, 0)]
    (tmp_path / "c.csv").write_text("label;score\n0;0.5\n")
    with pytest.raises(Problem, match="by the same sign"), opened([str(tmp_path / "*.csv")]):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read_once_and_used_often(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pipe.write_text, "score,label\n0.25,1\n")
        with opened([str(pipe)]) as table:
            assert table.name == str(pipe)
            for _ in range(2):
                assert table.values("SELECT score FROM rows") == [(0.25,)]


def test_refusals(tmp_path):
    names = [write(tmp_path / "a.csv"), write(tmp_path / "a.parquet")]
    with pytest.raises(Problem, match="must have one format; they are csv and parquet"), opened(names):
        pass
    with pytest.raises(Problem, match="cannot be mixed"), opened(["-", names[0]]):
        pass
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1,2,3,4\n")
    with pytest.raises(Problem, match="line 3 has 4 columns"), opened([str(tmp_path / "ragged.csv")]):
        pass


def test_names_are_quoted():
    assert quoted('a "b"') == '"a ""b"""'
