import numpy as np
import pytest

from calibrant import CalibrationMap, engines, map_functions
from calibrant.calibrators import registry
from calibrant.errors import InvalidInputError
from calibrant.export import parity

ibis = pytest.importorskip("ibis", reason="engines need ibis")
pa = pytest.importorskip("pyarrow", reason="engines need pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore:.*use to_arrow_table:DeprecationWarning")

RNG = np.random.default_rng(0)
LONG = {"abb"}  # a million characters; its function is tested here with fewer pieces
RAW = np.round(RNG.beta(0.8, 1.2, 200), 1)
LABELS = RNG.random(200) < RAW


def scored(map_, scores, backend="duckdb"):
    table = pa.table({"s": scores, "i": np.arange(len(scores))})
    if backend == "polars":
        import polars as pl

        found = ibis.polars.connect({"t": pl.from_arrow(table)}).table("t")
    else:
        connection = ibis.duckdb.connect()
        connection.con.register("t", table)
        found = connection.table("t")
    out = found.mutate(p=engines.apply(map_, found, score="s")).order_by("i").to_pyarrow()
    return out.column("p").to_numpy(zero_copy_only=False)


@pytest.mark.parametrize("name", sorted(set(registry.METHODS) - LONG))
def test_every_method_inside_duckdb(name):
    map_ = registry.create(name).fit(RAW, LABELS).map_
    scores = np.clip(np.concatenate((RNG.random(20_000), parity.probe(map_))), 0, 1)
    np.testing.assert_allclose(scored(map_, scores), map_(scores), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        map_functions.LogitLinear([-3.0, 0.0, 2.0], [-4.0, 0.5, 3.0], 1.0, 0.5),
        map_functions.LogitLinear([-20.0, 0.0, 20.0], [-900.0, 0.0, 900.0], 1.0, 0.5),
        map_functions.PoissonSteps([0.2, 0.5, 0.9], [3.0, 40.0], [0.2, 0.4], [[0.1] * 2] * 2, [[0.2] * 2] * 2),
        map_functions.Chain(
            (map_functions.Linear([0.1, 0.5, 0.9], [0.2, 0.3, 0.8]), map_functions.Step([0.25, 0.6], [0.1, 0.4, 0.9]))
        ),
    ],
    ids=["logit_linear", "far out", "poisson_steps", "chain"],
)
@pytest.mark.parametrize("backend", ["duckdb", "polars"])
def test_forms_inside_two_engines(function, backend):
    map_ = CalibrationMap(function, "probability")
    scores = np.concatenate((RNG.random(2000), [0.0, 1.0]))
    np.testing.assert_allclose(scored(map_, scores, backend), map_(scores), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "edges",
    [np.sort(RNG.random(900)), np.sort(RNG.random(300)) ** 8, 0.5 + np.arange(100) * 1e-15, [0.0, 5e-324, 1.0]],
    ids=["many", "crowded", "cluster", "tiny"],
)
@pytest.mark.parametrize("space", ["probability", "real"])
def test_scores_beside_hard_edges(edges, space):
    edges = np.asarray(edges)
    map_ = CalibrationMap(map_functions.Step(edges, np.linspace(0, 1, len(edges) + 1)), space)
    scores = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, 1), np.linspace(0, 1, 999)])
    np.testing.assert_array_equal(scored(map_, scores), map_(scores))


@pytest.mark.parametrize(
    "function",
    [
        map_functions.Step([0.5], [0.2, 0.8]),
        map_functions.Linear([0.1, 0.5, 0.9], [0.2, 0.3, 0.8]),
        map_functions.LogitLinear(np.linspace(-9, 9, 50), np.linspace(-4, 5, 50), 1.0, 0.5),
        map_functions.Beta(1.2, 0.8, 0.1),
        map_functions.Identity(),
    ],
    ids=lambda function: function.name,
)
def test_what_the_map_refuses_becomes_null(function):
    map_ = CalibrationMap(function, "probability")
    refused = [None, np.nan, -0.1, 1.1, np.inf, -np.inf, 1e300]
    out = scored(map_, pa.array([*refused, 0.4], pa.float64(), from_pandas=False))
    assert np.isnan(out).tolist() == [True] * len(refused) + [False]


def test_integers_are_scores_too():
    map_ = CalibrationMap(map_functions.Sigmoid(1.0, 0.0, "identity"))
    assert scored(map_, np.array([0, 1]))[0] == 0.5


def test_what_is_not_a_table_or_column_is_refused():
    map_ = CalibrationMap(map_functions.Identity())
    with pytest.raises(InvalidInputError, match=r"`table` must be an Ibis table; got dict"):
        engines.apply(map_, {"s": [1]}, score="s")
    table = ibis.memtable(pa.table({"score": [0.5], "name": ["a"]}))
    with pytest.raises(InvalidInputError, match="Did you mean 'score'"):
        engines.apply(map_, table, score="scor")
    with pytest.raises(InvalidInputError, match="`name` must be numbers"):
        engines.apply(map_, table, score="name")
