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
