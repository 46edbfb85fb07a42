"""A calibrated table has the map's own numbers, all columns, and the order of its rows."""

from dataclasses import replace

import duckdb
import numpy as np
import pytest

from calibrant import IsotonicCalibration, PlattScaling, simulate
from calibrant.cli.problems import Problem
from calibrant.cli.scoring import Scoring
from calibrant.cli.tables import Table, opened

DATA = simulate.from_truth("D1", 500)
ISOTONIC = IsotonicCalibration().fit(DATA.scores, DATA.labels).map_
PLATT = PlattScaling().fit(DATA.scores, DATA.labels).map_


def table(sql):
    connection = duckdb.connect()
    return Table("data", connection, connection.sql(sql))


def read(path):
    return duckdb.connect().execute(f"SELECT * FROM '{path}'").fetchnumpy()


def test_more_rows_than_a_batch_keep_their_order(tmp_path):
    path = tmp_path / "out.parquet"
    rows = table("SELECT i AS id, (i * 7919 % 10007) / 10007 AS s, 'x' AS word FROM range(300000) t(i)")
    scoring = Scoring(rows, {"p": ('"s"', ISOTONIC)})
    assert scoring.write(str(path), None) == 300_000
    found = read(path)
    assert list(found) == ["id", "s", "word", "p"]
    np.testing.assert_array_equal(found["id"], np.arange(300_000))
    np.testing.assert_allclose(found["p"], ISOTONIC(found["s"]), rtol=0, atol=1e-14)
    assert scoring.unusable() == 0


def test_scores_that_a_map_refuses_give_missing_values(tmp_path):
    path = tmp_path / "out.parquet"
    values = "VALUES (0.5), (NULL), ('NaN'::DOUBLE), ('inf'::DOUBLE), (1.5), (0.1)"
    scoring = Scoring(table(f"SELECT * FROM ({values}) t(s)"), {"p": ('"s"', PLATT)})
    scoring.write(str(path), None)
    found = duckdb.connect().execute(f"SELECT p FROM '{path}'").fetchall()
    assert [value is None for (value,) in found] == [False, True, True, True, True, False]
    assert scoring.unusable() == 4


def test_classes_add_up_to_one_even_where_all_are_impossible(tmp_path):
    path = tmp_path / "out.parquet"
    rows = table("SELECT * FROM (VALUES (0.2, 0.8), (0.5, 0.5), (0.0, 0.0)) t(a, b)")
    zero = IsotonicCalibration(target_correction=False).fit([0.0, 0.1, 0.9], [0, 0, 1]).map_
    Scoring(rows, {"pa": ('"a"', zero), "pb": ('"b"', zero)}, normalise=True).write(str(path), None)
    found = read(path)
    np.testing.assert_allclose(found["pa"] + found["pb"], 1.0)
    assert found["pa"][2] == 0.5


def test_a_taken_name_is_refused():
    with pytest.raises(Problem, match="already has a column 'p'"):
        Scoring(table("SELECT 0.1 AS p"), {"p": ('"p"', PLATT)})


@pytest.mark.parametrize("maps", [{"p": ('"s"', PLATT)}, {"pa": ('"s"', PLATT), "pb": ('1 - "s"', ISOTONIC)}])
def test_a_parquet_file_grows_by_what_the_engine_would_write(tmp_path, maps):
    path, target = tmp_path / "data.parquet", tmp_path / "out.parquet"
    values = "CASE WHEN i % 1000 = 7 THEN NULL ELSE (i * 7919 % 10007) / 10007 END AS s"
    duckdb.sql(f"COPY (SELECT i AS id, {values} FROM range(300000) t(i)) TO '{path}' (FORMAT parquet)")
    with opened([str(path)]) as rows:
        assert rows.parquet == str(path)
        by_engine = Scoring(replace(rows, parquet=None), maps, normalise=len(maps) > 1)
        assert by_engine.write(str(target), None) == 300_000
        wanted = target.read_bytes(), duckdb.sql(f"FROM '{target}'").to_arrow_table()
        appended = Scoring(rows, maps, normalise=len(maps) > 1)
        assert appended.write(str(target), None) == 300_000
        assert appended.unusable() == 300 * len(maps)
    assert target.read_bytes() != wanted[0], "these rows were to be appended"
    assert duckdb.sql(f"FROM '{target}'").to_arrow_table().equals(wanted[1])


def test_a_name_that_differs_by_its_case_only_is_refused():
    with pytest.raises(Problem, match="already has a column 'p'"):
        Scoring(table("SELECT 0.1 AS p"), {"P": ('"p"', PLATT)})
