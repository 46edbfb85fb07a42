import datetime as dt
import subprocess
import sys
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from calibrant import Tally, engines
from calibrant.errors import InvalidInputError

pytest.importorskip("narwhals", reason="engines need Narwhals")
duckdb = pytest.importorskip("duckdb", reason="engines need DuckDB")
pa = pytest.importorskip("pyarrow", reason="engines need pyarrow")
parquet = pytest.importorskip("pyarrow.parquet", reason="engines need pyarrow")


@pytest.fixture
def rows():
    """One small table as pandas and as Arrow, and its tally."""
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 50, 500) / 50
    labels = (rng.random(500) < scores).astype(int)
    columns = {"p": scores, "y": labels}
    return SimpleNamespace(
        frame=pd.DataFrame(columns), arrow=pa.table(columns), tally=Tally.from_arrays(scores, labels)
    )


def count(source):
    return engines.tally(source, score="p", label="y")


def test_tables_in_memory(rows):
    for table in (rows.frame, rows.frame.set_index("y").reset_index(), rows.arrow, rows.arrow.to_reader()):
        assert count(table) == rows.tally


def test_files(tmp_path, rows):
    rows.frame.to_csv(tmp_path / "t.csv", index=False)
    rows.frame.to_csv(tmp_path / "t.csv.gz", index=False)
    parquet.write_table(rows.arrow, tmp_path / "t.parquet")
    for name in ("t.csv", "t.csv.gz", "t.parquet"):
        assert count(tmp_path / name) == rows.tally, name


def test_a_glob_is_the_sum_of_its_files(tmp_path, rows):
    for i in range(3):
        parquet.write_table(rows.arrow.slice(i * 200, 200), tmp_path / f"part-{i}.parquet")
    assert count(str(tmp_path / "*.parquet")) == rows.tally


def test_a_duckdb_relation_stays_in_its_connection():
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT (i % 7) / 7.0 AS p, i % 2 AS y FROM range(1000) AS r (i)")
        relation = connection.table("t").filter("p > 0.1")
        tally = count(relation)
    i = np.arange(1000)
    kept = i % 7 > 0
    assert tally == Tally.from_arrays((i[kept] % 7) / 7.0, i[kept] % 2)


@pytest.mark.filterwarnings("ignore:.*use to_arrow_table:DeprecationWarning")  # Ibis 12 calls DuckDB 2 by an old name
def test_an_ibis_table_is_computed_by_its_own_backend(rows):
    ibis = pytest.importorskip("ibis", reason="Ibis is not installed")
    connection = ibis.duckdb.connect()
    connection.con.register("t", rows.arrow)
    assert count(connection.table("t").filter(ibis._.p < 0.5)).total == (rows.frame["p"] < 0.5).sum()
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    assert count(ibis.polars.connect({"t": polars.from_arrow(rows.arrow)}).table("t")) == rows.tally


def test_a_pattern_with_brackets(tmp_path, rows):
    parquet.write_table(rows.arrow, tmp_path / "g[1].parquet")
    parquet.write_table(pa.table({"p": [0.25], "y": [1]}), tmp_path / "g1.parquet")
    assert count(tmp_path / "g[1].parquet") == rows.tally
    assert count(tmp_path / "g[1-9].parquet") == Tally.from_arrays([0.25], [1])  # no such file: a pattern
    assert count(tmp_path / "*[[]1].parquet") == rows.tally  # a pattern that finds a name with brackets


def test_a_folder_of_parquet_files_is_a_table(tmp_path, rows):
    folder = tmp_path / "table.parquet"
    (folder / "day=1").mkdir(parents=True)
    (folder / "_delta_log").mkdir()
    parquet.write_table(rows.arrow.slice(0, 200), folder / "part-0.parquet")
    parquet.write_table(rows.arrow.slice(200), folder / "day=1" / "part[1].parquet")
    parquet.write_table(rows.arrow, folder / "_delta_log" / "checkpoint.parquet")
    parquet.write_table(rows.arrow, folder / ".part-9.parquet")
    (folder / "_SUCCESS").write_text("", encoding="utf-8")
    assert count(folder) == rows.tally
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInputError, match="folder without Parquet files"):
        count(tmp_path / "empty")


def test_what_is_not_a_table_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="`source` must be a path or glob"):
        count([0.1, 0.2])
    with pytest.raises(InvalidInputError, match="There is no file"):
        count(tmp_path / "nothing.parquet")
    (tmp_path / "t.xlsx").write_bytes(b"PK\3\4" + bytes(99))
    with pytest.raises(InvalidInputError, match="not a table: it holds binary data"):
        count(tmp_path / "t.xlsx")


def test_wrong_names_suggest_the_near_ones(rows):
    with pytest.raises(InvalidInputError, match=r"`score` must name a column .* no 'qqq'. It has p, y."):
        engines.tally(rows.frame, score="qqq", label="y")
    wide = rows.frame.rename(columns={"p": "probability"})
    with pytest.raises(InvalidInputError, match="Did you mean 'probability'"):
        engines.tally(wide, score="probabilty", label="y")
    with pytest.raises(InvalidInputError, match="`label` must name a column"):
        engines.tally(rows.frame, score="p", label="target")
    with pytest.raises(InvalidInputError, match="`by` must name a column"):
        engines.tally(rows.frame, score="p", label="y", by="day")
    with pytest.raises(InvalidInputError, match="`weight` must name a column"):
        engines.tally(rows.frame, score="p", label="y", weight="w")


DAY, NOON, HOUR = dt.date(2026, 1, 30), dt.datetime(2026, 1, 30, 12, 30), dt.timedelta(hours=1)
SEGMENTS = {
    "text": ("['a', 'b''c', NULL][1 + i % 3]", ["a", "b'c", None]),
    "whole": ("i % 3", [0, 1, 2]),
    "missing whole": ("CASE WHEN i % 3 > 0 THEN i % 3 END", [1, 2, None]),
    "huge": ("(i % 3)::HUGEINT", [Decimal(0), Decimal(1), Decimal(2)]),
    "double": ("(i % 3) / 4", [0.0, 0.25, 0.5]),
    "nan": ("['nan', '1', '2'][1 + i % 3]::DOUBLE", [1.0, 2.0, None]),
    "truth": ("i % 2 = 0", [False, True]),
    "missing truth": ("CASE WHEN i % 3 > 0 THEN i % 3 = 1 END", [False, True, None]),
    "day": ("DATE '2026-01-30' + (i % 3)::INTEGER", [DAY, DAY + 24 * HOUR, DAY + 48 * HOUR]),
    "moment": ("TIMESTAMP '2026-01-30 12:30:00' + INTERVAL (i % 3) HOUR", [NOON, NOON + HOUR, NOON + 2 * HOUR]),
    "price": ("((i % 3) / 4)::DECIMAL(6, 2)", [Decimal("0.00"), Decimal("0.25"), Decimal("0.50")]),
}
LABEL_COLUMNS = {
    "tiny": "hit::TINYINT",
    "double": "hit::DOUBLE",
    "truth": "hit = 1",
    "minus one": "2 * hit - 1",
    "decimal": "hit::DECIMAL(3, 1)",
    "huge": "hit::HUGEINT",
}


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        yield connection


def make_table(connection, segment="i % 3", label="hit", score="DOUBLE"):
    connection.execute(
        f"CREATE TABLE t AS SELECT {segment} AS g, {label} AS y, hit, ((i * 7919) % 1009 / 1009)::{score} AS p, "
        "i % 4 AS w FROM (SELECT i, ((i * 31) % 97 < 40)::INTEGER AS hit FROM range(3000) AS r (i))"
    )
    return connection.table("t")


@pytest.mark.parametrize("max_cells", [50, 2000])
@pytest.mark.parametrize("segment", SEGMENTS)
def test_segments_keep_their_types(connection, segment, max_cells):
    expression, keys = SEGMENTS[segment]
    table = make_table(connection, segment=expression)
    tallies = engines.tally(table, score="p", label="y", by="g", weight="w", max_cells=max_cells)
    assert [repr(key) for key in tallies] == [repr(key) for key in keys]
    for key, tally in tallies.items():
        wanted = "g IS NULL OR g::VARCHAR = 'nan'" if key is None else f"g::VARCHAR = '{str(key).lower()}'"
        if isinstance(key, str):
            wanted = "g = '{}'".format(key.replace("'", "''"))
        assert (tally.total, tally.total_positive) == table.filter(wanted).aggregate("sum(w), sum(w * y)").fetchall()[0]


@pytest.mark.parametrize("label", LABEL_COLUMNS)
@pytest.mark.parametrize("score", ["DOUBLE", "FLOAT", "DECIMAL(9, 6)"])
def test_labels_and_scores_of_every_type(connection, label, score):
    table = make_table(connection, label=LABEL_COLUMNS[label], score=score)
    scores, hits = (np.array(column) for column in zip(*table.select("p::DOUBLE, hit").fetchall(), strict=True))
    assert engines.tally(table, score="p", label="y") == Tally.from_arrays(scores, hits)


def test_files_are_counted_without_ibis(tmp_path, rows):
    rows.frame.to_csv(tmp_path / "t.csv", index=False)
    code = (
        "import sys; from calibrant import engines; "
        f"engines.tally({str(tmp_path / 't.csv')!r}, score='p', label='y'); "
        "sys.exit('ibis' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
