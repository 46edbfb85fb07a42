import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from calibrant import IsotonicCalibration, Tally, compare
from calibrant.comparison import MethodResult
from calibrant.errors import InvalidInputError, MissingExtraError
from calibrant.report import write_report
from calibrant.report.page import render
from calibrant.report.study import make_study

jinja2 = pytest.importorskip("jinja2", reason="jinja2 is in the extra `report`")


class Outline(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.script, self.data = [], [], None, {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.script = dict(attrs).get("id", len(self.data))
            self.data[self.script] = ""

    def handle_endtag(self, tag):
        if tag == "script":
            self.script = None

    def handle_data(self, data):
        if self.script is not None:
            self.data[self.script] += data

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module")
def page(segmented, hostile):
    return render(segmented, hostile, jinja2)


@pytest.fixture(scope="module")
def outline(page):
    return Outline(page)


def test_texts_of_the_user_cannot_break_out(page, outline, hostile):
    assert "<script>alert(1)" not in page
    assert '<b>"bold"' not in page
    assert "{{ 7 * 7 }}" in page  # shown, not computed
    assert len(outline.all("script")) == 2
    drawn = {attrs["id"] for attrs in outline.all("div") if attrs.get("id", "").startswith("figure-")}
    names = ("before", "after", "map", "scores-before", "scores-after", "segment-0", "segment-1", "segment-2")
    assert drawn == {f"figure-{name}" for name in names}


def test_the_page_loads_nothing(page, outline):
    assert not any("src" in attrs for tag in ("script", "img", "iframe") for attrs in outline.all(tag))
    assert [link["href"] for link in outline.all("link")] == ["data:,"]
    assert "default-src 'none'" in page
    own = page.split("<style>")[1].split("</style>")[0]
    assert "url(" not in own
    assert "@import" not in own


def test_structure_for_those_who_cannot_see_it(outline):
    assert outline.all("html")[0]["lang"] == "en"
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    drawn = [attrs for attrs in outline.all("div") if attrs.get("id", "").startswith("figure-")]
    assert len(drawn) == 8
    assert all(attrs["tabindex"] == "0" for attrs in drawn)
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 20 for attrs in drawn)
    regions = [attrs["aria-label"] for _, attrs in outline.tags if attrs.get("role") == "region"]
    assert all(name.startswith("Table: ") for name in regions)  # no section has such a name
    assert len(set(regions)) == len(regions)
    assert all(attrs.get("type") == "button" for attrs in outline.all("button"))
    assert {attrs["for"] for attrs in outline.all("label")} == {"segment"}
    ids = [attrs["id"] for _, attrs in outline.tags if "id" in attrs]
    assert len(set(ids)) == len(ids)
    targets = [attrs["href"][1:] for attrs in outline.all("a") if attrs["href"].startswith("#")]
    assert set(targets) <= set(ids)


def test_every_figure_has_its_numbers_in_a_table(outline):
    # Five diagrams, map, two histograms; meaning, methods, their numbers, measures, segments.
    assert len(outline.all("table")) == 8 + 5


def test_same_input_same_page(study):
    assert render(study, "t", jinja2) == render(study, "t", jinja2)


def test_no_time_and_no_duration_in_the_page(tally, study):
    # Fits take a different time on every run; the page must not show it.
    again = compare(tally, methods=["platt", "isotonic"])
    changed = {**vars(study), "comparison": again}
    assert render(type(study)(**changed), "t", jinja2) == render(study, "t", jinja2)


def test_scores_that_are_no_probabilities(unbounded):
    outline = Outline(render(unbounded, "t", jinja2))
    assert "figure-before" not in [attrs.get("id") for attrs in outline.all("div")]


def test_the_page_does_not_claim_what_was_not_done(study):
    claims = ("not seen it", "had not seen", "has not seen")
    assert any(claim in render(study, "t", jinja2) for claim in claims)
    page = render(replace(study, unseen=False), "t", jinja2)
    assert not any(claim in page for claim in claims)
    assert "flatters" in page


def test_the_switch_of_a_method_shows_its_line(page):
    assert 'data-method="platt" aria-pressed="false"><span class="line m0 line-solid">' in page
    assert page.count('data-method="platt"') == 3  # its switch, and its line on even and on stretched axes


def test_notes_call_methods_by_their_titles(unbounded):
    results = (
        *unbounded.comparison.results,
        MethodResult("warm", note="it needs probabilities.", title="warm words (brackets)"),
    )
    titles = {result.name: result.title for result in results}
    named = replace(unbounded, titles=titles, comparison=replace(unbounded.comparison, results=results))
    page = render(named, "t", jinja2)
    assert "<li>Warm words: it needs probabilities.</li>" in page


def test_many_segments_are_behind_a_click(study, segmented):
    many = tuple(replace(segmented.segments[1], name=f"ward {i}", diagram=None) for i in range(47))
    page = render(replace(study, segments=many), "t", jinja2)
    assert "The other 7 segments" in page
    first, rest = page.split("<summary>The other 7")
    assert ">ward 39</th>" in first
    assert ">ward 40</th>" not in first
    assert ">ward 46</th>" in rest


def test_rows_by_weight_are_called_so(study):
    assert "rows by weight" not in render(study, "t", jinja2)
    before = study.before
    weighted = Tally(before.tally.scores, before.tally.positives * 0.5, before.tally.totals * 0.75)
    page = render(replace(study, before=replace(before, tally=weighted)), "t", jinja2)
    assert "rows by weight" in page


def test_no_line_ends_before_a_percent_sign(page):
    words = page.split("<main")[1].split("</main>")[0]
    assert "\N{NO-BREAK SPACE}%" in words
    assert not re.search(r"\d %", words)


def test_code_runs(study, tally, tmp_path, monkeypatch):
    text = Code(render(study, "t", jinja2)).text
    monkeypatch.chdir(tmp_path)
    scope = {"scores": tally.scores, "labels": tally.positives / tally.totals > 0.5, "new_scores": [0.2, 0.8]}
    exec(compile(text, "report", "exec"), scope)
    assert (tmp_path / "calibration.json").exists()
    assert np.all(scope["low"] <= scope["high"])


class Mine(IsotonicCalibration):
    title = "isotonic regression of my own"


def test_a_method_from_elsewhere_has_its_map_its_title_and_its_own_path(tally):
    study = make_study(tally, comparison=compare(tally, methods=["platt", Mine()]), method="Mine")
    assert list(study.maps) == ["Mine", "platt"]
    page = render(study, "t", jinja2)
    code = Code(page).text
    assert code.startswith(f"from {Mine.__module__} import Mine\n\ncalibrator = Mine()\n")
    assert "calibrant.Mine" not in page
    assert "Isotonic regression of my own" in page
    assert "code-shell" not in page  # the command line does not know it


class Code(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.inside, self.text = False, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.inside = tag == "pre" and dict(attrs)["id"] == "code-python"

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "pre"

    def handle_data(self, data):
        self.text += data if self.inside else ""


def test_the_whole_file_is_small_and_repeats(tmp_path, tally, comparison):
    paths = [tmp_path / "a.html", tmp_path / "b.html"]
    for path in paths:
        write_report(path, tally, comparison=comparison, method="bayes_iso")
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert 5e4 < len(first) < 3e5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]


def test_scores_and_labels_write_the_page_of_their_tally(tmp_path, tally):
    paths = [tmp_path / "a.html", tmp_path / "b.html"]
    comparison = compare(tally, methods=["platt"])
    positives, negatives = tally.positives.astype(int), tally.negatives.astype(int)
    scores = np.concatenate((np.repeat(tally.scores, positives), np.repeat(tally.scores, negatives)))
    labels = ["yes"] * positives.sum() + ["no"] * negatives.sum()
    write_report(paths[0], tally, comparison=comparison, method="platt")
    write_report(paths[1], scores, labels, pos_label="yes", comparison=comparison, method="platt")
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(InvalidInputError, match="at least 2 rows"):
        write_report(path, Tally.from_arrays([0.5], [1]))
    assert path.read_text() == "old"


def test_a_missing_package_is_named(monkeypatch, tmp_path, tally):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"calibrant\[report\]"):
        write_report(tmp_path / "r.html", tally)


def test_what_to_do_comes_second(page):
    screen = page.split('<section id="verdict"')[1].split("</section>")[0]
    order = ["verdict-title", "What to do:", "On average", "Average error"]
    places = [screen.index(text) for text in order]
    assert places == sorted(places)


def test_one_outcome_shows_no_calibration_that_it_cannot_judge(one_sided):
    page = render(one_sided, "t", jinja2)
    assert "figure-before" in page
    assert not any(
        text in page for text in ("figure-after", "figure-map", "After calibration", "Calibrated with", "<pre")
    )


def test_days_are_drawn_along_time(study, segmented):
    days = tuple(replace(segmented.segments[1], name=f"2026-03-{i:02}", diagram=None) for i in range(1, 31))
    page = render(replace(study, segments=days), "t", jinja2)
    assert 'id="figure-timeline"' in page
    assert page.count('<th scope="row" role="rowheader">2026-03-') == 30
    assert 'id="figure-timeline"' not in render(replace(study, segments=days[:5]), "t", jinja2)
