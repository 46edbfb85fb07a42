"""evaluate measures what the library measures, for all rows, segments and classes."""

import json


def test_evaluate(cli, data):
    text = cli("evaluate", data)
    assert text.code == 0
    assert "log-loss" in text.out
    assert "Scores are read from column 'score'" in text.err
    plain = json.loads(cli("evaluate", data, "--json").out)
    assert plain["n_rows"] == 400
    assert plain["models"]["model"]["log_loss"]["value"] > 0


def test_scores_that_are_no_probabilities(cli, refused, tmp_path):
    rows = tmp_path / "far.csv"
    rows.write_text("score,label\n" + "".join(f"{i - 10},{i % 2}\n" for i in range(20)))
    assert "'score' goes from about -10 to 9: it holds no probabilities. Learn a map" in refused("evaluate", rows)
    fit = ("fit", rows, "-m", "platt", "-o", tmp_path / "m.json")
    assert "decision scores need --space decision" in refused(*fit)
    assert cli(*fit, "--space", "decision").code == 0
    assert cli("evaluate", rows, "--model", tmp_path / "m.json").code == 0
    for command in (["evaluate", rows], ["monitor", rows, rows]):
        assert "said to hold decision scores. Learn a map with" in refused(*command, "--space", "decision")


def test_several_labels_with_one_score(refused, tmp_path):
    rows = tmp_path / "three.csv"
    rows.write_text("score,label\n" + "".join(f"0.{i},{i % 3}\n" for i in range(1, 10)))
    assert "name the score column of each, with --score a,b,c" in refused("evaluate", rows)


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
    assert each["models"]["model"]["log_loss"]["value"] > 0.5
    assert "of 3 classes" in cli("evaluate", animals, *scores).out
    top = cli("evaluate", animals, *scores, "--top-label", "--by", "region")
    assert "north" in top.out
    assert "Each segment separately" in top.out
    assert "needs --top-label" in refused("evaluate", animals, *scores, "--by", "region")


def test_several_classes_after_a_model(cli, refused, animals, data, tmp_path):
    scores, model, other = ("-s", "p_cat,p_dog,p_fox", "-l", "animal"), tmp_path / "m.json", tmp_path / "one.json"
    cli("fit", animals, *scores, "-m", "temperature", "-o", model)
    cli("fit", data, "-m", "platt", "-o", other)
    before, after = (
        json.loads(cli("evaluate", animals, *scores, "--json", *more).out)["models"]["model"]["log_loss"]["value"]
        for more in ([], ["--model", model])
    )
    assert after < before
    assert "is a model of one score" in refused("evaluate", animals, *scores, "--model", other)
    assert "is a model of 3 classes" in refused("evaluate", data, "--model", model)
    pair = ("-s", "p_cat,p_dog", "-l", "animal")
    animals.write_text(animals.read_text().replace(",fox,", ",cat,"))
    message = refused("evaluate", animals, *pair, "--model", model)
    assert message == "--score must have the 3 columns of the fit; got 2."


def test_probabilities_are_needed(refused, data, tmp_path):
    percent = tmp_path / "percent.csv"
    percent.write_text("score,label\n" + "".join(f"{i},{i % 2}\n" for i in range(100)))
    logits = tmp_path / "logits.csv"
    logits.write_text("score,label\n" + "".join(f"{i - 5},{i % 2}\n" for i in range(11)))
    for command in (["evaluate", percent], ["monitor", percent, data], ["monitor", data, percent]):
        message = refused(*command)
        assert message.startswith("'score' goes from about 0 to 99: it holds no probabilities. Divide percentages")
    assert "percentages" not in refused("evaluate", logits)


def test_segments_with_control_sequences_and_long_names(cli, tmp_path):
    rows = tmp_path / "rows.csv"
    names = ["\x1b[31mred\x07", "x" * 8000, "plain"]
    lines = [f"{(i % 97) / 97},{i % 2},{names[i % 3] if i < 3 else 'plain'}" for i in range(3000)]
    rows.write_text("score,label,g\n" + "\n".join(lines) + "\n")
    result = cli("evaluate", rows, "-s", "score", "-l", "label", "--by", "g")
    assert result.code == 0, result.err
    assert not set("\x1b\x07") & set(result.out + result.err)
    assert "\\x1b[31mred\\x07" in result.out
    assert max(map(len, result.out.splitlines())) < 200
    plain = json.loads(cli("evaluate", rows, "-s", "score", "-l", "label", "--by", "g", "--json").out)
    assert {row["name"] for row in plain["parts"]} == set(names)


def test_a_path_that_exists_is_that_file(cli, tmp_path):
    (tmp_path / "c[1].csv").write_text("score,label\n" + "".join(f"{i / 200},{i % 2}\n" for i in range(200)))
    (tmp_path / "c1.csv").write_text("score,label\n" + "".join(f"{i / 50},{i % 2}\n" for i in range(50)))
    assert json.loads(cli("evaluate", tmp_path / "c[1].csv", "--json").out)["n_rows"] == 200
