"""The export round trip of every registered method, and the check that guards it."""

import numpy as np
import pytest

from calibrant import CalibrationMap
from calibrant.calibrators import registry
from calibrant.errors import ModelFileError
from calibrant.export import parity
from calibrant.maps import functions


@pytest.fixture(scope="module")
def maps():
    rng = np.random.default_rng(0)
    raw = np.round(rng.beta(0.8, 1.2, 300), 2)
    labels = rng.random(300) < raw**1.4
    return {name: registry.create(name).fit(raw, labels).map_ for name in registry.METHODS["score"]}


def scores_for(map_):
    return np.clip(np.concatenate((np.random.default_rng(1).random(100_000), parity.probe(map_))), 0.0, 1.0)


@pytest.mark.parametrize("name", sorted(registry.METHODS["score"]))
def test_every_method_round_trips_through_python_and_onnx(maps, name):
    pytest.importorskip("onnxruntime", reason="the ONNX export needs onnxruntime")
    from calibrant.export import to_onnx, to_python
    from calibrant.export.onnx import run_session

    map_ = maps[name]
    scores = scores_for(map_)
    expected = map_(scores)
    double = run_session(to_onnx(map_), {"score": scores})[0]
    np.testing.assert_allclose(double, expected, rtol=0, atol=1e-12)
    single = scores.astype(np.float32)
    out = run_session(to_onnx(map_, dtype="float32"), {"score": single})[0]
    np.testing.assert_allclose(out, map_(single.astype(np.float64)), rtol=0, atol=1e-6)
    few = scores[::20]
    exported = {"__name__": "exported"}
    exec(to_python(map_), exported)
    np.testing.assert_allclose([exported["calibrate"](score) for score in few], expected[::20], rtol=0, atol=1e-12)


def test_the_probe_holds_all_knots_and_the_doubles_next_to_them():
    map_ = CalibrationMap(functions.Step([0.25, 0.75], [0.1, 0.2, 0.3]), "probability")
    probe = parity.probe(map_)
    assert {0.25, 0.75, np.nextafter(0.25, 1), np.nextafter(0.75, 0), 0.0, 1.0} <= set(probe.tolist())
    wide = parity.probe(CalibrationMap(functions.Linear([-7.0, 9.0], [0.1, 0.2])))
    assert wide.min() < -7
    assert wide.max() > 9


def test_a_wrong_export_is_refused():
    map_ = CalibrationMap(functions.Sigmoid(1.0, 0.0, "logit"), "probability")
    parity.check(map_, map_, "itself")
    with pytest.raises(ModelFileError, match=r"refused: at score .* more than 1e-12 apart"):
        parity.check(map_, lambda scores: map_(scores) + 2e-12, "nowhere")
    with pytest.raises(ModelFileError, match="refused"):
        parity.check(map_, lambda scores: np.where(scores == 0.5, np.nan, map_(scores)), "nowhere")


def test_the_probe_of_a_matrix_has_rows_that_the_map_accepts_and_exact_zeros(map_of_probabilities):
    rows = parity.probe(map_of_probabilities)
    assert map_of_probabilities(rows).shape == rows.shape
    assert (rows == 0.0).any()


def test_a_wrong_export_of_a_matrix_is_refused_with_the_row(full_map):
    with pytest.raises(ModelFileError, match=r"refused: at score \[.*\] it gives .* where the map gives"):
        parity.check(full_map, lambda x: full_map(x) + 1e-9, "Cobol")
    with pytest.raises(ModelFileError, match="it gives nan"):
        parity.check(full_map, lambda x: np.full(x.shape, np.nan), "Cobol")
    with pytest.raises(ModelFileError, match="it gives shape"):
        parity.check(full_map, lambda x: full_map(x)[:, :2], "Cobol")
