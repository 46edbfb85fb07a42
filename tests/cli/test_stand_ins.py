"""Each case runs in a process of its own, because modules that were loaded stay loaded."""

import json
import subprocess
import sys

import pytest

BEFORE = "import sys, json; from calibrant.cli.stand_ins import load_scikit_learn, stand_ins"
HELD = "with stand_ins('wave', 'colorsys', 'email'): import wave, colorsys, email"


def ran(code):
    done = subprocess.run([sys.executable, "-c", f"{BEFORE}\n{code}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_import_loads_nothing_and_a_use_does():
    code = f"""
{HELD}
before = "colorsys" in sys.modules
value = colorsys.rgb_to_hls(1.0, 1.0, 1.0)
print(json.dumps([before, type(sys.modules["colorsys"]).__name__, value, colorsys.hls_to_rgb(0.0, 1.0, 0.0)]))
"""
    assert ran(code) == [False, "module", [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]


@pytest.mark.parametrize("where", ["inside", "after"])
@pytest.mark.parametrize(
    "use",
    [
        "from colorsys import rgb_to_hls",
        "email.message_from_string('a: b')",
        "from email import message; message.Message()",
        "import email.message; email.message.Message()",
        "wave.open",
    ],
)
def test_every_way_to_use_a_module(use, where):
    code = f"{HELD}; {use}" if where == "inside" else f"{HELD}\n{use}"
    assert ran(f"{code}\nprint(json.dumps(True))")


def test_what_is_loaded_stays():
    code = "import string\nwith stand_ins('string'): pass\nprint(json.dumps(sys.modules['string'] is string))"
    assert ran(code)


def test_what_is_loaded_inside_stays():
    code = (
        "with stand_ins('wave'):\n    import wave; wave.open\nprint(json.dumps(hasattr(sys.modules['wave'], 'open')))"
    )
    assert ran(code)


def test_an_error_leaves_no_stand_in():
    code = """
try:
    with stand_ins("wave"):
        raise ValueError
except ValueError:
    print(json.dumps("wave" in sys.modules))
"""
    assert ran(code) is False


def test_an_unknown_name_is_an_unknown_name():
    code = f"""
{HELD}
try:
    colorsys.nothing
except AttributeError as error:
    print(json.dumps(str(error)))
"""
    assert ran(code) == "module 'colorsys' has no attribute 'nothing'"


def test_a_package_that_is_not_there_is_missed_when_it_is_used():
    code = """
with stand_ins("no_such_package"):
    import no_such_package
try:
    no_such_package.thing
except ModuleNotFoundError as error:
    print(json.dumps(error.name))
"""
    assert ran(code) == "no_such_package"


def test_commands_load_what_they_need_alone(tmp_path):
    duckdb = pytest.importorskip("duckdb", reason="tables need DuckDB")
    data = tmp_path / "d.csv"
    data.write_text("p,y\n" + "\n".join(f"{i / 100},{int(i * 7 % 100 < i)}" for i in range(100)))
    names = ["ibis", "scipy.stats", "matplotlib", "plotly"]
    if not duckdb.__version__.startswith("1."):  # which loads pandas itself
        names.append("pandas")
    code = f"""
from calibrant.cli.app import run
data, model, output = {[str(tmp_path / name) for name in ("d.csv", "m.json", "o.parquet")]}
codes = [run(["-q", "fit", data, "-o", model]), run(["-q", "apply", model, data, "-s", "p", "-o", output])]
names = {names}
print(json.dumps([codes, [name for name in names if name in sys.modules]]))
"""
    assert ran(code) == [[0, 0], []]


def test_scikit_learn_still_uses_what_was_left_out():
    pytest.importorskip("pandas", reason="asks for pandas")
    code = """
load_scikit_learn()
from sklearn.linear_model import LogisticRegression
from sklearn.utils.fixes import _mode
import numpy as np, pandas as pd
from scipy.stats import norm
frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
names = LogisticRegression().fit(frame, [0, 0, 1, 1]).feature_names_in_.tolist()
print(json.dumps([names, float(norm.cdf(0.0)), np.ravel(_mode(np.array([1, 2, 2]))[0]).tolist()]))
"""
    assert ran(code) == [["a"], 0.5, [2]]
