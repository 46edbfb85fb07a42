"""monitor: an alarm, or none."""

import json

import numpy as np
import pytest


def test_monitor(cli, refused, data, tmp_path):
    cli("fit", data, "-m", "platt", "-o", tmp_path / "m.json")
    calm = json.loads(cli("monitor", data, data, "--model", tmp_path / "m.json", "--json").out)
    assert not calm["alarm"]
    text = cli("monitor", data, data, "--model", tmp_path / "m.json", "--fail")
    assert text.code == 0
    assert "No alarm: the e-value against the probabilities is " in text.out
    assert "(alarm when the e-value reaches 20)" in text.out
    flipped = tmp_path / "flipped.csv"
    rows = data.read_text().splitlines()
    flipped.write_text("\n".join([rows[0], *(row[:-1] + str(1 - int(row[-1])) for row in rows[1:])]) + "\n")
    alarm = cli("monitor", data, flipped, "--fail")
    assert alarm.code == 3
    assert "ALARM" in alarm.out
    assert cli("monitor", data, flipped).code == 0
    for alpha in ("2", "0", "nan"):
        assert f"between 0 and 1, such as 0.05; got {alpha}." in refused("monitor", data, data, "--alpha", alpha)


@pytest.mark.parametrize("more", [(), ("--by", "team")])
def test_rows_without_a_score_can_be_left_out(cli, refused, tmp_path, more):
    whole, holes = tmp_path / "whole.csv", tmp_path / "holes.csv"
    rows = [f"{(i % 10 + 0.5) / 10},{int(i % 10 > 4)},{'ab'[i % 2]}" for i in range(200)]
    whole.write_text("\n".join(["score,label,team", *rows]) + "\n")
    holes.write_text("\n".join(["score,label,team", *rows, ",1,a"]) + "\n")
    assert "1 of 201 rows has no score. Add --drop-missing" in refused("monitor", whole, holes, *more)
    kept = cli("monitor", whole, holes, "--drop-missing", *more)
    assert kept.code == 0, kept.err
    assert kept.out == cli("monitor", whole, whole, *more).out


def test_several_classes(cli, animals, tmp_path):
    scores = ("-s", "p_cat,p_dog,p_fox", "-l", "animal")
    calm = cli("monitor", animals, animals, *scores, "--fail")
    assert calm.code == 0, calm.err
    assert "No alarm" in calm.out
    mixed = tmp_path / "mixed.csv"
    mixed.write_text(animals.read_text().replace(",cat,", ",?,").replace(",dog,", ",cat,").replace(",?,", ",dog,"))
    plain = json.loads(cli("monitor", animals, mixed, *scores, "--json").out)
    assert plain["alarm"]
    assert {"cat", "dog"} <= set(plain["alarms"])
    assert {one["name"] for one in plain["changes"]} == {"(predicted class)", "cat", "dog", "fox"}
    alarm = cli("monitor", animals, mixed, *scores, "--fail")
    assert alarm.code == 3
    assert "ALARM: the probabilities of " in alarm.out
    model = tmp_path / "m.json"
    cli("fit", mixed, *scores, "-o", model)
    assert not json.loads(cli("monitor", animals, mixed, *scores, "--model", model, "--json").out)["alarm"]


def write_teams(path, shifts, seed, n=600):
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
    reference = write_teams(tmp_path / "reference.csv", {"a": 0.0, "b": 0.0}, 0)
    return (
        reference,
        write_teams(tmp_path / "good.csv", {"a": 0.0, "b": 0.0}, 1),
        write_teams(tmp_path / "bad.csv", {"a": 0.0, "b": 1.0, "c": 0.0}, 2),
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
