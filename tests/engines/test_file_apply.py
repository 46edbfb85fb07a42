"""Tables with new columns: the map's own numbers, and old columns as they were, for every reader."""

import datetime as dt
import decimal

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="tables need the extra tables")
pq = pytest.importorskip("pyarrow.parquet")
duckdb = pytest.importorskip("duckdb", reason="tables need the extra tables")
pl = pytest.importorskip("polars")

from calibrant import IsotonicCalibration, PlattScaling, engines, simulate  # noqa: E402
from calibrant.engines.file_apply import output_format  # noqa: E402
from calibrant.errors import InvalidInputError  # noqa: E402
from calibrant.maps.matrix import MatrixMap, MatrixMember  # noqa: E402

DATA = simulate.from_truth("D1", 500, rng=0)
ISOTONIC = IsotonicCalibration().fit(DATA.scores, DATA.labels).map_
PLATT = PlattScaling().fit(DATA.scores, DATA.labels).map_
ROWS = 1000
DAY = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)
HUGE = decimal.Decimal("12345678901234567890123456789012345678901234567890.12")

COLUMNS = {
    "score": np.linspace(0, 1, ROWS),
    "decimal256": pa.array([HUGE, None] * 500, pa.decimal256(60, 2)),
    "money": pa.array([1, 2] * 500, pa.decimal128(12, 2)),
    "half": pa.array(np.arange(ROWS, dtype=np.float16)),
    "single": pa.array(np.arange(ROWS, dtype=np.float32)),
    "fixed": pa.array([b"abc", None] * 500, pa.binary(3)),
    "lasting": pa.array([1, None] * 500, pa.duration("us")),
    "zone": pa.array([DAY, None] * 500, pa.timestamp("us", "Europe/Rome")),
    "ms": pa.array([DAY, None] * 500, pa.timestamp("ms")),
    "us": pa.array([DAY, None] * 500, pa.timestamp("us")),
    "ns": pa.array([DAY, None] * 500, pa.timestamp("ns")),
    "time": pa.array([1, 2] * 500, pa.time32("ms")),
    "kind": pa.array(["u", "v", None, "u"] * 250).dictionary_encode(),
    "words": [["a", None], None, [], ["b"]] * 250,
    "pair": [{"x": 1, "y": [{"z": 1.5}]}, None] * 500,
    "small": pa.array([1, -1] * 500, pa.int8()),
    "unsigned": pa.array([1, 2**63] * 500, pa.uint64()),
    "nothing": pa.nulls(ROWS),
    "large": pa.array(["x", None] * 500, pa.large_string()),
}
OLD = pa.table(COLUMNS).replace_schema_metadata({"mine": "yes", "more": "ünd"})


def with_odd_names(table):
    for name in ("a", "A", ""):
        table = table.append_column(name, pa.array(range(ROWS)))
    return table


def read(path):
    return pq.ParquetFile(path).read()


# Before version 22 Arrow marked every time of day as one of UTC; such a column of DuckDB is refused then.
KEEPS_TIME = int(pa.__version__.partition(".")[0]) >= 22
WRITERS = {
    "arrow": lambda path: pq.write_table(OLD, path, row_group_size=300),
    "arrow, odd names": lambda path: pq.write_table(with_odd_names(OLD), path),
    "arrow, plain": lambda path: pq.write_table(
        OLD.drop_columns(["half"]), path, version="1.0", store_schema=False, compression="none"
    ),
    "arrow, zstd": lambda path: pq.write_table(OLD, path, compression="zstd", data_page_version="2.0"),
    "arrow, old timestamps": lambda path: pq.write_table(
        OLD.select(["score", "ns", "words"]), path, use_deprecated_int96_timestamps=True
    ),
    "duckdb": lambda path: duckdb.from_arrow(
        OLD.drop_columns(["decimal256", "half", "lasting", *([] if KEEPS_TIME else ["time"])])
    ).write_parquet(str(path), row_group_size=256),
    "polars": lambda path: pl.from_arrow(
        OLD.select(["score", "single", "words", "pair", "ms", "zone", "small"])
    ).write_parquet(path, row_group_size=128),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_parquet_keeps_every_old_column(tmp_path, writer):
    source, output = tmp_path / "old.parquet", tmp_path / "new.parquet"
    WRITERS[writer](source)
    assert engines.apply_file(PLATT, source, output)[:3] == (ROWS, 0, ["probability"])
    old, new = read(source), read(output)
    assert new.schema.metadata == old.schema.metadata
    kept = new.remove_column(new.num_columns - 1)
    assert kept.schema.equals(old.schema, check_metadata=True)
    assert kept.equals(old)
    np.testing.assert_array_equal(new.column(new.num_columns - 1).to_numpy(), PLATT(COLUMNS["score"]))
    first = pq.ParquetFile(source).metadata.row_group(0)
    for i in range(first.num_columns):
        there = pq.ParquetFile(output).metadata.row_group(0).column(i)
        if there.path_in_schema == first.column(i).path_in_schema:
            assert there.compression == first.column(i).compression


def test_other_readers_find_the_same_numbers(tmp_path):
    source, output = tmp_path / "old.parquet", tmp_path / "new.parquet"
    pq.write_table(OLD.select(["score", "small", "large"]), source, row_group_size=300)
    engines.apply_file(ISOTONIC, source, output)
    wanted = ISOTONIC(COLUMNS["score"])
    np.testing.assert_array_equal(pl.read_parquet(output)["probability"].to_numpy(), wanted)
    np.testing.assert_array_equal(duckdb.read_parquet(str(output)).fetchnumpy()["probability"], wanted)


def test_more_rows_than_a_batch_keep_their_order(tmp_path):
    path = tmp_path / "data.parquet"
    values = "CASE WHEN i % 1000 = 7 THEN NULL ELSE (i * 7919 % 10007) / 10007 END AS s"
    duckdb.sql(f"COPY (SELECT i AS id, {values} FROM range(300000) t(i)) TO '{path}'")
    done = engines.apply_file(ISOTONIC, path, path, score="s", name="p")
    assert done[:3] == (300_000, 300, ["p"])
    new = read(path)
    np.testing.assert_array_equal(new["id"].to_numpy(), np.arange(300_000))
    scores = new["s"].to_numpy()
    known = ~np.isnan(scores)
    np.testing.assert_array_equal(new["p"].to_numpy()[known], ISOTONIC(scores[known]))
    assert new["p"].null_count == 300


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("other", ["csv", "jsonl", "parquet"])
def test_from_any_format_to_any(tmp_path, ending, other):
    source, middle, output = tmp_path / "a.parquet", tmp_path / f"b.{ending}", tmp_path / f"c.{other}"
    pq.write_table(pa.table({"score": [0.25, 0.5, None], "word": ["a", 'b "c", d', None]}), source)
    engines.apply_file(PLATT, source, middle, name="p")
    engines.apply_file(PLATT, middle, output, name="q")
    with engines.open_table(output) as table:
        assert table.columns == ["score", "word", "p", "q"]
        rows = table.values("SELECT * FROM rows")
    p, q = PLATT([0.25, 0.5])
    assert rows == [(0.25, "a", p, p), (0.5, 'b "c", d', q, q), (None, None, None, None)]


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_only_new(tmp_path, ending):
    source = tmp_path / "a.parquet"
    pq.write_table(pa.table({"probability": [[1], [2]], "score": [0.25, 0.5]}), source)
    engines.apply_file(PLATT, source, tmp_path / f"b.{ending}", only_new=True)
    with engines.open_table(tmp_path / f"b.{ending}") as table:
        assert table.columns == ["probability"]
        assert table.values("SELECT * FROM rows") == [(p,) for p in PLATT([0.25, 0.5])]


def test_classes_and_highest_scores(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"b": [0.75, 0.5], "a": [0.25, 0.5]}), path)
    map_ = MatrixMap(("cat", "dog"), "probability", 2.0, (MatrixMember(1.0),), columns=("a", "b"))
    done = engines.apply_file(map_, path, tmp_path / "b.parquet")
    assert done[:3] == (2, 0, ["probability_cat", "probability_dog"])
    new = read(tmp_path / "b.parquet").to_pydict()
    np.testing.assert_allclose(new["probability_cat"], [0.1, 0.5])  # the odds 1 : 3, squared
    engines.apply_file(map_, path, tmp_path / "b.parquet", score=["b", "a"], name="p", only_new=True)
    np.testing.assert_allclose(read(tmp_path / "b.parquet")["p_cat"].to_numpy(), [0.9, 0.5])
    engines.apply_file(PLATT, path, tmp_path / "b.parquet", score=["a", "b"])
    np.testing.assert_array_equal(read(tmp_path / "b.parquet")["probability"].to_numpy(), PLATT([0.75, 0.5]))


def test_text_keeps_the_mode_of_the_file_and_its_packing(tmp_path):
    source = tmp_path / "a.parquet"
    pq.write_table(pa.table({"score": [0.25]}), source)
    for name in ("b.csv", "b.jsonl.zst"):
        output = tmp_path / name
        output.touch(mode=0o640)
        output.chmod(0o640)
        engines.apply_file(PLATT, source, output)
        assert output.stat().st_mode & 0o777 == 0o640
        with engines.open_table(output) as table:
            assert table.values("SELECT score FROM rows") == [(0.25,)]


def test_several_files(tmp_path):
    for name in ("a", "b"):
        pq.write_table(OLD, tmp_path / f"{name}.parquet")
    assert engines.apply_file(PLATT, tmp_path / "?.parquet", tmp_path / "out.parquet").rows == 2 * ROWS
    assert read(tmp_path / "out.parquet").slice(ROWS).drop_columns("probability").equals(read(tmp_path / "b.parquet"))
    pq.write_table(OLD.drop_columns("money"), tmp_path / "c.parquet")
    with pytest.raises(InvalidInputError, match=r"c\.parquet must have the same columns and types .* 'money: decimal"):
        engines.apply_file(PLATT, tmp_path / "?.parquet", tmp_path / "out2.parquet")


def test_refusals(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"score": ["x"], "p": [1]}), path)
    with pytest.raises(InvalidInputError, match="scores in 'score' must be numbers"):
        engines.apply_file(PLATT, path, tmp_path / "b.parquet")
    with pytest.raises(InvalidInputError, match="already has a column 'p'"):
        engines.apply_file(PLATT, path, tmp_path / "b.parquet", name="P")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.parquet"]
    assert output_format("a.pq", None) == "parquet"
    assert output_format("a.pq", "json") == "json"
    with pytest.raises(InvalidInputError, match="does not say the format"):
        output_format("a.xls", None)
    with pytest.raises(InvalidInputError, match="`format` must be one of"):
        output_format("a.csv", "xls")
