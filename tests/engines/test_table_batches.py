"""Batches in every format; a column that cannot be kept is named."""

import json

import pytest

pa = pytest.importorskip("pyarrow", reason="tables need the extra tables")
pq = pytest.importorskip("pyarrow.parquet")

from calibrant.engines.table_batches import SPARK, add_fields, parquet_options, write_parquet, write_text  # noqa: E402
from calibrant.errors import InvalidInputError  # noqa: E402

TABLE = pa.table({"n": [1, None], "x": [0.1, 1e-300], "text": ['a "b", c', ""], "day": pa.array([0, 1], pa.date32())})


def write(path, kind, table, output=""):
    if kind == "parquet":
        write_parquet(path, table.schema, table.to_batches())
    else:
        write_text(kind, path, table.schema, table.to_batches(), output=output, csv={})
    return path.read_bytes()


def test_csv(tmp_path):
    text = write(tmp_path / "a", "csv", TABLE).decode()
    assert text == 'n,x,text,day\n1,0.1,"a ""b"", c",1970-01-01\n,1e-300,"",1970-01-02\n'
    assert write(tmp_path / "b", "csv", TABLE.slice(0, 0)).decode() == "n,x,text,day\n"


def test_json(tmp_path):
    lines = [json.loads(line) for line in write(tmp_path / "a", "json", TABLE).decode().splitlines()]
    assert lines[1] == {"n": None, "x": 1e-300, "text": "", "day": "1970-01-02"}
    for column in ([float("nan")], [[1.0, float("inf")]], [{"a": [{"b": float("nan")}]}]):
        with pytest.raises(InvalidInputError, match="Column 'x' has NaN or infinity, which JSON cannot hold"):
            write(tmp_path / "b", "json", pa.table({"x": column}))


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_name_that_would_change_is_refused(tmp_path, kind):
    with pytest.raises(InvalidInputError, match=r"^Column 'A' cannot be written as .*: it would be called 'A_1'"):
        write(tmp_path / "a", kind, pa.table({"a": [1], "A": [2]}))


def test_parquet(tmp_path):
    write(tmp_path / "a", "parquet", TABLE)
    assert pq.ParquetFile(tmp_path / "a").read().equals(TABLE)


def test_packed_text(tmp_path):
    write(tmp_path / "a.csv.gz", "csv", TABLE, "a.csv.gz")
    assert pa.input_stream(str(tmp_path / "a.csv.gz")).read().startswith(b"n,x,text")


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("csv", [[1]]),
        ("csv", [{"a": 1}]),
        ("csv", pa.array([1], pa.decimal256(60, 2))),
        ("json", [b"a"]),
        ("json", pa.array([1], pa.duration("s"))),
    ],
)
def test_types_that_a_text_format_cannot_hold(tmp_path, kind, column):
    table = pa.table({"x": [1], "odd": column})
    with pytest.raises(InvalidInputError, match=f"^Column 'odd' of type .* cannot be written as {kind.upper()}"):
        write(tmp_path / "a", kind, table)


def test_fields():
    schema = add_fields(TABLE.schema.with_metadata({"mine": "yes"}), ["p"])
    assert schema.names[-1] == "p"
    assert schema.metadata == {b"mine": b"yes"}
    spark = TABLE.schema.with_metadata({SPARK: json.dumps({"type": "struct", "fields": []})})
    fields = json.loads(add_fields(spark, ["p"]).metadata[SPARK])["fields"]
    assert fields == [{"name": "p", "type": "double", "nullable": True, "metadata": {}}]


def test_parquet_is_packed_as_it_was(tmp_path):
    path = tmp_path / "a.parquet"
    for given, kept in (("zstd", "ZSTD"), ("none", "NONE"), ({"n": "gzip"}, "GZIP")):
        pq.write_table(TABLE, path, compression=given)
        assert parquet_options(str(path), add_fields(TABLE.schema, ["p"]))["compression"] == kept
    pq.write_table(TABLE.slice(0, 0), path, compression="gzip")
    write_parquet(path, TABLE.schema, [], **parquet_options(str(path), TABLE.schema))
    assert pq.read_table(path).equals(TABLE.slice(0, 0))


def test_a_type_that_would_change_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path)
    other = pa.schema([("n", pa.int64()), ("x", pa.float64()), ("text", pa.binary()), ("day", pa.date32())])
    with pytest.raises(
        InvalidInputError, match="Column 'text' cannot be kept as it is: String would become BYTE_ARRAY"
    ):
        parquet_options(str(path), other)
