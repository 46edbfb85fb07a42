import math
import shutil
import subprocess
import sys

import numpy as np
import pytest

from calibrant import CalibrationMap
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.export import source, to_c, to_python
from calibrant.maps import functions

STEP = CalibrationMap(functions.Step([0.5], [0.2, 0.7]), "probability", True, 'Steps */ """')
CHAIN = CalibrationMap(
    functions.Chain(
        (functions.Linear([0.1, 0.4, 0.9], [0.0, 0.5, 1.0]), functions.Beta(1.0, 0.5, 0.2)),
    ),
    "probability",
)
DECISION = CalibrationMap(functions.Sigmoid(2.0, -1.0, "identity"))


def function(text, name="calibrate"):
    namespace = {"__name__": "exported"}
    exec(text, namespace)
    return namespace[name]


def test_python_needs_the_standard_library_only():
    text = to_python(CHAIN, name="to_probability")
    imports = [line for line in text.splitlines() if line.startswith(("import", "from"))]
    assert imports == ["from bisect import bisect_left", "from math import exp, log, nan"]
    calibrate = function(text, "to_probability")
    assert calibrate(0.3) == pytest.approx(float(CHAIN([0.3])[0]), abs=1e-15)
    assert math.isnan(calibrate(1.5))
    assert math.isnan(calibrate(math.nan))


def test_the_python_module_checks_itself(tmp_path):
    path = tmp_path / "exported.py"
    path.write_text(to_python(CHAIN), encoding="utf-8")
    subprocess.run([sys.executable, str(path)], check=True)
    path.write_text(path.read_text(encoding="utf-8").replace("TABLE_2 = (", "TABLE_2 = (9.0 + "), encoding="utf-8")
    assert subprocess.run([sys.executable, str(path)], capture_output=True, check=False).returncode == 1


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler here")
@pytest.mark.parametrize("map_", [STEP, CHAIN, DECISION], ids=["step", "chain", "decision"])
def test_c_computes_the_map(map_):
    scores = np.array([0.0, 0.1, 0.4, 0.5, np.nextafter(0.5, 1), 0.9, 1.0])
    got = source._run_c(to_c(map_), "calibrate", scores)
    np.testing.assert_allclose(got, map_(scores), rtol=0, atol=1e-15)
    assert np.isnan(source._run_c(to_c(map_), "calibrate", np.array([np.nan]))).all()


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler here")
def test_c_compiles_without_warnings(tmp_path):
    path = tmp_path / "export.c"
    path.write_text(to_c(CHAIN), encoding="utf-8")
    options = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-c"]
    subprocess.run(["cc", *options, str(path), "-o", str(tmp_path / "export.o")], check=True)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler here")
def test_what_does_not_compile_is_refused_with_the_compilers_words():
    with pytest.raises(ModelFileError, match=r"compiler rejected it\.\n.*error"):
        source._run_c("double half(", "half", np.zeros(1))


def test_c_is_checked_as_python_where_there_is_no_compiler(monkeypatch):
    monkeypatch.setattr(source.shutil, "which", lambda _: None)
    assert "double calibrate(double score)" in to_c(STEP)


def test_nothing_in_a_method_reaches_the_source():
    assert function(to_python(STEP))(0.6) == 0.7


PYTHON_WORDS = ["class", "None", "lambda", "__import__", "exp", "log", "print", "TEST_SCORES"]
C_WORDS = ["class", "double", "exp", "expf", "printf", "main", "_Bool", "__import__", "NAN", "calibrant_search"]


@pytest.mark.parametrize(
    ("write", "name"), [*((to_python, word) for word in PYTHON_WORDS), *((to_c, word) for word in C_WORDS)]
)
def test_names_that_the_language_has_taken_are_refused(write, name):
    language = "C" if write is to_c else "Python"
    with pytest.raises(InvalidInputError, match=f"`name` .* {language} has taken; got '{name}'"):
        write(STEP, name=name)


@pytest.mark.parametrize("name", ["", "a b", "1x", "é", "a-b", 'x"; DROP TABLE', "f(x): import os #"])
@pytest.mark.parametrize("write", [to_python, to_c])
def test_only_plain_identifiers_are_names(write, name):
    with pytest.raises(InvalidInputError, match="identifier"):
        write(STEP, name=name)


@pytest.mark.parametrize("name", ["select", "match", "score", "calibrate_2", "v1", "double_score"])
def test_other_names_work(name):
    assert f"def {name}(" in to_python(STEP, name=name)
    assert f"double {name}(" in to_c(STEP, name=name)
