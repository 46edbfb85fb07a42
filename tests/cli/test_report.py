"""report: a page, with commands on it that run."""

import re
import shlex
from html import unescape
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def quick(monkeypatch):
    """Reports that compare two methods only, on their way to the page."""
    pytest.importorskip("plotly", reason="the report needs the extra report")
    pytest.importorskip("jinja2", reason="the report needs the extra report")
    from calibrant.cli import compare

    whole = compare.run_comparison
    monkeypatch.setattr(compare, "run_comparison", lambda tally: whole(tally, methods=["platt"]))


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


def test_a_report_does_not_replace_its_table(refused, data, tmp_path, monkeypatch):
    link = tmp_path / "link.html"
    link.symlink_to(data)
    for source, page in ((data, data), (tmp_path / "d*.csv", data), (data, link)):
        assert "would be overwritten" in refused("report", source, "-o", page)
    monkeypatch.chdir(tmp_path)
    assert "would be overwritten" in refused("report", data, "-o", data.name)


def test_segments_are_compared_with_one_map_for_all(cli, quick, tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.random(800).round(2)
    labels = rng.random(800) < np.where(np.arange(800) % 2 == 0, scores, scores**3)
    lines = [f"{s},{int(y)},{i % 2},{'ab'[i % 3 == 0]}" for i, (s, y) in enumerate(zip(scores, labels, strict=True))]
    table, page = tmp_path / "rows.csv", tmp_path / "page.html"
    table.write_text("score,label,team,cup\n" + "\n".join(lines))
    assert cli("report", table, "--by", "team,cup", "-m", "platt", "-o", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "Maps by segment" in text
    assert "maps by segment lower the log-loss" in text
