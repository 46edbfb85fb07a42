import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from calibrant import Tally, engines
from calibrant.errors import InvalidInputError

ibis = pytest.importorskip("ibis", reason="engines need ibis")
duckdb = pytest.importorskip("duckdb", reason="engines need DuckDB")

# Ibis 12 calls a method by the name that DuckDB 2 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:.*use to_arrow_table:DeprecationWarning")

RNG = np.random.default_rng(0)
SCORES = RNG.integers(0, 50, 500) / 50
LABELS = (RNG.random(500) < SCORES).astype(int)
FRAME = pd.DataFrame({"p": SCORES, "y": LABELS})
ARROW = pa.table({"p": SCORES, "y": LABELS})
EXPECTED = Tally.from_arrays(SCORES, LABELS)


def count(source):
    return engines.tally(source, score="p", label="y")


@pytest.mark.parametrize(
    "table",
    [FRAME, ARROW, pl.from_pandas(FRAME), pl.from_pandas(FRAME).lazy(), FRAME.set_index("y").reset_index()],
    ids=["pandas", "pyarrow", "polars", "lazy", "index"],
)
def test_tables_in_memory(table):
    assert count(table) == EXPECTED


def test_files(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    FRAME.to_csv(tmp_path / "t.csv.gz", index=False)
    pyarrow.parquet.write_table(ARROW, tmp_path / "t.parquet")
    pyarrow.feather.write_feather(ARROW, tmp_path / "t.arrow", compression="uncompressed")
    for name in ("t.csv", "t.csv.gz", "t.parquet", "t.arrow"):
        assert count(tmp_path / name) == EXPECTED, name


def test_a_glob_is_the_sum_of_its_files(tmp_path):
    for i in range(3):
        pyarrow.parquet.write_table(ARROW.slice(i * 200, 200), tmp_path / f"part-{i}.parquet")
        pyarrow.feather.write_feather(ARROW.slice(i * 200, 200), tmp_path / f"part-{i}.arrow")
    assert count(str(tmp_path / "*.parquet")) == EXPECTED
    assert count(str(tmp_path / "*.arrow")) == EXPECTED


def test_a_duckdb_relation_stays_in_its_connection():
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT (i % 7) / 7.0 AS p, i % 2 AS y FROM range(1000) AS r (i)")
        relation = connection.table("t").filter("p > 0.1")
        found = count(relation)
    i = np.arange(1000)
    kept = i % 7 > 0
    assert found == Tally.from_arrays((i[kept] % 7) / 7.0, i[kept] % 2)


def test_an_ibis_table_is_computed_by_its_own_backend():
    connection = ibis.duckdb.connect()
    connection.con.register("t", ARROW)
    assert count(connection.table("t")) == EXPECTED
    assert count(connection.table("t").filter(ibis._.p < 0.5)).total == (SCORES < 0.5).sum()


def test_the_polars_backend_of_ibis():
    connection = ibis.polars.connect({"t": pl.from_pandas(FRAME)})
    assert count(connection.table("t")) == EXPECTED


def test_what_is_not_a_table_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="`source` must be a path or glob"):
        count([0.1, 0.2])
    with pytest.raises(InvalidInputError, match="must match at least one file"):
        count(tmp_path / "nothing.parquet")
    (tmp_path / "t.xlsx").write_text("")
    with pytest.raises(InvalidInputError, match="known by their endings"):
        count(tmp_path / "t.xlsx")


def test_wrong_names_suggest_the_near_ones():
    with pytest.raises(InvalidInputError, match=r"`score` must name a column .* no 'qqq'. It has p, y."):
        engines.tally(FRAME, score="qqq", label="y")
    wide = FRAME.rename(columns={"p": "probability"})
    with pytest.raises(InvalidInputError, match="Did you mean 'probability'"):
        engines.tally(wide, score="probabilty", label="y")
    with pytest.raises(InvalidInputError, match="`label` must name a column"):
        engines.tally(FRAME, score="p", label="target")
    with pytest.raises(InvalidInputError, match="`by` must name a column"):
        engines.tally(FRAME, score="p", label="y", by="day")
    with pytest.raises(InvalidInputError, match="`weight` must name a column"):
        engines.tally(FRAME, score="p", label="y", weight="w")


SEGMENTS = {
    "text": "['a', 'b''c', NULL][1 + i % 3]",
    "whole": "i % 3",
    "missing whole": "CASE WHEN i % 3 > 0 THEN i % 3 END",
    "double": "(i % 3) / 4",
    "nan": "['nan', '1', NULL][1 + i % 3]::DOUBLE",
    "huge": "(i % 3)::HUGEINT",
    "truth": "i % 2 = 0",
    "missing truth": "CASE WHEN i % 3 > 0 THEN i % 3 = 1 END",
    "day": "DATE '2026-01-30' + (i % 3)::INTEGER",
    "moment": "TIMESTAMP '2026-01-30 12:30:00' + INTERVAL (i % 3) HOUR",
    "price": "((i % 3) / 4)::DECIMAL(6, 2)",
}
LABEL_COLUMNS = {
    "tiny": "hit::TINYINT",
    "double": "hit::DOUBLE",
    "truth": "hit = 1",
    "minus one": "2 * hit - 1",
    "decimal": "hit::DECIMAL(3, 1)",
    "huge": "hit::HUGEINT",
}
MANY_ROWS = """
CREATE TABLE t AS SELECT {segment} AS g, {label} AS y, ((i * 7919) % 1009 / 1009)::{score} AS p, i % 4 AS w
FROM (SELECT i, ((i * 31) % 97 < 40)::INTEGER AS hit FROM range(3000) AS r (i))
"""


def both_ways(segment="i % 3", label="hit", score="DOUBLE", **options):
    """The tallies of a table by DuckDB alone, and by the DuckDB of Ibis."""
    connection = ibis.duckdb.connect()
    connection.con.execute(MANY_ROWS.format(segment=segment, label=label, score=score))
    sources = connection.con.table("t"), connection.table("t")
    return [engines.tally(source, score="p", label="y", max_cells=50, **options) for source in sources]


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("segment", SEGMENTS)
def test_segments_of_every_type_are_those_of_ibis(segment, weight):
    mine, theirs = both_ways(segment=SEGMENTS[segment], weight=weight, by="g")
    assert [repr(key) for key in mine] == [repr(key) for key in theirs]
    assert list(mine.values()) == list(theirs.values())


@pytest.mark.parametrize("label", LABEL_COLUMNS)
@pytest.mark.parametrize("score", ["DOUBLE", "FLOAT", "DECIMAL(9, 6)"])
def test_labels_of_every_type_are_those_of_ibis(label, score):
    mine, theirs = both_ways(label=LABEL_COLUMNS[label], score=score)
    assert mine == theirs
    assert mine.total == 3000


def test_words_as_labels_are_those_of_ibis():
    mine, theirs = both_ways(label="['no', 'it''s'][1 + hit]", pos_label="it's")
    assert mine == theirs


def test_files_are_counted_without_ibis(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    code = (
        "import sys; from calibrant import engines; "
        f"engines.tally({str(tmp_path / 't.csv')!r}, score='p', label='y'); "
        "sys.exit('ibis' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
