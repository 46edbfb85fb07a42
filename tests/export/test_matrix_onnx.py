import numpy as np
import pytest

from calibrant.errors import InvalidInputError
from calibrant.export.matrix_onnx import matrix_to_onnx

onnx = pytest.importorskip("onnx", reason="the export is written with onnx")
pytest.importorskip("onnxruntime", reason="the export is checked with onnxruntime")

from calibrant.export.onnx import run_session  # noqa: E402 - after the checks that its packages are there


def test_every_part_in_both_spaces(full_map):
    model = matrix_to_onnx(full_map)
    row = np.array([[0.2, 0.3, 0.5]])
    np.testing.assert_allclose(run_session(model, {"scores": row})[0], full_map(row), atol=1e-13)
    properties = {entry.key: entry.value for entry in model.metadata_props}
    assert set(properties) == {"method", "classes", "test_vector"}


def test_fitted_maps(fitted_map, rows_with_zeros):
    got = run_session(matrix_to_onnx(fitted_map), {"scores": rows_with_zeros})[0]
    np.testing.assert_allclose(got, fitted_map(rows_with_zeros), atol=1e-12)


def test_float32_is_computed_in_double(fitted_map, rows_with_zeros):
    rows = rows_with_zeros.astype(np.float32)
    got = run_session(matrix_to_onnx(fitted_map, dtype="float32"), {"scores": rows})[0]
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, fitted_map(rows), atol=1e-7)


def test_rows_that_the_map_refuses_are_nan_and_others_are_not(full_map):
    bad = [np.nan, 0.5, 0.5] if full_map.space == "logits" else [0.5, 0.6, 0.5]
    got = run_session(matrix_to_onnx(full_map), {"scores": np.array([bad, [0.2, 0.3, 0.5]])})[0]
    assert np.isnan(got[0]).all()
    assert np.isfinite(got[1]).all()


def test_dtype_is_one_of_two(full_map):
    with pytest.raises(InvalidInputError, match="`dtype` must be one of float64, float32"):
        matrix_to_onnx(full_map, dtype="float16")
