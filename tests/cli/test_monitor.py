"""monitor: an alarm, or none."""

import json

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
