"""evaluate, compare, report and monitor."""

import json

import pytest


def test_evaluate(cli, data):
    text = cli("evaluate", data)
    assert text.code == 0
    assert "log-loss" in text.out
    assert "Scores are read from column 'score'" in text.err
    plain = json.loads(cli("evaluate", data, "--json").out)
    assert plain["n_rows"] == 400
    assert plain["models"]["model"]["log_loss"]["value"] > 0


def test_evaluate_after_a_model(cli, data, tmp_path):
    cli("fit", data, "-m", "platt", "-o", tmp_path / "m.json")
    before, after = (
        json.loads(cli("evaluate", data, "--json", *more).out)["models"]["model"]["log_loss"]["value"]
        for more in ([], ["--model", tmp_path / "m.json"])
    )
    assert after < before


def test_classes_and_segments(cli, refused, animals):
    scores = ("-s", "p_cat,p_dog,p_fox", "-l", "animal")
    each = json.loads(cli("evaluate", animals, *scores, "--json").out)
    assert [row["name"] for row in each["parts"]] == ["p_cat", "p_dog", "p_fox"]
    top = cli("evaluate", animals, *scores, "--top-label", "--by", "region")
    assert "north" in top.out
    assert "Each segment by itself" in top.out
    assert "needs --top-label" in refused("evaluate", animals, *scores, "--by", "region")


def test_compare(cli, refused, data):
    text = cli("compare", data, "-m", "platt,isotonic")
    assert text.code == 0
    assert "Recommended: platt: its log-loss" in text.out
    assert "identity" in text.out
    plain = json.loads(cli("compare", data, "-m", "platt", "--folds", "3", "--seed", "1", "--json").out)
    assert plain["n_folds"] == 3
    assert {row["name"] for row in plain["results"]} == {"identity", "platt"}
    assert "There is no method 'plat'. Did you mean platt" in refused("compare", data, "-m", "plat")
    assert "--folds must be a whole number" in refused("compare", data, "--folds", "1")


def test_report(cli, refused, data, tmp_path, monkeypatch):
    pytest.importorskip("plotly", reason="the report needs the extra report")
    pytest.importorskip("jinja2", reason="the report needs the extra report")
    import calibrant.cli.judging as judging

    quick = judging.compared
    monkeypatch.setattr(judging, "compared", lambda tally: quick(tally, methods=["platt"]))
    page = tmp_path / "report.html"
    result = cli("report", data, "-o", page, "--method", "platt", "--title", "Mine & yours")
    assert result.code == 0, result.err
    assert "Mine &amp; yours" in page.read_text(encoding="utf-8")
    assert "does not exist; make it first" in refused("report", data, "-o", tmp_path / "no" / "r.html")


def test_monitor(cli, refused, data, tmp_path):
    cli("fit", data, "-m", "platt", "-o", tmp_path / "m.json")
    calm = json.loads(cli("monitor", data, data, "--model", tmp_path / "m.json", "--json").out)
    assert not calm["alarm"]
    text = cli("monitor", data, data, "--model", tmp_path / "m.json", "--fail")
    assert text.code == 0
    assert "No alarm" in text.out
    flipped = tmp_path / "flipped.csv"
    rows = data.read_text().splitlines()
    flipped.write_text("\n".join([rows[0], *(row[:-1] + str(1 - int(row[-1])) for row in rows[1:])]) + "\n")
    alarm = cli("monitor", data, flipped, "--fail")
    assert alarm.code == 3
    assert "ALARM" in alarm.out
    assert cli("monitor", data, flipped).code == 0
    assert "--alpha must lie" in refused("monitor", data, data, "--alpha", "2")
