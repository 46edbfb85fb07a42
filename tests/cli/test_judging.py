"""evaluate, report and monitor."""

import json
import re
import shlex
from html import unescape
from pathlib import Path

import pytest


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
    assert "evaluate needs probabilities; 'score' goes from -10 to 9." in refused("evaluate", rows)
    assert cli("fit", rows, "-m", "platt", "-o", tmp_path / "m.json").code == 0
    assert cli("evaluate", rows, "--model", tmp_path / "m.json").code == 0


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
    top = cli("evaluate", animals, *scores, "--top-label", "--by", "region")
    assert "north" in top.out
    assert "Each segment by itself" in top.out
    assert "needs --top-label" in refused("evaluate", animals, *scores, "--by", "region")


@pytest.fixture
def quick(monkeypatch):
    """Reports that compare two methods only, on their way to the page."""
    pytest.importorskip("plotly", reason="the report needs the extra report")
    pytest.importorskip("jinja2", reason="the report needs the extra report")
    import calibrant.cli.comparing as comparing

    whole = comparing.compared
    monkeypatch.setattr(comparing, "compared", lambda tally: whole(tally, methods=["platt", "isotonic"]))


def shell_code(page):
    return unescape(re.search(r'id="code-shell">(.*?)</pre>', page.read_text(encoding="utf-8"), re.DOTALL)[1])


def test_report(cli, refused, data, tmp_path, quick):
    page = tmp_path / "report.html"
    result = cli("report", data, "-o", page, "--method", "platt", "--title", "Mine & yours")
    assert result.code == 0, result.err
    assert "Mine &amp; yours" in page.read_text(encoding="utf-8")
    assert "does not exist; make it first" in refused("report", data, "-o", tmp_path / "no" / "r.html")


def test_the_commands_on_the_page_run(cli, data, animals, tmp_path, monkeypatch, quick):
    monkeypatch.chdir(tmp_path)
    for source, options, new in (
        (data.name, ["-m", "platt"], data.read_text()),
        (animals.name, ["-s", "p_cat,p_dog,p_fox", "-l", "animal", "-w", "w", "-m", "isotonic"], animals.read_text()),
    ):
        assert cli("report", source, *options).code == 0
        Path("new.csv").write_text(new)
        for line in shell_code(tmp_path / "report.html").splitlines():
            program, *arguments = shlex.split(line)
            assert program == "calibrant"
            assert cli(*arguments).code == 0, line
        assert "probability" in Path("calibrated.csv").read_text().splitlines()[0]


def test_report_on_several_classes(cli, animals, tmp_path, quick):
    page = tmp_path / "report.html"
    scores = ("-s", "p_cat,p_dog,p_fox", "-l", "animal")
    result = cli("report", animals, *scores, "-o", page)
    assert result.code == 0, result.err
    assert "the highest score of each row and whether its class was right" in result.err
    text = page.read_text(encoding="utf-8")
    assert "is the predicted class right?" in text
    assert all(f'<th scope="row" role="rowheader">{name}</th>' in text for name in ("cat", "dog", "fox"))
    assert "--top-label" in shell_code(page)
    result = cli("report", animals, *scores, "--by", "region", "-o", page)
    text = page.read_text(encoding="utf-8")
    assert '<th scope="row" role="rowheader">north</th>' in text
    assert '<th scope="row" role="rowheader">cat</th>' not in text


def test_report_where_nothing_can_be_compared(cli, tmp_path, quick):
    rows = tmp_path / "one.csv"
    rows.write_text("score,label\n" + "".join(f"{0.02 * i},1\n" for i in range(1, 40)))
    result = cli("report", rows, "-o", tmp_path / "report.html")
    assert result.code == 0, result.err
    assert "A comparison needs at least 2 rows of each class" in (tmp_path / "report.html").read_text(encoding="utf-8")


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


def test_probabilities_are_needed(refused, data, tmp_path):
    percent = tmp_path / "percent.csv"
    percent.write_text("score,label\n" + "".join(f"{i},{i % 2}\n" for i in range(100)))
    logits = tmp_path / "logits.csv"
    logits.write_text("score,label\n" + "".join(f"{i - 5},{i % 2}\n" for i in range(11)))
    for command in (["evaluate", percent], ["monitor", percent, data], ["monitor", data, percent]):
        message = refused(*command)
        assert message.startswith(
            f"{command[0]} needs probabilities; 'score' goes from 0 to 99. If they are percentages"
        )
    assert "percentages" not in refused("evaluate", logits)


def test_a_report_does_not_replace_its_table(refused, data, tmp_path, monkeypatch):
    link = tmp_path / "link.html"
    link.symlink_to(data)
    for source, page in ((data, data), (tmp_path / "d*.csv", data), (data, link)):
        assert "would be overwritten" in refused("report", source, "-o", page)
    monkeypatch.chdir(tmp_path)
    assert "would be overwritten" in refused("report", data, "-o", data.name)
