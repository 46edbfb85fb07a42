import math
import shutil
import subprocess
import sys

import numpy as np
import pytest

from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.export import matrix_source
from calibrant.export.matrix_source import matrix_to_c, matrix_to_python

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler, cc")


def function(text, name="calibrate"):
    namespace = {"__name__": "exported"}
    exec(text, namespace)
    return namespace[name]


def test_python_of_every_part(full_map):
    calibrate = function(matrix_to_python(full_map, name="to_probabilities"), "to_probabilities")
    row = [0.2, 0.3, 0.5]
    np.testing.assert_allclose(calibrate(row), full_map([row])[0], atol=1e-14)


def test_python_of_fitted_maps(fitted_map, rows_with_zeros):
    calibrate = function(matrix_to_python(fitted_map))
    np.testing.assert_allclose([calibrate(row) for row in rows_with_zeros], fitted_map(rows_with_zeros), atol=1e-12)


def test_python_refuses_what_the_map_refuses(map_of_probabilities):
    calibrate = function(matrix_to_python(map_of_probabilities))
    for row in ([0.5, 0.6, 0.5], [-0.1, 0.6, 0.5], [math.nan, 0.5, 0.5]):
        assert all(math.isnan(p) for p in calibrate(row))
    with pytest.raises(ValueError, match="a row has 3 scores"):
        calibrate([0.5, 0.5])


def test_the_python_module_needs_nothing_and_checks_itself(full_map, tmp_path):
    path = tmp_path / "exported.py"
    path.write_text(matrix_to_python(full_map))
    subprocess.run([sys.executable, "-I", "-S", str(path)], check=True)
    path.write_text(path.read_text().replace("WEIGHTS = (0.75,", "WEIGHTS = (0.7,"))
    assert subprocess.run([sys.executable, str(path)], capture_output=True, check=False).returncode != 0


@needs_cc
def test_c_of_every_part_without_warnings(full_map, tmp_path):
    text = matrix_to_c(full_map)
    (tmp_path / "map.c").write_text(text)
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", "map.c", "-o", "map.o"]
    subprocess.run(command, cwd=tmp_path, check=True)


@needs_cc
def test_c_of_fitted_maps(fitted_map, rows_with_zeros):
    text = matrix_to_c(fitted_map)
    got = matrix_source._run_c(text, "calibrate", rows_with_zeros)
    np.testing.assert_allclose(got, fitted_map(rows_with_zeros), atol=1e-12)
    assert np.isnan(matrix_source._run_c(text, "calibrate", np.array([[0.5, 0.6, 0.5], [np.nan, 0.5, 0.5]]))).all()


@needs_cc
def test_c_that_does_not_compile_is_refused():
    with pytest.raises(ModelFileError, match="the compiler rejected it"):
        matrix_source._run_c("nonsense", "calibrate", np.zeros((1, 3)))


def test_without_a_compiler_the_python_text_is_checked(full_map, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert "void calibrate(const double *scores, double *out)" in matrix_to_c(full_map)


@pytest.mark.parametrize("export", [matrix_to_python, matrix_to_c])
def test_names_must_be_identifiers(export, map_of_probabilities):
    with pytest.raises(InvalidInputError, match="`name` must be an identifier"):
        export(map_of_probabilities, name="no; exit()")
