"""DuckDB's answers through the few words of Ibis, against values worked out by hand; test_sources has Ibis's own."""

import datetime as dt

import numpy as np
import pytest

from calibrant.engines.relations import Kind, Relation, cases, constant, number

duckdb = pytest.importorskip("duckdb", reason="engines need DuckDB")

ROWS = """
SELECT * FROM (
    VALUES (1, 0.5::DOUBLE, 'a', true), (2, 1.5, 'b', false), (3, NULL, NULL, NULL), (4, 'nan'::DOUBLE, 'a', true)
) AS t (i, x, "we""ird.x", flag)
"""


@pytest.fixture
def table():
    with duckdb.connect() as connection:
        yield Relation(connection.sql(ROWS))


def values(table, **columns):
    found = table.select(i=table.i, **columns).collect()
    order = np.argsort(found["i"])
    return [found[name][order].tolist() for name in columns]


def test_kinds():
    assert [Kind(name).is_integer() for name in ("tinyint", "uhugeint", "uinteger", "double")] == [True] * 3 + [False]
    assert [Kind(name).is_numeric() for name in ("integer", "decimal", "float", "boolean")] == [True] * 3 + [False]
    assert Kind("boolean").is_boolean()
    assert Kind("double").is_float64()
    assert not Kind("float").is_float64()
    assert str(Kind("varchar")) == "string"  # as for any other engine
    assert str(Kind("date")) == "date"


def test_every_number_of_duckdb_is_known():
    names = (
        "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT FLOAT DOUBLE DECIMAL(9,2)"
    )
    for name in names.split():
        kind = Relation(duckdb.sql(f"SELECT 1::{name} AS x")).x.type()
        assert kind.is_numeric(), name
        assert kind.is_integer() == name.endswith("INT" if "INTEGER" not in name else "INTEGER"), name


def test_columns_have_the_names_and_types_of_the_table(table):
    assert table.columns == ["i", "x", 'we"ird.x', "flag"]
    assert table['we"ird.x'].type() == Kind("varchar")
    assert table.flag.type().is_boolean()
    with pytest.raises(TypeError, match="only a column of a table"):
        (table.x + table.x).type()


def test_operators(table):
    x, i = table.x, table.i
    found = values(table, a=i + i, b=i - 1, c=i * 2, d=i / 4, e=i == 2, f=i < 2, g=i <= 2, h=i > 2, j=i >= 2)
    assert found[:4] == [[2, 4, 6, 8], [0, 1, 2, 3], [2, 4, 6, 8], [0.25, 0.5, 0.75, 1.0]]
    assert [[k for k, true in enumerate(column, start=1) if true] for column in found[4:]] == [
        [2],
        [1],
        [1, 2],
        [3, 4],
        [2, 3, 4],
    ]
    either, both, neither = values(table, a=(i < 2) | (i > 3), b=(i > 1) & (i < 4), c=~(i > 1))
    assert (either, both, neither) == ([True, False, False, True], [False, True, True, False], [True] + [False] * 3)
    assert values(table, a=x.isnull())[0] == [False, False, True, False]
    assert values(table, a=x.isnan().fill_null(False))[0] == [False, False, False, True]
    assert values(table, a=(number(1.0) / number(0.0)).isinf())[0] == [True] * 4


def test_choices(table):
    (named,) = values(table, a=table['we"ird.x'].isin(["a", "it's"]).fill_null(False))
    assert named == [True, False, False, True]
    (chosen,) = values(table, a=cases((table.i == 1, number(10.0)), (table.i < 3, number(20.0)), else_=table.x))
    assert chosen[:2] == [10.0, 20.0]
    assert np.isnan(chosen[2:]).all()


def test_types_are_changed_or_missing(table):
    whole, small = values(table, a=table.x.try_cast("int64"), b=table.flag.cast("int8"))
    assert whole[:2] == [0, 2]  # to the even one
    assert np.isnan(whole[2:]).all()
    assert small[0::3] == [1, 1]
    assert small[1] == 0
    assert np.isnan(small[2])
    with pytest.raises(duckdb.Error):
        values(table, a=table.x.cast("int64"))


@pytest.mark.parametrize("value", [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 2.0**53 + 2, np.inf])
def test_numbers_are_exact(table, value):
    (found,) = values(table, a=number(value))
    assert found == [value] * 4
    assert np.signbit(found[0]) == np.signbit(value)


def test_aggregates(table):
    found = table.aggregate(
        rows=table.count(), known=table.x.count(), low=table.i.min(), high=table.i.max(), total=table.i.sum()
    ).collect()
    assert {name: column.tolist() for name, column in found.items()} == {
        "rows": [4],
        "known": [3],
        "low": [1],
        "high": [4],
        "total": [10.0],
    }
    assert found["total"].dtype == np.float64


def test_groups_and_ranks(table):
    counted = table.aggregate(by=("flag",), n=table.count()).collect()
    flags = [None if np.isnan(flag) else bool(flag) for flag in counted["flag"].astype(float)]
    assert dict(zip(flags, counted["n"].tolist(), strict=True)) == {True: 2, False: 1, None: 1}
    ranked = table.ranked("flag", "i")
    assert values(ranked, a=ranked["rank"])[0] == [0, 0, 0, 1]
    kept = ranked.filter(ranked["rank"] < 1).drop("rank")
    assert kept.columns == table.columns
    assert sorted(kept.collect()["i"].tolist()) == [1, 2, 3]


def test_shapes_of_tables(table):
    wider = table.mutate(j=table.i + 1)
    assert wider.columns == [*table.columns, "j"]
    assert len(table.limit(2).collect()["i"]) == 2
    assert sorted(table.select(one=constant(1)).distinct().collect()["one"].tolist()) == [1]


def test_other_types_come_through_arrow():
    table = Relation(duckdb.sql("SELECT DATE '2026-01-02' AS day, 'x' AS name, 1.25::DECIMAL(5, 2) AS price"))
    found = {name: column.tolist() for name, column in table.collect().items()}
    assert found["day"] == [dt.date(2026, 1, 2)]
    assert (found["name"], float(found["price"][0])) == (["x"], 1.25)


def test_it_cannot_be_copied_by_mistake(table):
    with pytest.raises(AttributeError):
        table.__deepcopy__  # noqa: B018 - a missing special name is no column


def test_words_in_a_file_are_counted_as_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("p,y,z\n0.1,true,True\n0.2,false,False\n0.9,true,\n")
    with duckdb.connect() as connection:
        table = Relation(connection.read_csv(str(path)))
        assert table.aggregate(n=table.y.cast("int8").sum(), m=table.z.cast("float64").sum()).collect() == {
            "n": 2,
            "m": 1,
        }
