"""One table, every backend: the same tally, number for number, and the same errors."""

import os
import shutil
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from calibrant import Blend, IsotonicCalibration, Tally, engines, export
from calibrant.errors import InvalidInputError

pytest.importorskip("narwhals", reason="engines need Narwhals")
duckdb = pytest.importorskip("duckdb", reason="engines need DuckDB")
pa = pytest.importorskip("pyarrow", reason="engines need pyarrow")

from calibrant.engines import tally_table  # noqa: E402 - after the checks that the packages are there

# pyspark warns of pandas 3 and of sockets that it leaves to the garbage collector; Ibis 12 calls a method of DuckDB by
# an old name.
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("Spark needs a Java runtime, and there is none")
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # looking up the host's name can take half a minute
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need the packages of the driver
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame():
    rng, n = np.random.default_rng(0), 8000
    scores = np.where(rng.random(n) < 0.5, rng.beta(0.1, 3.0, n), 1 - 10.0 ** rng.uniform(-9, 0, n))
    labels = (rng.random(n) < scores).astype(np.int64)
    day = np.array(["mon", "it's", None], object)[rng.integers(0, 3, n)]
    return pd.DataFrame(
        {
            "s": scores,
            "logit": rng.normal(1 / 3, 3.0, n),
            "peak": np.where(rng.random(n) < 0.9, 0.37 + 1e-6 * rng.random(n), scores),
            "few": np.round(scores, 2),
            "mixed": np.where(day == "mon", np.round(scores, 2), scores),  # crowded on other days
            "y": labels,
            "word": np.where(labels == 1, "yes", "no"),
            "truth": labels == 1,
            "sign": 2 * labels - 1,
            "three": labels + (scores > 0.99),
            "day": day,
            "year": rng.integers(2024, 2027, n),
            "w": rng.integers(0, 4, n) / 2,
            "minus": rng.integers(-1, 4, n) / 2,
            "gap": np.where(rng.random(n) < 0.001, np.nan, scores),
        }
    )


@pytest.fixture(scope="module")
def path(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    frame.to_parquet(path, index=False)
    return str(path)


def in_ibis(path):
    ibis = pytest.importorskip("ibis", reason="Ibis is not installed")
    return ibis.duckdb.connect().read_parquet(path)


def in_polars(path):
    return pytest.importorskip("polars", reason="Polars is not installed").scan_parquet(path)


def in_dask(frame):
    return pytest.importorskip("dask.dataframe", reason="Dask is not installed").from_pandas(frame, npartitions=2)


OPEN = {
    "pandas": lambda rows: rows.frame,
    "pandas of Arrow": lambda rows: pd.read_parquet(rows.path, dtype_backend="pyarrow"),
    "pyarrow": lambda rows: pa.Table.from_pandas(rows.frame, preserve_index=False),
    "polars": lambda rows: in_polars(rows.path).collect(),
    "polars lazy": lambda rows: in_polars(rows.path),
    "duckdb": lambda rows: duckdb.read_parquet(rows.path),
    "ibis": lambda rows: in_ibis(rows.path),
    "dask": lambda rows: in_dask(rows.frame),
}


@pytest.fixture(scope="module", params=[*OPEN, "pyspark"])
def table(request, frame, path):
    if request.param == "pyspark":
        return request.getfixturevalue("spark").read.parquet(path)
    return OPEN[request.param](SimpleNamespace(frame=frame, path=path))


@pytest.fixture
def crowded(monkeypatch):
    """Scores that do not fit into the cells are crowded, however few they are."""
    monkeypatch.setattr(tally_table, "FETCHED", 0)


@pytest.mark.usefixtures("crowded")
@pytest.mark.parametrize("score", ["s", "logit", "peak"])
def test_crowded_scores_are_the_same_number_for_number(table, path, frame, score):
    options = {"score": score, "label": "y", "max_cells": 400}
    tally = engines.tally(table, **options)
    assert tally == engines.tally(path, **options)
    assert (tally.total, tally.total_positive) == (len(frame), frame["y"].sum())
    exact = Tally.from_arrays(frame[score], frame["y"], max_cells=400)
    assert len(tally) >= 0.5 * len(exact)
    assert tally != exact


@pytest.mark.parametrize("score", ["s", "logit", "peak"])
def test_not_too_many_scores_are_counted_as_by_arrays(table, frame, score):
    tally = engines.tally(table, score=score, label="y", max_cells=400)
    assert tally == Tally.from_arrays(frame[score], frame["y"], max_cells=400)


@pytest.mark.parametrize(("label", "pos_label"), [("y", None), ("truth", None), ("sign", None), ("word", "yes")])
def test_scores_that_fit_are_counted_as_by_arrays(table, frame, label, pos_label):
    tally = engines.tally(table, score="few", label=label, pos_label=pos_label)
    assert tally == Tally.from_arrays(frame["few"], frame["y"])


@pytest.mark.parametrize("by", ["day", "year"])
def test_segments_are_the_same(table, frame, by):
    tallies = engines.tally(table, score="mixed", label="y", by=by, max_cells=200)
    assert list(tallies) == (["it's", "mon", None] if by == "day" else [2024, 2025, 2026])
    for value, tally in tallies.items():
        own = frame[frame[by].isna() if value is None else frame[by] == value]
        assert tally == Tally.from_arrays(own["mixed"], own["y"], max_cells=200)


@pytest.mark.usefixtures("crowded")
def test_segments_of_crowded_scores_are_the_same(table, path, frame):
    options = {"score": "peak", "label": "y", "by": ["day", "year"], "max_cells": 50}
    tallies = engines.tally(table, **options)
    assert tallies == engines.tally(path, **options)
    sizes = frame.groupby(["day", "year"], dropna=False).size()
    assert [tally.total for tally in tallies.values()] == sizes.tolist()
    assert all(25 <= len(tally) <= 50 for tally in tallies.values())


def test_segments_of_several_keys_are_tuples(table, path, frame):
    options = {"score": "mixed", "label": "y", "by": ["day", "truth", "year"], "max_cells": 200}
    tallies = engines.tally(table, **options)
    assert tallies == engines.tally(path, **options)
    assert next(iter(tallies)) == ("it's", False, 2024)
    assert list(tallies)[-1] == (None, True, 2026)
    own = frame[(frame["day"] == "mon") & frame["truth"] & (frame["year"] == 2025)]
    assert tallies["mon", True, 2025] == Tally.from_arrays(own["mixed"], own["y"])
    missing = frame["day"].isna() & ~frame["truth"] & (frame["year"] == 2024)
    assert tallies[None, False, 2024].total == missing.sum()
    assert sum(tally.total for tally in tallies.values()) == len(frame)


def test_weights_are_added_up(table, frame):
    tally = engines.tally(table, score="few", label="y", weight="w")
    assert tally == Tally.from_arrays(frame["few"], frame["y"], frame["w"])


@pytest.mark.usefixtures("crowded")
def test_weights_are_added_up_in_cells(table, frame):
    cells = engines.tally(table, score="s", label="y", weight="w", max_cells=100)
    assert (cells.total, cells.total_positive) == (frame["w"].sum(), frame["w"][frame["y"] == 1].sum())
    mean = np.average(frame["s"], weights=frame["w"])
    assert np.average(cells.scores, weights=cells.totals) == pytest.approx(mean, rel=1e-3)


def test_errors_are_the_same(table, frame):
    with pytest.raises(InvalidInputError, match="there is no 'score'"):
        engines.tally(table, score="score", label="y")
    with pytest.raises(InvalidInputError, match="`three` must have two classes; got 3"):
        engines.tally(table, score="s", label="three")
    with pytest.raises(InvalidInputError, match="with `pos_label`"):
        engines.tally(table, score="s", label="word")
    with pytest.raises(InvalidInputError, match="`gap` must be finite"):
        engines.tally(table, score="gap", label="y")
    with pytest.raises(InvalidInputError, match="`word` must be numbers; got string"):
        engines.tally(table, score="word", label="y")
    n_bad = (frame["minus"] < 0).sum()
    with pytest.raises(InvalidInputError, match=f"`minus` must be finite and not negative; {n_bad} rows? ha"):
        engines.tally(table, score="s", label="y", weight="minus")


def test_a_folder_that_spark_wrote_is_a_table(spark, path, tmp_path):
    folder = tmp_path / "written"
    spark.read.parquet(path).repartition(3).write.parquet(str(folder))
    options = {"score": "s", "label": "y"}
    assert engines.tally(folder, **options) == engines.tally(path, **options)


def test_a_map_as_an_arrow_function_of_spark(spark, path, frame):
    map_ = IsotonicCalibration().fit(frame["few"], frame["y"]).map_

    def add_probability(blocks):
        for block in blocks:
            yield block.append_column("p", pa.array(map_(block.column("s").to_numpy())))

    scored = spark.read.parquet(path).select("s").mapInArrow(add_probability, "s DOUBLE, p DOUBLE").toPandas()
    assert len(scored) == len(frame)
    np.testing.assert_array_equal(scored["p"], map_(scored["s"]))


def test_sql_of_many_pieces_is_computed_by_spark(spark):
    pytest.importorskip("sqlglot", reason="SQL needs sqlglot")
    rng = np.random.default_rng(0)
    scores = rng.random(3000)
    map_ = Blend().fit(scores, rng.random(3000) < scores**2).map_
    spark.conf.set("spark.sql.codegen.wholeStage", "false")  # as the page on exports says, for an expression this long
    try:
        text = export.to_sql(map_, dialect="spark")
        found = (
            spark.createDataFrame(pd.DataFrame({"score": scores[:50]})).selectExpr("score", f"{text} AS p").toPandas()
        )
    finally:
        spark.conf.unset("spark.sql.codegen.wholeStage")
    np.testing.assert_allclose(found["p"], map_(found["score"].to_numpy()), atol=1e-12)
