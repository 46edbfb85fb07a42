import json

import numpy as np
import pytest


def table(path, shifts, seed, n=600):
    rng = np.random.default_rng(seed)
    lines = ["score,label,team"]
    for name, shift in shifts.items():
        z = rng.normal(0.0, 1.2, n)
        y = rng.random(n) < 1 / (1 + np.exp(-z - shift))
        lines += [f"{1 / (1 + np.exp(-a))},{int(b)},{name}" for a, b in zip(z, y, strict=True)]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def files(tmp_path):
    reference = table(tmp_path / "reference.csv", {"a": 0.0, "b": 0.0}, 0)
    return (
        reference,
        table(tmp_path / "good.csv", {"a": 0.0, "b": 0.0}, 1),
        table(tmp_path / "bad.csv", {"a": 0.0, "b": 1.0, "c": 0.0}, 2),
    )


def test_segments_are_tested_together(cli, files):
    reference, good, bad = files
    result = cli("monitor", reference, good, "--by", "team", "--fail")
    assert result.code == 0
    assert "No alarm: the e-value" in result.out
    result = cli("monitor", reference, bad, "--by", "team", "--fail")
    assert result.code == 3
    assert "ALARM: the probabilities of b no longer hold" in result.out
    assert "(new)" in result.out


def test_json(cli, files):
    found = json.loads(cli("monitor", files[0], files[2], "--by", "team", "--json").out)
    assert found["alarm"]
    assert [one["name"] for one in found["changes"] if one["alarm"]] == ["b"]


def test_models_of_segments(cli, refused, files, tmp_path):
    model = tmp_path / "m.json"
    cli("fit", files[0], "--by", "team", "-m", "platt", "-o", model)
    assert "No alarm" in cli("monitor", files[0], files[1], "--by", "team", "--model", model).out
    both = ("monitor", files[0], files[1], "-l", "label", "--by", "team,label", "--model", model)
    assert "--by must name a column for each key of the model, team" in refused(*both)
