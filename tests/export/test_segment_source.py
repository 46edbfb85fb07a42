import functools
import subprocess
import sys

import numpy as np
import pytest

from calibrant import SegmentedCalibrator
from calibrant.errors import InvalidInputError
from calibrant.export import to_python


@functools.cache
def fit(space="probability", missing="error"):
    rng = np.random.default_rng(4)
    scores, team = rng.uniform(0.02, 0.98, 6000), rng.choice(["a", "it's", "c"], 6000)
    cup = rng.choice(np.array([1, 2, None], object), 6000) if missing == "segment" else rng.choice([1, 2], 6000)
    y = rng.random(6000) < np.where(team == "a", 0.2 + 0.6 * (scores > 0.5), np.where(cup == 1, scores, scores**2))
    scores = scores if space == "probability" else np.log(scores / (1 - scores))
    calibrator = SegmentedCalibrator("spline", missing=missing, space=space)
    return calibrator.fit(scores, y, segment={"team": team, "cup": cup}).map_


def function_of(text, name="calibrate"):
    namespace = {"__name__": "exported"}
    exec(text, namespace)
    return namespace[name]


@pytest.mark.parametrize("space", ["probability", "decision"])
@pytest.mark.parametrize("missing", ["error", "segment"])
def test_python_computes_the_formula_itself(space, missing):
    map_ = fit(space, missing)
    assert {term.kind for term in map_.terms} == {"line", "curve"}
    function = function_of(to_python(map_))
    scores = np.linspace(0.0, 1.0, 57) if space == "probability" else np.linspace(-9.0, 9.0, 57)
    for team in ("a", "it's", "new"):
        for cup in (1, 2, 7, *([None] if missing == "segment" else [])):
            own = [function(score, team, cup) for score in scores.tolist()]
            segment = {"team": [team] * 57, "cup": np.full(57, cup, object)}
            np.testing.assert_allclose(own, map_(scores, segment), atol=1e-12)


def test_what_is_refused():
    function = function_of(to_python(fit(), name="p_of"), "p_of")
    assert np.isnan(function(1.5, "a", 1))
    with pytest.raises(ValueError, match="A segment of each key is needed: team, cup"):
        function(0.5, "a")
    with pytest.raises(ValueError, match="A segment is missing"):
        function(0.5, "a", None)
    with pytest.raises(InvalidInputError, match="`name` must be an identifier"):
        to_python(fit(), name="a b")


def test_the_module_checks_itself_and_is_always_the_same(tmp_path):
    text = to_python(fit())
    (tmp_path / "module.py").write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, "-I", str(tmp_path / "module.py")], check=True)
    assert text == to_python(fit())
