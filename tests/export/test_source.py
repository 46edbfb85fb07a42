import math
import subprocess
import sys

import pytest

from calibrant import CalibrationMap
from calibrant.errors import InvalidInputError
from calibrant.export import to_python
from calibrant.maps import functions

STEP = CalibrationMap(functions.Step([0.5], [0.2, 0.7]), "probability", True, 'Steps */ """')
CHAIN = CalibrationMap(
    functions.Chain(
        (functions.Linear([0.1, 0.4, 0.9], [0.0, 0.5, 1.0]), functions.Beta(1.0, 0.5, 0.2)),
    ),
    "probability",
)


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


def test_nothing_in_a_method_reaches_the_source():
    assert function(to_python(STEP))(0.6) == 0.7


TAKEN = ["class", "None", "lambda", "__import__", "exp", "log", "print", "TEST_SCORES"]


@pytest.mark.parametrize("name", TAKEN)
def test_names_that_python_has_taken_are_refused(name):
    with pytest.raises(InvalidInputError, match=f"`name` .* Python has taken; got '{name}'"):
        to_python(STEP, name=name)


@pytest.mark.parametrize("name", ["", "a b", "1x", "é", "a-b", 'x"; DROP TABLE', "f(x): import os #"])
def test_only_plain_identifiers_are_names(name):
    with pytest.raises(InvalidInputError, match="identifier"):
        to_python(STEP, name=name)


@pytest.mark.parametrize("name", ["select", "match", "score", "calibrate_2", "v1", "double_score"])
def test_other_names_work(name):
    assert f"def {name}(" in to_python(STEP, name=name)
