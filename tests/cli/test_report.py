"""report: a page, with commands on it that run."""

import re
import shlex
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from calibrant.report import fill_tripod


@pytest.fixture
def quick(monkeypatch):
    """Reports that compare two methods only, on their way to the page."""
    pytest.importorskip("jinja2", reason="the report needs the extra report")
    pytest.importorskip("matplotlib", reason="the report needs the extra report")
    monkeypatch.setattr(
        "calibrant.cli.compare.compared_methods",
        lambda problem, _: ["temperature" if problem.shape == "matrix" else "platt"],
    )


def shell_code(page):
    return unescape(re.search(r'id="code-shell">(.*?)</pre>', page.read_text(encoding="utf-8"), re.DOTALL)[1])


def test_report(cli, refused, data, tmp_path, quick):
    page = tmp_path / "report.html"
    result = cli("report", data, "-o", page, "--method", "platt", "--title", "Mine & yours")
    assert result.code == 0, result.err
    assert "Mine &amp; yours" in page.read_text(encoding="utf-8")
    assert f"The report is in {page}; open it in a browser." in result.err
    assert "does not exist; make it first" in refused("report", data, "-o", tmp_path / "no" / "r.html")


def test_the_commands_on_the_page_run(cli, data, animals, tmp_path, monkeypatch, quick):
    monkeypatch.chdir(tmp_path)
    for source, options, new in (
        (data.name, ["-m", "platt"], data.read_text()),
        (animals.name, ["-s", "p_cat,p_dog,p_fox", "-l", "animal", "-w", "w"], animals.read_text()),
        (animals.name, ["-s", "p_cat,p_dog,p_fox", "-l", "animal", "--space", "decision"], animals.read_text()),
        (animals.name, ["-s", "p_cat,p_dog,p_fox", "-l", "animal", "--top-label", "-m", "platt"], animals.read_text()),
    ):
        assert cli("report", source, *options).code == 0
        Path("new.csv").write_text(new)
        for line in shell_code(tmp_path / "report.html").splitlines():
            program, *arguments = shlex.split(line)
            assert program == "calibrant"
            assert cli(*arguments).code == 0, line
        assert "probability" in Path("calibrated.csv").read_text().splitlines()[0]


def test_tripod_takes_subgroups_and_centres(cli, refused, tmp_path, quick, monkeypatch):
    monkeypatch.setitem(fill_tripod.__kwdefaults__, "n_resamples", 10)
    rng = np.random.default_rng(0)
    p = rng.uniform(0.1, 0.9, 600)
    lines = [f"{p[i]:.4f},{int(rng.random() < p[i])},{i % 6},{'fm'[i % 5 // 3]}" for i in range(600)]
    table, page = tmp_path / "patients.csv", tmp_path / "page.html"
    table.write_text("\n".join(["risk,died,centre,sex", *lines]))
    options = ("-s", "risk", "-l", "died", "--by", "sex", "--groups", "centre", "-o", page)
    assert cli("report", table, *options, "--tripod").code == 0
    text = page.read_text(encoding="utf-8")
    assert "sex = f" in text
    assert "6 centres." in text
    assert "cannot go together" in refused("report", table, *options)


def test_report_on_several_classes(cli, refused, animals, tmp_path, quick):
    page = tmp_path / "report.html"
    scores = ("-s", "p_cat,p_dog,p_fox", "-l", "animal")
    result = cli("report", animals, *scores, "-o", page)
    assert result.code == 0, result.err
    text = page.read_text(encoding="utf-8")
    assert all(f'<section id="{name}"' in text for name in ("all-classes", "each-class"))
    assert "fox: off by" in text
    assert "--top-label" not in shell_code(page)
    assert "needs --top-label" in refused("report", animals, *scores, "--by", "region", "-o", page)


def test_report_on_the_predicted_class(cli, animals, tmp_path, quick):
    page = tmp_path / "report.html"
    scores = ("-s", "p_cat,p_dog,p_fox", "-l", "animal", "--top-label")
    assert cli("report", animals, *scores, "--by", "region", "-o", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "is the predicted class right?" in text
    assert '<span class="value">north</span>' in text
    assert "--top-label" in shell_code(page)


def test_rows_that_allow_no_comparison_are_refused(refused, tmp_path, quick):
    rows = tmp_path / "one.csv"
    rows.write_text("score,label\n" + "".join(f"{0.02 * i},1\n" for i in range(1, 40)))
    message = refused("report", rows, "-o", tmp_path / "report.html")
    assert "A comparison needs 2 rows of each class" in message


def test_a_report_does_not_replace_its_table(refused, data, tmp_path, monkeypatch):
    link = tmp_path / "link.html"
    link.symlink_to(data)
    for source, page in ((data, data), (tmp_path / "d*.csv", data), (data, link)):
        assert "would be overwritten" in refused("report", source, "-o", page)
    monkeypatch.chdir(tmp_path)
    assert "would be overwritten" in refused("report", data, "-o", data.name)


def test_costs_and_thresholds_add_a_section_on_decisions(cli, refused, data, animals, tmp_path):
    page = tmp_path / "page.html"
    assert cli("report", data, "-m", "platt", "-o", page, "--cost-fp", 1, "--cost-fn", 4).code == 0
    assert "it pays to act from a probability of 20.0" in page.read_text("utf-8")
    assert "belong together" in refused("report", data, "-o", page, "--cost-fp", 1)
    assert "--cost-fp more than" in refused("report", data, "-o", page, "--cost-fp", 1, "--cost-fn", 0)
    assert "the lower first; got 0.5, 0.2" in refused("report", data, "-o", page, "--thresholds", 0.5, 0.2)
    several = ("-s", "p_cat,p_dog,p_fox", "-l", "animal", "--thresholds", 0.2, 0.5)
    assert "for each of several classes. Add --top-label." in refused("report", animals, "-o", page, *several)


def test_rows_without_labels_get_a_section(cli, refused, data, tmp_path, quick):
    (tmp_path / "new.csv").write_text("score\n0.2\n0.7\n0.9\n")
    assert cli("report", data, "--unlabelled", tmp_path / "new.csv", "-o", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Of the 3 rows without labels" in page
    assert "absent.csv" in refused("report", data, "--unlabelled", tmp_path / "absent.csv", "-o", tmp_path / "two.html")


def test_days_are_in_the_order_of_time(cli, tmp_path, quick):
    rows = tmp_path / "days.csv"
    days = [f"2026-{month:02}-{day:02}" for month in (2, 1) for day in (9, 10)]
    lines = [
        f"{0.1 * (i % 9 + 0.5):.2f},{int(i % 9 > 4)},{day}" for place, day in enumerate(days) for i in range(20 + place)
    ]
    rows.write_text("score,label,day\n" + "\n".join(lines) + "\n")
    page = tmp_path / "report.html"
    result = cli("report", rows, "--by", "day", "-m", "platt", "-o", page)
    assert result.code == 0, result.err
    shown = re.findall(r'"rowheader"><span class="value">(2026-\d\d-\d\d)<', page.read_text(encoding="utf-8"))
    assert shown == sorted(days)


def test_segments_are_compared_with_one_map_for_all(cli, quick, tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.random(800).round(2)
    labels = rng.random(800) < np.where(np.arange(800) % 2 == 0, scores, scores**3)
    lines = [f"{s},{int(y)},{i % 2},{'ab'[i % 3 == 0]}" for i, (s, y) in enumerate(zip(scores, labels, strict=True))]
    table, page = tmp_path / "rows.csv", tmp_path / "page.html"
    table.write_text("score,label,team,cup\n" + "\n".join(lines))
    assert cli("report", table, "--by", "team,cup", "-m", "platt", "-o", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "a map for each segment in place of one for all lowers the log-loss" in text


def test_groups_stay_together(cli, data, tmp_path, quick):
    rows = data.read_text().splitlines()
    data.write_text("\n".join([f"{rows[0]},patient", *(f"{row},{i // 4}" for i, row in enumerate(rows[1:]))]))
    page = tmp_path / "page.html"
    result = cli("report", data, "--groups", "patient", "-o", page)
    assert result.code == 0, result.err
    assert "100 groups" in page.read_text(encoding="utf-8")
