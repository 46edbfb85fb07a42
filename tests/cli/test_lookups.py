"""The SQL of look-ups computes every map, on its knots and right beside them."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from calibrant import CalibrationMap, Tally, simulate
from calibrant.calibrators import registry
from calibrant.cli.lookups import Lookups, number
from calibrant.map_functions import Beta, Chain, LogitLinear, Step

DATA = simulate.from_truth("wave", 800, rng=1)
KNOTS = np.linspace(-30, 30, 500)
TALLY = Tally.from_arrays(DATA.scores, DATA.labels)


def computed(map_, scores):
    connection = duckdb.connect()
    connection.register("rows", pa.table({"s": scores}))
    lookups = Lookups()
    text, _ = lookups.add(map_, '"s"')
    if lookups.lists:
        connection.register("arrow", pa.table({name: [values] for name, values in lookups.lists.items()}))
        connection.execute("CREATE TABLE lists AS SELECT * FROM arrow")
    query = lookups.query("rows", "lists", {"p": text}, ["s"])
    return np.array([np.nan if p is None else p for _, p in connection.execute(query).fetchall()])


def probe(map_):
    knots = map_.function.knots()
    low, high = (0.0, 1.0) if map_.space == "probability" else (-5.0, 5.0)
    around = np.concatenate([knots, np.nextafter(knots, -np.inf), np.nextafter(knots, np.inf)])
    scores = np.concatenate([around, np.linspace(low, high, 1001), np.random.default_rng(0).random(1000)])
    return scores[(scores >= low) & (scores <= high)]


@pytest.mark.parametrize("name", registry.METHODS)
def test_every_method(name):
    map_ = registry.create(name).fit_tally(TALLY).map_
    scores = probe(map_)
    np.testing.assert_allclose(computed(map_, scores), map_(scores), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "edges",
    [
        [],
        [0.5],
        [0.5, np.nextafter(0.5, 1)],
        np.concatenate([0.5 + np.arange(100) * 1e-15, [0.9]]),
        [0.0, 5e-324, 1.0],
        [-1.7e308, 0.0, 1.7e308],
        [-1e-320, 0.0],
        np.sort(np.random.default_rng(0).random(3000)) ** 8,
    ],
    ids=["none", "one", "neighbours", "cluster", "tiny", "huge", "denormal", "crowded"],
)
def test_steps_on_hard_edges(edges):
    edges = np.asarray(edges, dtype=np.float64)
    map_ = CalibrationMap(Step(edges, np.linspace(0, 1, len(edges) + 1)))
    scores = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), np.linspace(-2, 2, 999)])
    scores = scores[np.isfinite(scores)]
    np.testing.assert_array_equal(computed(map_, scores), map_(scores))


@pytest.mark.parametrize(
    "form",
    [
        Chain((Beta(1.5, 0.7, 0.3), LogitLinear(KNOTS, KNOTS**3 / 999, 1.0, 1.0))),
        Chain((LogitLinear(KNOTS, KNOTS / 3, 1.0, 1.0), Step([0.3], [0.1, 0.9]))),
        LogitLinear([-700.0, 0.0, 700.0], [-700.0, 0.0, 700.0], 1.0, 1.0),
    ],
    ids=["beta then lines", "lines then steps", "far out"],
)
def test_logits(form):
    map_ = CalibrationMap(form, "probability")
    scores = np.concatenate((probe(map_), 10.0 ** np.arange(-18.0, 0.0), 1 - 10.0 ** np.arange(-16.0, 0.0)))
    np.testing.assert_allclose(computed(map_, scores), map_(scores), rtol=0, atol=1e-12)


def test_refused_scores_are_null():
    map_ = registry.create("beta").fit_tally(TALLY).map_
    found = computed(map_, np.array([0.5, np.nan, np.inf, -0.1, 1.1, 1.0]))
    assert np.isnan(found).tolist() == [False, True, True, True, True, False]
    step = CalibrationMap(Step(np.array([0.5]), np.array([0.1, 0.9])))
    assert np.isnan(computed(step, np.array([np.nan, 0.0]))).tolist() == [True, False]


def test_numbers_are_exact():
    values = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -2.5]
    query = f"SELECT {', '.join(map(number, values))}"
    assert list(duckdb.connect().execute(query).fetchone()) == values
