import numpy as np
import pytest

from calibrant.errors import InvalidInputError
from calibrant.export.matrix_sql import MOST_CLASSES, matrix_to_sql
from calibrant.maps.matrix import MatrixMap, MatrixMember

duckdb = pytest.importorskip("duckdb", reason="the export is checked with DuckDB")
pytest.importorskip("sqlglot", reason="the export is written with sqlglot")

NAMES = ["a", "b", "c"]


def run(query, rows):
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        table = {name: np.array(column, dtype=float) for name, column in zip(NAMES, np.transpose(rows), strict=True)}
        connection.register("scores", table | {"id": np.arange(len(rows))})
        return connection.sql(f"SELECT * FROM ({query}) ORDER BY id").fetchnumpy()


@pytest.mark.parametrize("dialect", ["bigquery", "duckdb", "postgres", "snowflake", "spark"])
def test_every_part_in_every_dialect(full_map, dialect):
    assert "calibrant test vector" in matrix_to_sql(full_map, columns=NAMES, dialect=dialect)


def test_columns_are_named_after_classes_and_others_kept(full_map, rows_with_zeros):
    out = run(matrix_to_sql(full_map, columns=NAMES, keep=["id"]), rows_with_zeros)
    assert list(out) == ["id", "calibrated_a", "calibrated_b", 'calibrated_c */ """']
    np.testing.assert_allclose(np.column_stack(list(out.values())[1:]), full_map(rows_with_zeros), atol=1e-13)


def test_fitted_maps(fitted_map, rows_with_zeros):
    out = run(matrix_to_sql(fitted_map, columns=NAMES, keep=["id"]), rows_with_zeros)
    np.testing.assert_allclose(np.column_stack(list(out.values())[1:]), fitted_map(rows_with_zeros), atol=1e-12)


def test_kept_columns_may_have_any_name(map_of_probabilities, rows_with_zeros):
    query = matrix_to_sql(map_of_probabilities, columns=NAMES, keep=["a", "id"])
    assert list(run(query, rows_with_zeros)["a"]) == list(rows_with_zeros[:, 0])
    for name in ("accepted", "x_0", "kept_1"):
        assert f'kept_0 AS "{name}"' in matrix_to_sql(map_of_probabilities, columns=NAMES, keep=[name, "id"])


def test_rows_that_the_map_refuses_are_null(map_of_probabilities):
    query = matrix_to_sql(map_of_probabilities, columns=NAMES, keep=["id"])
    out = run(query, [[0.5, 0.6, 0.5], [np.nan, 0.5, 0.5], [-0.5, 1.0, 0.5], [0.2, 0.3, 0.5]])
    assert np.ma.getmaskarray(out["calibrated_a"]).tolist() == [True, True, True, False]


def test_postgres_computes_each_step_once(map_of_probabilities):
    """Otherwise it substitutes every step into the next, and does not finish."""
    query = matrix_to_sql(map_of_probabilities, columns=NAMES, dialect="postgres")
    assert query.count("AS MATERIALIZED (SELECT") == query.count("FROM step_")


def test_names_are_quoted(map_of_probabilities):
    query = matrix_to_sql(map_of_probabilities, columns=['x"; DROP TABLE t', "b", "c"], table="main.t")
    assert '"x""; DROP TABLE t"' in query
    assert 'FROM "main"."t"' in query


def test_many_classes_and_wrong_arguments_are_refused(map_of_probabilities):
    n = MOST_CLASSES + 1
    many = MatrixMap(tuple(range(n)), "logits", 1.0, (MatrixMember(1.0),))
    with pytest.raises(InvalidInputError, match="at most 12 classes; the map has 13"):
        matrix_to_sql(many)
    with pytest.raises(InvalidInputError, match="`columns` must name the 3 score columns; got 2"):
        matrix_to_sql(map_of_probabilities, columns=["a", "b"])
    with pytest.raises(InvalidInputError, match="`dialect` must be one that sqlglot writes"):
        matrix_to_sql(map_of_probabilities, dialect="prose")
