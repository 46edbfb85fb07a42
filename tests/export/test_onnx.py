import json

import numpy as np
import pytest

from calibrant import CalibrationMap
from calibrant.errors import InvalidInputError
from calibrant.export import to_onnx
from calibrant.maps import functions

onnx = pytest.importorskip("onnx", reason="the export needs onnx")
pytest.importorskip("onnxruntime", reason="the export is checked with onnxruntime")

from calibrant.export.onnx import run_session  # noqa: E402

STEP = CalibrationMap(functions.Step(np.linspace(0.1, 0.9, 9), np.linspace(0, 1, 10)), "probability", True, "Steps")
SIGMOID = CalibrationMap(functions.Sigmoid(2.0, -1.0, "identity"), method="Platt")


@pytest.mark.parametrize("n_edges", [0, 1, 2, 3, 4, 7, 8, 100])
def test_the_unrolled_search_finds_every_bin(n_edges):
    edges = np.arange(1.0, n_edges + 1)
    map_ = CalibrationMap(functions.Step(edges, np.linspace(0, 1, n_edges + 1)))
    scores = np.concatenate((edges, np.nextafter(edges, np.inf), edges - 0.5, [-1e9, 1e9]))
    got = run_session(to_onnx(map_), {"score": scores})[0]
    assert np.array_equal(got, map_(scores))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_input_and_output_have_the_type_that_was_asked_for(dtype):
    model = to_onnx(SIGMOID, dtype=dtype)
    out = run_session(model, {"score": np.array([0.5], dtype=dtype)})[0]
    assert out.dtype == dtype
    assert out[0] == pytest.approx(0.5)


def test_scores_that_the_map_refuses_give_nan():
    scores = np.array([np.nan, -0.1, 1.1, 0.5])
    assert np.isnan(run_session(to_onnx(STEP), {"score": scores})[0]).tolist() == [True, True, True, False]


def test_the_model_carries_its_method_and_a_test_vector():
    model = to_onnx(STEP)
    properties = {entry.key: entry.value for entry in model.metadata_props}
    vector = json.loads(properties["test_vector"])
    assert properties["method"] == "Steps"
    assert run_session(model, {"score": np.array(vector["scores"])})[0].tolist() == vector["probabilities"]


def test_the_opset_is_current_and_can_be_chosen():
    assert to_onnx(STEP).opset_import[0].version >= 21
    assert to_onnx(STEP, opset=18).opset_import[0].version == 18


def test_an_unknown_type_is_refused():
    with pytest.raises(InvalidInputError, match="`dtype` must be one of float64, float32"):
        to_onnx(STEP, dtype="float16")


def test_every_part_of_a_matrix_in_both_spaces(full_map):
    model = to_onnx(full_map)
    row = np.array([[0.2, 0.3, 0.5]])
    np.testing.assert_allclose(run_session(model, {"scores": row})[0], full_map(row), atol=1e-13)
    properties = {entry.key: entry.value for entry in model.metadata_props}
    assert set(properties) == {"method", "classes", "test_vector"}


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-7)])
def test_fitted_maps_of_several_classes(fitted_map, rows_with_zeros, dtype, tolerance):
    rows = rows_with_zeros.astype(dtype)
    got = run_session(to_onnx(fitted_map, dtype=dtype), {"scores": rows})[0]
    assert got.dtype == dtype
    np.testing.assert_allclose(got, fitted_map(rows), atol=tolerance)


def test_rows_that_the_map_refuses_are_nan_and_others_are_not(full_map):
    bad = [0.5, 0.6, 0.5] if full_map.space == "probability" else [np.nan, 0.5, 0.5]
    got = run_session(to_onnx(full_map), {"scores": np.array([bad, [0.2, 0.3, 0.5]])})[0]
    assert np.isnan(got[0]).all()
    assert np.isfinite(got[1]).all()
