import json
import re
from functools import partial

import numpy as np
import pytest

from calibrant import SegmentedCalibrator
from calibrant.errors import InvalidInputError
from calibrant.export import to_sql
from calibrant.maps.tabulate import tabulate_logits

duckdb = pytest.importorskip("duckdb", reason="the export is checked with DuckDB")
pytest.importorskip("sqlglot", reason="the export is written with sqlglot")

OFF = 3e-3  # of the tables below from their formula


def fit(missing="error", **segment):
    rng = np.random.default_rng(4)
    n = len(next(iter(segment.values())))
    scores = rng.uniform(0.02, 0.98, n)
    y = rng.random(n) < np.where(np.arange(n) % 2 == 0, scores, scores**2)
    return SegmentedCalibrator("platt", missing=missing).fit(scores, y, segment=segment).map_


def run(text, **columns):
    import pyarrow as pa

    with duckdb.connect() as connection:
        rows = len(next(iter(columns.values())))
        connection.register("t", pa.table(columns | {"i": np.arange(rows)}))
        found = connection.sql(f"SELECT {text} FROM t ORDER BY i").fetchall()
    return np.array([np.nan if row[0] is None else row[0] for row in found], dtype=float)


@pytest.fixture(scope="module", autouse=True)
def _coarse():
    """Short tables of the formula, so that the SQL is short: it must equal the tables, however close those are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calibrant.maps.tabulate.ON_LOGITS", 0.2)
        patch.setattr("calibrant.maps.segments.tabulate_logits", partial(tabulate_logits, tolerance=OFF))
        yield


@pytest.fixture(scope="module")
def map_():
    return fit("segment", team=np.array(["a", "it's"] * 300), cup=np.array([-2, -2, -2, None, -2, None] * 100, object))


@pytest.fixture(scope="module")
def text(map_):
    return to_sql(map_, column="p", by=["team", "no. of cup".replace(".", "")])


def test_duckdb_computes_what_python_computes(map_, text):
    rng = np.random.default_rng(0)
    p, team = rng.random(500), rng.choice(["a", "it's", "new"], 500)
    cup = rng.choice(np.array([1, -2, 7, None], object), 500)
    got = run(text, p=p, team=team, **{"no of cup": cup})
    np.testing.assert_allclose(got, map_(p, {"team": team, "cup": cup}), atol=3 * OFF)


def test_it_is_exactly_the_maps_of_the_segments(map_, text):
    p, segments = np.linspace(0.0, 1.0, 301), [("a", -2), ("it's", None), ("new", -2), ("new", 9)]
    team, cup = ([segment[k] for segment in segments for _ in p] for k in (0, 1))
    expected = np.concatenate([map_.map_for(segment)(p) for segment in segments])
    np.testing.assert_allclose(run(text, p=np.tile(p, 4), team=team, **{"no of cup": cup}), expected, atol=1e-12)


def test_scores_that_are_refused_become_null(text):
    assert np.isnan(run(text, p=[1.5, np.nan, 0.5], team=["a"] * 3, **{"no of cup": [-2] * 3})).tolist() == [
        True,
        True,
        False,
    ]


def test_it_carries_a_test_vector(map_, text):
    vector = json.loads(re.search(r"test vector (.*) \*/", text)[1])
    segment = {"team": [s[0] for s in vector["segments"]], "cup": np.array([s[1] for s in vector["segments"]], object)}
    np.testing.assert_allclose(map_(vector["scores"], segment), vector["probabilities"], atol=3 * OFF)


@pytest.mark.parametrize("dialect", ["postgres", "spark", "bigquery", "snowflake", "sqlite"])
def test_every_dialect(dialect):
    map_ = fit(truth=np.array([True, False] * 100))
    assert "calibrant test vector" in to_sql(map_, dialect=dialect)


def test_missing_segments_give_null_where_python_refuses_them():
    map_ = fit(team=np.array(["a", "b"] * 100))
    got = run(to_sql(map_), score=[0.5, 0.5], team=["a", None])
    assert np.isnan(got).tolist() == [False, True]


def test_names_cannot_leave_their_quotes():
    map_ = fit(team=np.array(["a' THEN 1 --", "*/ b"] * 100))
    got = run(to_sql(map_, by=["t"]), score=[0.5, 0.5], t=["a' THEN 1 --", "*/ b"])
    np.testing.assert_allclose(got, map_([0.5, 0.5], ["a' THEN 1 --", "*/ b"]), atol=3 * OFF)


def test_what_is_too_long_is_refused(map_, monkeypatch):
    monkeypatch.setattr("calibrant.export.case_tree.MOST_TOGETHER", 20)
    with pytest.raises(InvalidInputError, match="at most 20 pieces to become SQL; this one has 9 maps of"):
        to_sql(map_)
    monkeypatch.setattr("calibrant.export.case_tree.MOST_TOGETHER", 8)
    with pytest.raises(InvalidInputError, match=r"this one has 9 maps\. Use fewer"):
        to_sql(map_)


def test_columns_must_be_as_many_as_keys(map_):
    with pytest.raises(InvalidInputError, match="a column for each key of the fit, team, cup; got 1"):
        to_sql(map_, by=["team"])
    with pytest.raises(InvalidInputError, match="`by` is for a map of segments"):
        to_sql(map_.pooled, by=["team"])
