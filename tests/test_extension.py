"""A package that is not part of calibrant adds methods, a function and a metric, and goes everywhere with them.

The package in tests/example_package is put on the path of a new process together with the metadata that an installer
would write, so that its entry points are found without installing anything. One process runs all parts.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent / "example_package"

METHODS = {"base_rate": "score", "shrinkage": "score", "uniform_mix": "matrix"}
DATA = """
import numpy as np
import calibrant
from calibrant.calibrators import registry
rng = np.random.default_rng(0)
if SHAPE == "score":
    scores = rng.random(300)
    y = (rng.random(300) < scores ** 2).astype(int)
    features = scores[:, None]
else:
    scores = features = rng.dirichlet((1, 1, 1), 300)
    y = (scores.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
"""
# What every method has to get through; its name is in NAME, its shape in SHAPE.
PARTS = {
    "registry": """
assert NAME in registry.names(SHAPE) and registry.names()[-2:] == ("base_rate", "shrinkage"), registry.names()
cls = registry.get(NAME, SHAPE)
assert registry.name_of(cls) == registry.name_of(cls()) == NAME
assert cls.title and cls.description
""",
    "classifier": """
from sklearn.linear_model import LogisticRegression
model = calibrant.CalibratedClassifier(LogisticRegression(), NAME, cv=3).fit(features, y)
proba = model.predict_proba(features)
assert proba.shape == (300, len(set(y))) and abs(proba[:, 1].mean() - (y == 1).mean()) < 0.1
""",
    "saved and loaded": """
import subprocess, sys
map_ = registry.create(NAME, SHAPE).fit(scores, y).map_
map_.save("map.json")
assert calibrant.load("map.json") == map_
# In a process that has not heard of the package yet.
first = [0.3] if SHAPE == "score" else [[0.5, 0.2, 0.3]]
program = f"import calibrant; print(repr(calibrant.load('map.json')({first}).tolist()))"
said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
assert eval(said) == map_(first).tolist()
""",
    "SQL": """
import duckdb
from calibrant.export import to_sql
map_ = registry.create(NAME).fit(scores, y).map_
table = {"score": scores, "row": np.arange(300)}
with duckdb.connect() as connection:
    connection.register("t", table)
    got = connection.sql(f"SELECT {to_sql(map_)} AS p FROM t ORDER BY row").fetchnumpy()["p"]
np.testing.assert_allclose(got, map_(scores), rtol=0, atol=1e-12)
""",
    "ONNX": """
import onnxruntime
from calibrant.export import to_onnx
map_ = registry.create(NAME, SHAPE).fit(scores, y).map_
session = onnxruntime.InferenceSession(to_onnx(map_).SerializeToString())
(given,) = session.get_inputs()
got = session.run(["probabilities"] if SHAPE == "matrix" else None, {given.name: scores})[0]
np.testing.assert_allclose(got, map_(scores), rtol=0, atol=1e-12)
""",
    "Python": """
from calibrant.export import to_python
map_ = registry.create(NAME).fit(scores, y).map_
space = {}
exec(to_python(map_), space)
assert all(abs(space["calibrate"](s) - p) < 1e-12 for s, p in zip(scores.tolist(), map_(scores), strict=True))
""",
    "compare": """
table = calibrant.compare(scores, y, methods=["temperature", NAME])
assert {"temperature", NAME} <= {result.name for result in table.results if result.log_loss is not None}
""",
    "compare with objects": """
table = calibrant.compare(scores, y, methods=["temperature", registry.create(NAME, SHAPE)])
assert {"temperature", NAME} <= {result.name for result in table.results if result.log_loss is not None}
""",
    "evaluate": """
from calibrant_example import calibration_in_the_large
probabilities = registry.create(NAME, SHAPE).fit(scores, y).predict(scores)
if SHAPE == "score":
    table = calibrant.evaluate(y, probabilities, metrics=["log_loss", calibration_in_the_large])
    expected = abs(probabilities.mean() - y.mean())
    assert abs(table["calibration_in_the_large"].value - expected) < 1e-12
else:
    table = calibrant.evaluate(y, probabilities, metrics=["log_loss"])
    assert abs(table["log_loss"].value + np.log(probabilities[np.arange(300), y]).mean()) < 1e-12
""",
}
ONE_SCORE = ("SQL", "Python")
COMMANDS = """
import io
from contextlib import redirect_stdout
from pathlib import Path
from calibrant.cli.app import run
columns = ["score"] if SHAPE == "score" else ["p0", "p1", "p2"]
rows = "\\n".join(",".join(map(repr, row)) for row in np.column_stack((scores, y)).tolist())
Path("rows.csv").write_text(",".join([*columns, "label"]) + f"\\n{rows}\\n")
named = ("--score", ",".join(columns), "--label", "label")
def calibrant_command(*arguments):
    with redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)) as screen:
        assert run([*arguments]) == 0
    return screen.buffer.getvalue().decode("utf-8")
"""
PARTS |= {
    "command line": COMMANDS
    + """
assert NAME in calibrant_command("methods")
calibrant_command("fit", "rows.csv", *named, "--method", NAME, "-o", "map.json")
calibrant_command("apply", "map.json", "rows.csv", *named[:2], "-o", "out.csv")
assert len(Path("out.csv").read_text().splitlines()) == 301
assert "log-loss" in calibrant_command("evaluate", "rows.csv", *named, "--model", "map.json")
assert NAME in calibrant_command("compare", "rows.csv", *named, "--method", f"temperature,{NAME}")
calibrant_command("export", "map.json", "-o", "map.onnx")
""",
    "report": COMMANDS
    + """
import calibrant.report.data
calibrant.report.data.RESAMPLES = 10  # quicker
import calibrant.cli.compare
calibrant.cli.compare.compared_methods = lambda *_: ["temperature", NAME]  # quicker
calibrant_command("report", "rows.csv", *named, "--method", NAME, "-o", "report.html")
assert registry.get(NAME, SHAPE).title in Path("report.html").read_text()
""",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of the package with the metadata of an installation."""
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(PACKAGE / "calibrant_example", site / "calibrant_example")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = site / f"calibrant_example-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0\n")
    lines = [
        line
        for group, entries in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return site


def run(program, site, folder):
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", program]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": path}, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


RUN_PARTS = """
import json, pathlib, traceback
failures = {}
for part, name, shape, text in json.loads(pathlib.Path("parts.json").read_text(encoding="utf-8")):
    try:
        exec(text, {"NAME": name, "SHAPE": shape})
    except Exception:
        failures[f"{part} of {name}"] = traceback.format_exc()
pathlib.Path("failures.json").write_text(json.dumps(failures), encoding="utf-8")
"""


@pytest.fixture(scope="module")
def failures(installed, tmp_path_factory):
    """The traceback of each part that failed."""
    folder = tmp_path_factory.mktemp("parts")
    parts = [
        (part, name, shape, DATA + text)
        for part, text in PARTS.items()
        for name, shape in METHODS.items()
        if shape == "score" or part not in ONE_SCORE
    ]
    (folder / "parts.json").write_text(json.dumps(parts))
    run(RUN_PARTS, installed, folder)
    return json.loads((folder / "failures.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("part", PARTS)
def test_a_method_or_metric_of_another_package_goes_everywhere(part, failures):
    failed = [text for name, text in failures.items() if name.startswith(f"{part} of ")]
    assert not failed, "\n".join(failed)


def test_a_broken_package_is_named_and_stops_nothing(installed, tmp_path):
    metadata = tmp_path / "broken_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[calibrant.methods]\nbroken = not_there:Method\n")
    program = """
import warnings
from calibrant.calibrators import registry
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert "broken" not in registry.names()
    assert registry.names() == registry.names()
messages = [str(warning.message) for warning in caught if warning.category is RuntimeWarning]
assert len(messages) == 1 and "'broken' of the package 'broken-package'" in messages[0], messages
"""
    run(program, tmp_path, tmp_path)
