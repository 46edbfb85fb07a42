"""The same tallies, scores and errors from Spark as from DuckDB: one local session for the whole file."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest

from calibrant import BetaCalibration, CalibrationMap, IsotonicCalibration, Tally, engines, map_functions
from calibrant.errors import InvalidInputError

ibis = pytest.importorskip("ibis", reason="engines need ibis")
pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
    pytest.skip("Spark needs a Java runtime, and there is none", allow_module_level=True)

# pyspark warns of pandas 3 and of sockets that it leaves to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

RNG = np.random.default_rng(0)
N = 30_000
SCORES = np.where(RNG.random(N) < 0.5, RNG.beta(0.1, 3.0, N), 1 - 10.0 ** RNG.uniform(-9, 0, N))
FRAME = pd.DataFrame(
    {"s": SCORES, "y": (RNG.random(N) < SCORES).astype(int), "g": RNG.integers(0, 3, N), "few": np.round(SCORES, 2)}
)


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # looking up the host's name can take half a minute
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
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
    yield ibis.pyspark.connect(session)
    session.stop()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "rows.parquet"
    FRAME.to_parquet(path)
    return str(path)


@pytest.fixture(scope="module")
def table(spark, path):
    return spark.read_parquet(path)


def test_the_tally_is_the_same_number_for_number(table, path):
    options = {"score": "s", "label": "y", "max_cells": 500}
    assert engines.tally(table, **options) == engines.tally(path, **options)


def test_scores_that_fit_are_counted_as_by_arrays(table):
    assert engines.tally(table, score="few", label="y") == Tally.from_arrays(FRAME["few"], FRAME["y"])


def test_segments_are_the_same(table, path):
    options = {"score": "s", "label": "y", "by": "g", "max_cells": 200}
    assert engines.tally(table, **options) == engines.tally(path, **options)


@pytest.mark.parametrize(
    "map_",
    [
        IsotonicCalibration().fit(FRAME["few"], FRAME["y"]).map_,
        BetaCalibration().fit(FRAME["few"], FRAME["y"]).map_,
        CalibrationMap(map_functions.LogitLinear([-3.0, 0.0, 2.0], [-4.0, 0.5, 3.0], 1.0, 0.5), "probability"),
    ],
    ids=["isotonic", "beta", "logit_linear"],
)
def test_scoring_in_place(table, map_):
    out = table.mutate(p=engines.apply(map_, table, score="s")).select("s", "p").to_pyarrow().to_pandas()
    np.testing.assert_allclose(out["p"], map_(out["s"]), rtol=0, atol=1e-12)


def test_errors_are_the_same(table):
    with pytest.raises(InvalidInputError, match="there is no 'score'"):
        engines.tally(table, score="score", label="y")
    with pytest.raises(InvalidInputError, match="`g` must have two classes; got 3"):
        engines.tally(table, score="s", label="g")
    broken = table.mutate(s=ibis.ifelse(table.few == 0.5, ibis.null().cast("float64"), table.s))
    with pytest.raises(InvalidInputError, match="`s` must be finite"):
        engines.tally(broken, score="s", label="y")
    with pytest.raises(InvalidInputError, match="at least one row"):
        engines.tally(table.filter(table.s > 5), score="s", label="y")
