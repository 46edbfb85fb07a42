"""Ends of intervals beside the probability, in SQL and in Python: those of the map, within what the text says."""

import re
import sqlite3

import numpy as np
import pytest

from calibrant import ABB, BayesIso, Blend, PlattScaling, SegmentedCalibrator, load, simulate
from calibrant.errors import InvalidInputError
from calibrant.export import to_python, to_sql
from calibrant.export.parity import SHAPES
from calibrant.multiclass.scaling import VectorScaling

NAMES = ("probability", "probability_low", "probability_high")


@pytest.fixture(scope="module")
def maps():
    data = simulate.from_truth("asymmetric", 300)
    rng = np.random.default_rng(0)
    margins = rng.normal(0.0, 2.0, 200)
    return {
        "iso": BayesIso().fit(data.scores, data.labels).frozen_map(),
        "abb": ABB().fit(data.scores, data.labels).frozen_map(),
        "margins": Blend(space="decision").fit(margins, rng.random(200) < 1 / (1 + np.exp(-margins))).frozen_map(),
    }


@pytest.fixture(scope="module")
def unseen():
    rng = np.random.default_rng(1)
    return {"iso": rng.random(2000), "abb": rng.random(2000), "margins": rng.normal(0.0, 20.0, 2000)}


def expected(map_, scores, level):
    return np.array([map_(scores), *map_.predict_interval(scores, level)])


@pytest.mark.parametrize(("name", "level"), [("iso", 0.9), ("iso", 0.68), ("abb", 0.9), ("margins", 0.9)])
def test_duckdb_gives_the_ends_within_what_the_comments_say(maps, unseen, name, level):
    duckdb, pa = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    map_, scores = maps[name], unseen[name]
    text = to_sql(map_, level=level, column="s")
    rows = pa.table({"s": scores, "place": np.arange(len(scores))})
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        out = connection.sql(f"SELECT {text} FROM rows ORDER BY place").fetchnumpy()
    assert tuple(out) == NAMES
    said = [float(number) for number in re.findall(r"/\* within (\S+) of the map", text)]
    off = np.abs([out[each] for each in NAMES] - expected(map_, scores, level)).max(axis=1)
    assert len(said) >= 2
    assert max(said) < 1e-3
    assert (off[1:] <= np.array(said[-2:]) * 1.05).all()  # two digits are printed
    assert (out["probability_low"] <= out["probability_high"]).all()


def test_sqlite_gives_the_ends(maps, unseen):
    text = to_sql(maps["iso"], level=0.9, dialect="sqlite")
    scores = unseen["iso"][:200].tolist()
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE rows (score)")
    connection.executemany("INSERT INTO rows VALUES (?)", [(score,) for score in [*scores, None]])
    *found, missing = connection.execute(f"SELECT {text} FROM rows ORDER BY rowid").fetchall()
    connection.close()
    assert missing == (None, None, None)
    np.testing.assert_allclose(np.array(found).T, expected(maps["iso"], np.array(scores), 0.9), atol=1.5e-5)


@pytest.mark.parametrize("name", ["iso", "abb", "margins"])
def test_python_gives_three_numbers(maps, unseen, name):
    text, space = to_python(maps[name], level=0.9), {"__name__": "__main__"}
    exec(text, space)  # its own test runs, too
    scores = unseen[name][:300]
    found = np.array([space["calibrate"](score) for score in scores.tolist()]).T
    within = float(re.search(r"within (\S+) of the map's", text)[1])
    off = np.abs(found - expected(maps[name], scores, 0.9)).max(axis=1)
    assert off[0] <= 1e-12
    assert off.max() <= 1.05 * within <= 1e-3
    assert np.isnan(space["calibrate"](float("nan"))).all()


@pytest.mark.parametrize("write", [to_sql, to_python])
def test_what_has_no_such_interval_is_refused_in_a_sentence(write):
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.1, 0.9, 60)
    y = rng.random(60) < scores
    with pytest.raises(
        InvalidInputError, match="need the posterior of a Bayesian method; this CalibrationMap has none"
    ):
        write(PlattScaling().fit(scores, y).map_, level=0.9)
    if write is to_sql:
        segments = SegmentedCalibrator("platt").fit(scores, y, segment=["a", "b"] * 30).map_
        with pytest.raises(InvalidInputError, match=r"`level` is for maps of one score; this is a map of segments\."):
            write(segments, level=0.9)
    matrix = VectorScaling().fit(rng.dirichlet(np.ones(3), 60), np.arange(60) % 3).map_
    with pytest.raises(InvalidInputError, match=f"this is a map of {SHAPES['matrix']}"):
        write(matrix, level=0.9)


def test_a_level_must_be_one(maps):
    with pytest.raises(InvalidInputError, match="`level`"):
        to_python(maps["iso"], level=1.5)


def test_a_loaded_map_has_the_intervals_of_the_frozen_one_and_nearly_those_of_the_calibrator(tmp_path):
    data, scores = simulate.from_truth("asymmetric", 300), np.linspace(0.0, 1.0, 1001)
    blend = Blend().fit(data.scores, data.labels)
    blend.frozen_map().save(tmp_path / "map.json")
    loaded = np.array(load(tmp_path / "map.json").predict_interval(scores))
    np.testing.assert_allclose(loaded, blend.frozen_map().predict_interval(scores), atol=2e-7)
    off = np.abs(loaded - blend.predict_interval(scores))
    assert off.mean() < 5e-4
    assert off.max() < 0.01
