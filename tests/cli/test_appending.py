"""New columns of a Parquet file: what was there stays as it is, and every reader finds both."""

import datetime as dt
import errno
import json
import os
from threading import Event

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.cli import appending
from calibrant.cli.appending import _moved, growable, regrouped
from calibrant.cli.footers import read_footer, write_footer
from calibrant.cli.problems import Problem

ROWS = 1000
DAY = dt.datetime(2024, 2, 29, tzinfo=dt.UTC)
OLD = pa.table(
    {
        "id": range(ROWS),
        "score": np.linspace(0, 1, ROWS).astype(np.float32),
        "words": [["a", None], None, [], ["b"]] * 250,
        "pair": [{"x": 1, "y": [{"z": 1.5}]}, None] * 500,
        "moment": pa.array([DAY, None] * 500, pa.timestamp("ns", "Europe/Rome")),
        "kind": pa.array(["u", "v"] * 500).dictionary_encode(),
        "money": pa.array([1, 2] * 500, pa.decimal128(12, 2)),
    }
)
NEW = pa.table({"p": np.linspace(0.1, 0.9, ROWS), "q": [None, 0.25, 0.5, 0.75] * 250})

WRITERS = {
    "arrow": lambda path: pq.write_table(OLD, path, row_group_size=300),
    "arrow, one group": lambda path: pq.write_table(OLD, path),
    "arrow, plain": lambda path: pq.write_table(OLD, path, version="1.0", store_schema=False, compression="none"),
    "arrow, indexed": lambda path: pq.write_table(
        OLD, path, row_group_size=99, write_page_index=True, data_page_size=99
    ),
    "arrow, zstd and checksums": lambda path: pq.write_table(
        OLD, path, compression="zstd", write_page_checksum=True, data_page_version="2.0"
    ),
    "duckdb": lambda path: duckdb.from_arrow(OLD).write_parquet(str(path), row_group_size=256),
    "polars": lambda path: pl.from_arrow(OLD.drop_columns("kind")).write_parquet(path, row_group_size=128),
}


@pytest.fixture(params=WRITERS)
def old(request, tmp_path):
    path = tmp_path / "old.parquet"
    WRITERS[request.param](path)
    return path


def grown(path, new=NEW, rows=170):
    target = path.with_name("new.parquet")
    found = growable(str(path), pq.read_schema(path).names)
    assert found.write(target, new.to_batches(max_chunksize=rows), new.schema) == len(new)
    return target


def test_every_reader_finds_old_and_new(old):
    target = grown(old)
    before = pq.read_table(old)
    after = pq.read_table(target, page_checksum_verification=True)
    assert after.drop_columns(["p", "q"]).equals(before, check_metadata=True)
    names = before.column_names
    in_duckdb = duckdb.sql(f"FROM '{target}'")
    assert in_duckdb.columns == [*names, "p", "q"]
    assert in_duckdb.to_arrow_table().select(names).equals(duckdb.sql(f"FROM '{old}'").to_arrow_table())
    assert pl.read_parquet(target).select(names).equals(pl.read_parquet(old))
    for found in (after, in_duckdb.to_arrow_table(), pl.read_parquet(target).to_arrow()):
        np.testing.assert_array_equal(found["p"].to_numpy(), NEW["p"].to_numpy())
        assert found["q"].to_pylist() == NEW["q"].to_pylist()


def test_what_was_there_keeps_its_bytes(old):
    target = grown(old)
    with old.open("rb") as file:
        footer, end = read_footer(file)
    with target.open("rb") as file:
        merged, _ = read_footer(file)
    assert target.read_bytes()[:end] == old.read_bytes()[:end]
    assert merged[3] == footer[3]
    before, after = pq.read_metadata(old), pq.read_metadata(target)
    assert after.num_columns == before.num_columns + 2
    for i in range(before.num_row_groups):
        mine, theirs = before.row_group(i), after.row_group(i)
        assert theirs.num_rows == mine.num_rows
        added = [theirs.column(before.num_columns + j).total_uncompressed_size for j in (0, 1)]
        assert theirs.total_byte_size == mine.total_byte_size + sum(added)
        assert all(theirs.column(j) == mine.column(j) for j in range(before.num_columns))


def test_a_filter_on_a_new_column_uses_its_own_statistics(old):
    target = grown(old)
    assert duckdb.sql(f"SELECT id FROM '{target}' WHERE p BETWEEN 0.8999 AND 1 ORDER BY id").fetchall() == [(999,)]
    assert pl.scan_parquet(target).filter(pl.col("p") > 0.8999).select("id").collect()["id"].to_list() == [999]


def test_a_pandas_index_survives(tmp_path):
    path = tmp_path / "old.parquet"
    frame = pd.DataFrame({"score": [0.1, 0.2]}, index=pd.Index(["x", "y"], name="key"))
    frame.to_parquet(path)
    found = pd.read_parquet(grown(path, pa.table({"p": [0.3, 0.4]})))
    pd.testing.assert_frame_equal(found, frame.assign(p=[0.3, 0.4]))


def test_the_columns_that_spark_lists_are_extended(tmp_path):
    path = tmp_path / "old.parquet"
    key = "org.apache.spark.sql.parquet.row.metadata"
    field = {"name": "s", "type": "double", "nullable": True, "metadata": {}}
    text = json.dumps({"type": "struct", "fields": [field]})
    pq.write_table(pa.table({"s": [0.5]}).replace_schema_metadata({key: text}), path)
    known = pq.read_metadata(grown(path, pa.table({"p": [0.3]}))).metadata
    assert json.loads(known[key.encode()]) == {"type": "struct", "fields": [field, field | {"name": "p"}]}


@pytest.mark.parametrize("size", [None, 0])
def test_a_table_without_rows(tmp_path, size):
    path = tmp_path / "old.parquet"
    with pq.ParquetWriter(path, OLD.schema) as writer:
        if size is not None:
            writer.write_table(OLD.slice(0, size))
    found = pq.read_table(grown(path, NEW.slice(0, 0)))
    assert found.num_rows == 0
    assert found.column_names == [*OLD.column_names, "p", "q"]


def test_groups_without_rows_stay_in_their_place(tmp_path):
    path = tmp_path / "old.parquet"
    with pq.ParquetWriter(path, OLD.schema) as writer:
        for start, end in ((0, 0), (0, 400), (400, 400), (400, 1000), (1000, 1000)):
            writer.write_table(OLD.slice(start, end - start))
    found = pq.read_table(grown(path))
    assert found["id"].to_pylist() == list(range(ROWS))
    assert found["q"].to_pylist() == NEW["q"].to_pylist()


def test_few_values_are_kept_in_a_dictionary(tmp_path):
    path = tmp_path / "old.parquet"
    pq.write_table(OLD, path)
    sizes = {}
    for name, values in (("steps", np.repeat([0.1, 0.5], 500)), ("lines", np.linspace(0, 1, ROWS))):
        known = pq.read_metadata(grown(path, pa.table({"p": values})))
        chunk = known.row_group(0).column(known.num_columns - 1)
        sizes[name] = chunk.total_compressed_size
        assert chunk.has_dictionary_page == (name == "steps")
    assert sizes["steps"] < sizes["lines"] / 20


@pytest.mark.parametrize("counted_from", [0, 5000])
def test_pages_are_found_however_the_writer_counts(tmp_path, counted_from):
    """Some writers give places in their own part of the file, others in the whole."""
    path = tmp_path / "old.parquet"
    pq.write_table(OLD, path, row_group_size=400)
    with path.open("rb") as file:
        footer, _ = read_footer(file)
    chunks = [chunk[3][1] for group in footer[4][1][1] for chunk in group[1][1][1]]
    for facts in chunks:
        facts |= {key: (facts[key][0], facts[key][1] + counted_from) for key in (9, 11) if key in facts}
    moved = [chunk[3][1] for group in _moved(footer, 5000)[4][1][1] for chunk in group[1][1][1]]
    shift = 5000 - counted_from
    assert [facts[9][1] for facts in moved] == [facts[9][1] + shift for facts in chunks]


def changed(path, change):
    with path.open("r+b") as file:
        footer, start = read_footer(file)
        change(footer)
        file.seek(start)
        write_footer(file, footer)


def test_files_that_cannot_grow_are_left_to_the_engine(tmp_path):
    path = tmp_path / "old.parquet"
    pq.write_table(OLD, path)
    assert growable(str(path), OLD.column_names) is not None
    assert growable(str(path), [*OLD.column_names, "year"]) is None, "a column from the name of a folder"
    changed(path, lambda footer: footer.__setitem__(8, (12, {})))
    assert growable(str(path), OLD.column_names) is None, "encrypted"
    pq.write_table(OLD.replace_schema_metadata({"iceberg.schema": "{}"}), path)
    assert growable(str(path), OLD.column_names) is None, "a description that would be wrong afterwards"
    pq.write_table(OLD, path)
    changed(path, lambda footer: footer.__setitem__(3, (6, 999)))
    assert growable(str(path), OLD.column_names) is None, "groups that do not add up to the rows"
    path.write_bytes(b"PAR1")
    assert growable(str(path), OLD.column_names) is None


def test_a_file_that_shrinks_meanwhile_is_noticed(tmp_path):
    path = tmp_path / "old.parquet"
    pq.write_table(OLD, path)
    found = growable(str(path), OLD.column_names)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(Problem, match="became shorter"):
        found.write(tmp_path / "new.parquet", NEW.to_batches(), NEW.schema)


def refusing(code):
    def copy(*_):
        raise OSError(code, "no")

    return copy


@pytest.mark.parametrize("way", ["as the system does", "not between disks", "no such call", "in small parts"])
def test_bytes_are_copied_in_every_way(tmp_path, monkeypatch, way):
    path = tmp_path / "old.bin"
    path.write_bytes(np.random.default_rng(0).bytes(700_001))
    if way == "not between disks":
        monkeypatch.setattr(os, "copy_file_range", refusing(errno.EXDEV), raising=False)
    elif way == "no such call":
        monkeypatch.delattr(os, "copy_file_range", raising=False)
    elif way == "in small parts":
        monkeypatch.setattr(appending, "BLOCK", 1001)
    target = tmp_path / "new.bin"
    target.touch()
    appending._copy(str(path), target, 700_000, Event())
    assert target.read_bytes() == path.read_bytes()[:-1]


def test_a_full_disk_is_not_tried_in_another_way(tmp_path, monkeypatch):
    path = tmp_path / "old.bin"
    path.write_bytes(b"abc")
    monkeypatch.setattr(os, "copy_file_range", refusing(errno.ENOSPC), raising=False)
    with pytest.raises(OSError, match="no") as caught:
        appending._copy(str(path), path, 3, Event())
    assert caught.value.errno == errno.ENOSPC


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 12))
def test_rows_are_regrouped_in_order(sizes, rows):
    table = pa.table({"p": np.arange(sum(sizes), dtype=float)})
    tables = list(regrouped(table.to_batches(max_chunksize=rows), table.schema, sizes))
    assert [len(part) for part in tables] == sizes
    assert [value for part in tables for value in part["p"].to_pylist()] == table["p"].to_pylist()
