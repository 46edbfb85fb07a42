"""Maps of several scores: what leaves Python computes what the map computes, on rows that the export did not see."""

import json
import re
import sqlite3
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibrant import PanelCalibrator
from calibrant.errors import InvalidInputError
from calibrant.export import expression_graph as graph
from calibrant.export import to_onnx, to_python, to_sql
from calibrant.export.panel_graph import lower_panel

SPACE = {"len gth.x": "decision"}


def draw(n, seed, count=2):
    """Judges, a number that is at times missing, verdicts, and a flag that turns what the first judge says."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    frame = {f'judge "{j}"': 1 / (1 + np.exp(-truth - rng.normal(size=n))) for j in range(count)}
    length = np.where(rng.random(n) < 0.2, np.nan, 50 + 20 * rng.normal(size=n))
    verdict = rng.choice(np.array(["yes", "it's", "no", None], dtype=object), n)
    flag = rng.random(n) < 0.5
    frame |= {"len gth.x": length, "verdict": verdict, "flag": flag}
    logits = np.where(flag, 1.5, -0.5) * truth + 0.8 * (verdict == "yes") + 0.3 * np.isnan(length)
    return pd.DataFrame(frame), rng.random(n) < 1 / (1 + np.exp(-logits))


@pytest.fixture(scope="module")
def map_():
    fitted = PanelCalibrator(space=SPACE).fit(*draw(1500, 0)).map_
    assert fitted.features.pairs  # so that products of two scores are tested
    return fitted


@pytest.fixture(scope="module")
def small_map():
    """One judge less: as SQL, a map of both takes twice as long to write and to run."""
    fitted = PanelCalibrator(space=SPACE).fit(*draw(1500, 0, count=1)).map_
    assert fitted.features.pairs
    return fitted


@pytest.fixture(scope="module")
def rows():
    """New rows, with every score missing at times and levels that the fit did not see."""
    frame, _ = draw(300, 1)
    rng = np.random.default_rng(2)
    for name in frame.columns[:3]:
        frame.loc[rng.random(300) < 0.3, name] = np.nan
    frame.iloc[0, 0], frame.iloc[1, 0], frame.iloc[2, 2] = 0.0, 1.0, 1e9
    frame.iloc[:3, :3] = frame.iloc[:3, :3].fillna(0.5)
    frame["flag"] = frame["flag"].astype(str)
    frame.loc[:40, "verdict"] = "new"
    frame.loc[20:60, "flag"] = "neither"
    return frame


def as_none(frame):
    return [{name: None if x != x else x for name, x in row.items()} for row in frame.to_dict("records")]


def evaluate(root, columns):
    """The value of the graph at each row, with numpy."""
    n = len(columns[0])

    def value(node, *of):
        if isinstance(node, graph.Score):
            return columns[node.column]
        if isinstance(node, graph.Number):
            return np.full(n, node.value)
        if isinstance(node, graph.Search):
            return np.searchsorted(node.edges, *of, side="left")
        if isinstance(node, graph.Pick):
            return node.table[of[0]]
        if isinstance(node, graph.Operation):
            return graph.ARITHMETIC[node.kind](*of)
        out = of[-1].copy()
        for level, branch in zip(node.levels, of, strict=False):
            here = [x is None or x != x if level is None else x == level for x in columns[node.column].tolist()]
            out[here] = branch[here]
        return out

    return graph.fold(root, value)


def test_the_graph_is_the_map(map_, rows):
    columns = [rows[score.name].to_numpy() for score in map_.features.scores]
    np.testing.assert_allclose(evaluate(lower_panel(map_), columns), map_(rows), rtol=0, atol=1e-12)


def test_python(map_, rows, tmp_path):
    text, namespace = to_python(map_), {"__name__": "exported"}
    exec(text, namespace)
    got = [namespace["calibrate"](row) for row in as_none(rows)]
    np.testing.assert_allclose(got, map_(rows), rtol=0, atol=1e-9)
    assert np.isnan(namespace["calibrate"](as_none(rows)[0] | {'judge "0"': 1.5}))
    given = as_none(rows)[0]
    expected = map_(pd.DataFrame([given | {"flag": "true"}]))[0]
    assert namespace["calibrate"](given | {"flag": True}) == pytest.approx(expected, abs=1e-9)
    path = tmp_path / "exported.py"
    path.write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, str(path)], check=True)


def test_sqlite(small_map, rows):
    text = to_sql(small_map, dialect="sqlite")
    with sqlite3.connect(":memory:") as connection:
        rows.to_sql("t", connection, index=False)
        try:
            got = connection.execute(f"SELECT {text} FROM t ORDER BY rowid").fetchall()
        except sqlite3.OperationalError as error:
            pytest.skip(str(error))
    np.testing.assert_allclose(np.ravel(got).astype(float), small_map(rows), rtol=0, atol=1e-9)


def test_duckdb(small_map, rows):
    duckdb, pyarrow = (pytest.importorskip(name, reason="DuckDB checks the export") for name in ("duckdb", "pyarrow"))
    text = to_sql(small_map)
    wrong = rows.assign(**{'judge "0"': 1.5}).head(5)
    wrong.loc[0, 'judge "0"'] = np.nan
    with duckdb.connect() as connection:
        both = pd.concat((rows, wrong), ignore_index=True)  # the text is long, so it is run once
        connection.register("given", pyarrow.Table.from_pandas(both.assign(place=both.index)))
        got = connection.sql(f"SELECT {text} AS p FROM given ORDER BY place").fetchnumpy()["p"]
    np.testing.assert_allclose(np.ma.filled(got, np.nan)[: len(rows)], small_map(rows), rtol=0, atol=1e-9)
    assert np.ma.getmaskarray(got)[len(rows) :].tolist() == [False] + [True] * 4
    vector = json.loads(re.search(r"calibrant test vector (.*) \*/", text).group(1))
    np.testing.assert_allclose(vector["probabilities"], small_map(vector["scores"]), atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_onnx(map_, rows, dtype):
    runtime = pytest.importorskip("onnxruntime", reason="the export is checked with onnxruntime")
    model = to_onnx(map_, dtype=dtype)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    given = {name: rows[name].to_numpy() for name in rows}
    given = {k: np.where(pd.isna(x), "", x) if x.dtype == object else x.astype(dtype) for k, x in given.items()}
    [got] = session.run(["probability"], {name: given[name].astype(x.dtype) for name, x in given.items()})
    np.testing.assert_allclose(got, map_(rows), rtol=0, atol=1e-9 if dtype == "float64" else 1e-5)
    given['judge "0"'][:] = 1.5
    assert np.isnan(session.run(None, given)[0]).all()


def test_one_score_is_that_of_blend():
    frame, y = draw(300, 0)
    map_ = PanelCalibrator().fit(frame.iloc[:, [0]], y).map_
    namespace = {"__name__": "exported"}
    exec(to_python(map_, name="to_probability"), namespace)
    assert namespace["to_probability"]({'judge "0"': 0.3}) == pytest.approx(map_({'judge "0"': [0.3]})[0], abs=1e-12)


def test_of_many_scores_only_those_with_gaps_may_be_missing():
    frame, y = draw(200, 0, count=4)
    map_ = PanelCalibrator(space=SPACE).fit(frame, y).map_
    namespace = {"__name__": "exported"}
    exec(to_python(map_), namespace)
    row = as_none(frame)[0]
    assert np.isnan(namespace["calibrate"](row | {'judge "3"': None}))
    without = row | {"len gth.x": None}
    assert namespace["calibrate"](without) == pytest.approx(map_(pd.DataFrame([without]))[0], abs=1e-9)


def test_what_is_refused(map_):
    with pytest.raises(InvalidInputError, match="finds its columns by name: leave out `column` and `by`"):
        to_sql(map_, column="p")
    with pytest.raises(InvalidInputError, match=r"at most 5 of them were missing .* here 6 were\. Save it"):
        to_python(replace(map_, features=replace(map_.features, gaps=np.arange(6))))
    verdicts = np.array(["", None, "yes"] * 20, dtype=object)
    mute = PanelCalibrator().fit({"verdict": verdicts, "flag": np.arange(60) % 2 == 0}, verdicts == "yes").map_
    with pytest.raises(InvalidInputError, match="an empty text cannot be told from a missing one in ONNX"):
        to_onnx(mute)
    assert to_python(mute)
